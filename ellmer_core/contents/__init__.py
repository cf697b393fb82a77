"""This folder has the contents of a conversation: contents, turns and tool calls as plain, immutable values, and how
they are loaded.

The modules import only `schemas`, `errors` and `log`. Every other part of the library may import them.
"""
