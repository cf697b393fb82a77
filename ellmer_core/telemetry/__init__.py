"""OpenTelemetry: the spans of chats and of tool calls, in the words of its conventions for generative AI.

The modules import `conversation`, `wire`, `tools` and the values. `calling` and the chat import them.
"""
