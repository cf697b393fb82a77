"""OpenTelemetry: the spans of tool calls, and turns and requests in the words of its GenAI conventions.

The modules import `wire`, `tools` and the values. `calling` and `conversation` import them.
"""
