"""The rules for what a client sends: what was said, in its order, once, and nothing that nobody asked for.

Imports what the rules of behaviour share.
"""
