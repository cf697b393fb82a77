"""The rules for what a client makes of answers: text, values, ends, errors, streams.

Imports what the rules of behaviour share.
"""
