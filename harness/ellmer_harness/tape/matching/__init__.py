"""Which recording answers a request: its key, the index of a cassette by key, and why none was found.

Used by the rest of `tape`, of which it imports only names and options.
"""
