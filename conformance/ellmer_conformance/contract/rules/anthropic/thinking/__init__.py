"""Rules for thinking of Anthropic Messages: the modes of each model, and thinking that is sent back.

They import the code that the format's rules share.
"""
