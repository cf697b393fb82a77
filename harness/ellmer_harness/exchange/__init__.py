"""Requests and responses as plain values, and responses for a replay, in chunks with the time between them.

The modules import only `format` and `errors`. Every other part of the harness may import them.
"""
