"""What a request is made of: the turns as they are sent, what stands in them for the rest, and bytes that were written before.

The modules import `wire`, `tools`, the values and the rest of `conversation`; the loop, `_chat` and `transport` import them.
"""
