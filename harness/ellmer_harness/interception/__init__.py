"""Interception of requests: what wraps each client (`clients/`), the open cassettes, the network guard, the virtual clock.

The modules import `exchange` and `errors`. They use an open cassette only through its protocol. `store` and
`cassette` import them.
"""
