"""Rules for models of Chat Completions that refuse options, kinds of content or tools.

They import the code that the format's rules share.
"""
