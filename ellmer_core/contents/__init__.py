"""This folder has the contents of a conversation: contents, turns and tool calls as plain, immutable values, and the
functions that load them.

The modules import only `base`, `schemas` and `errors`. Every other part of the library may import them.
"""
