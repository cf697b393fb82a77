"""Redaction: headers and URLs without credentials, known values masked, tokens of servers replaced.

The modules import `exchange` and `detection`. Recordings, stores and tapes import them.
"""
