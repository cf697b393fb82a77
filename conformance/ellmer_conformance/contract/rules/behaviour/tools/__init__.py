"""The rules for tools: each call is answered, each result is written as it is, and images that tools return arrive.

Imports what the rules of behaviour share.
"""
