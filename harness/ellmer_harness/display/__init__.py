"""Recorded interactions as people read them: bodies parsed, media named, events in a row folded.

The modules import `recordings`, `exchange` and `format`. The command line imports them.
"""
