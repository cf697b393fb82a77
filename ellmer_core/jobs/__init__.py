"""Many prompts: in parallel, or through a batch API of the provider.

The modules import the chat and the parts below it. Nothing but the package itself imports them.
"""
