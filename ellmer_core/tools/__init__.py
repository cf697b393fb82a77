"""This folder defines tools (Python functions, or run by the provider), what they may return, and how results are
written.

The modules import `contents`, `schemas`, `errors` and `log`. Wire formats, `tool_execution` and all parts above import them.
"""
