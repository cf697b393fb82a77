"""Rules for tools: each call is answered, each result has the right form, and images of tools arrive.

They import the code that the rules of behaviour share.
"""
