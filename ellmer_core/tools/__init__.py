"""This folder defines tools (Python functions, or tools that the provider runs), their return values, and the JSON of
results.

The modules import `base`, `contents`, `schemas` and `errors`. Wire formats, `tool_execution` and all parts above import them.
"""
