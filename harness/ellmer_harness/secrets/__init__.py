"""Secrets: what is masked before anything is written (`redaction`), and the search for what was missed (`detection`).

The modules import `exchange`, `format` and `errors`. Recordings, stores and tapes import them.
"""
