"""Rules for API keys: where they are sent, and where they must not appear.

They import the code that the rules of behaviour share.
"""
