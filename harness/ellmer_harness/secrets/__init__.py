"""Secrets: values are masked before they are written (`redaction`), and data is searched for missed secrets
(`detection`).

The modules import `exchange`, `format` and `errors`. Recordings, stores and tapes import them.
"""
