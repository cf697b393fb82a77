"""The provider's side of each wire format: a script's answers, refusals and failures in the provider's own bytes.

There is one module for each wire format, and one for each provider that differs. They import `contract` and
`scenarios`.
"""
