"""This folder makes the turns of a request: it selects them, replaces content that cannot be sent, and reuses cached
JSON.

The modules import `wire`, `tools`, the values and the rest of `conversation`; the loop, `_chat` and `transport` import them.
"""
