"""Matching: the key of a request, the index of a cassette by key, and the explanation of a miss.

Used by the rest of `tape`, of which it imports only names and options.
"""
