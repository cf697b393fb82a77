"""Secrets: what is masked before anything is written, and the search for what was missed.

The modules import `exchange`, `format` and `errors`. Recordings, stores and tapes import them.
"""
