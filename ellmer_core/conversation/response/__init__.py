"""What an answer becomes: its events and its body are read, cleaned and made a turn.

The modules import `wire`, the values and the rest of `conversation`; the loop, `_chat` and `jobs` import them.
"""
