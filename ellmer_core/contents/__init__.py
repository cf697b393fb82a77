"""What a conversation holds: contents, turns and tool calls as plain, immutable values, and where they come from.

The modules import only `schemas`, `errors` and `log`. Every other part of the library may import them.
"""
