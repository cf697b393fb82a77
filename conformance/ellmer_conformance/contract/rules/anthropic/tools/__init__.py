"""Rules for tools of Anthropic Messages: their declarations, their schemas, and the tools that Anthropic runs.

They import the code that the format's rules share.
"""
