"""Types of tool arguments and of structured output: Python types and JSON Schema, each from the other.

The modules import only `errors`. Every other part of the library may import them.
"""
