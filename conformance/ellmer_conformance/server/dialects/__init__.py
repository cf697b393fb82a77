"""The provider's half of each wire format: a script's answers, refusals and failures in the provider's own bytes.

One module for each wire format, and one for each provider that differs. They import `contract` and `scenarios`.
"""
