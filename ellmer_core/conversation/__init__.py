"""The conversation without I/O: the loop, its effects, retries, cancellation, reading of responses, and the history.

The modules import `wire`, `tools` and the values. `transport` carries out the effects.
"""
