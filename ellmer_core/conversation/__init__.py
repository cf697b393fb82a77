"""The conversation, without any I/O: the loop, its effects, retries, cancellation, the reading of responses, the history.

The modules import `wire`, `tools` and the values. `transport` carries out what they ask for.
"""
