"""Many prompts: in parallel, or through a batch API of the provider.

`batch_functions` and `parallel_functions` are public. The modules import the chat and the parts below it. Nothing but the package
itself imports them.
"""
