"""Chat Completions as providers other than OpenAI answer it: `base` has what they share, the others what differs.

One module for each provider. They import the dialects of OpenAI and the values of `contract` and `scenarios`.
"""
