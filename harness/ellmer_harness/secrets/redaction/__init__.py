"""Redaction: credentials are removed from headers and URLs, known values are masked, and tokens of servers
are replaced.

The modules import `exchange` and `detection`. Recordings, stores and tapes import them.
"""
