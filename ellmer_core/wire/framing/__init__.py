"""Bytes of a streamed response into events: server-sent events, newline-delimited JSON, AWS event streams.

The modules import only `errors`. The conversation and the transport import them.
"""
