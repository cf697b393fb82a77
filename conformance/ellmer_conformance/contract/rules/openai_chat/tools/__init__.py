"""Rules for tools of Chat Completions: definitions, the choice, calls in the history, and their results.

They import the code that the format's rules share.
"""
