"""Rules for parameters of Anthropic Messages: options, sampling, and parameters that some models refuse.

They import the code that the format's rules share.
"""
