"""Rules for requests: they have all messages, in order, once, and nothing that was not requested.

They import the code that the rules of behaviour share.
"""
