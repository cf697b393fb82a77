"""This folder makes the turns of a request: it selects them, replaces what cannot be sent, and reuses JSON that was
written before.

The modules import `wire`, `tools`, the values and the rest of `conversation`; the loop, `_chat` and `transport` import them.
"""
