"""The rules for API keys: where they go, and where they are not to be seen.

Imports what the rules of behaviour share.
"""
