"""This folder turns an answer into a turn: it reads events and bodies, and sanitizes their values.

The modules import `wire`, the values and the rest of `conversation`; the loop, `_chat` and `jobs` import them.
"""
