"""Many prompts: in parallel, or through a provider's batch API.

`batch` and `parallel` are public. The modules import the chat and the parts below it. Nothing but the package
itself imports them.
"""
