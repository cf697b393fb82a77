"""OpenTelemetry: the spans of chats and of tool calls, by its conventions for generative AI.

The modules import `conversation`, `wire`, `tools` and the values. `tool_execution` and the chat import them.
"""
