"""Recorded interactions in a readable form: bodies are parsed, media are named, and similar events are
folded.

The modules import `recordings`, `exchange` and `format`. The command line imports them.
"""
