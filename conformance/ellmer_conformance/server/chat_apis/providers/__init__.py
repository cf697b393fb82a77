"""Chat Completions of providers other than OpenAI: `base` has the common parts, and each other module the
differences.

There is one module for each provider. They import the chat_apis of OpenAI and the values of `contract` and
`scenarios`.
"""
