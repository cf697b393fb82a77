"""This folder has the contents of a conversation: contents, turns and tool calls as plain, immutable values, and the
functions that load them.

The modules import only `schemas`, `errors` and `log`. Every other part of the library may import them.
"""
