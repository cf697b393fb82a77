"""The only I/O: HTTP clients, the blocking and the async driver of a conversation, time limits, AWS signatures.

The modules import `conversation`, `tool_execution`, `wire` and the values. The chat and the parts above it import them.
"""
