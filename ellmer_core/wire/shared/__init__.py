"""This folder has what several wire formats have in common: errors, tool calls, schemas, cache marks, JSON bodies.

The modules know no format. Only wire formats and providers import them.
"""
