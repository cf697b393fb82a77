"""What a tool is (made of a Python function, or run by the provider), what it may return, and how results are written.

The modules import `contents`, `schemas`, `errors` and `log`. Wire formats, `tool_execution` and all parts above import them.
"""
