"""Rules about a client's handling of answers: text, values, ends, errors, streams.

They import the code that the rules of behaviour share.
"""
