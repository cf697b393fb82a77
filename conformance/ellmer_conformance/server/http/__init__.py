"""HTTP/1.1 on a socket: requests parsed, replies written in exact pieces.

The modules import `contract` and `scenarios` for their values. The rest of the server imports them.
"""
