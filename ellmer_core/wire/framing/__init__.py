"""Converts the bytes of a streamed response to events: server-sent events, newline-delimited JSON, AWS event streams.

The modules import only `errors`. The conversation and the transport import them.
"""
