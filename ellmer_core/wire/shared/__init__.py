"""This folder has code for several wire formats: errors, tool calls, schemas, cache marks, JSON bodies.

The modules know no format. Only wire formats and providers import them.
"""
