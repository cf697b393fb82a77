"""Interception of requests: the transports of httpx and httpx2, the network guard, the virtual clock.

The modules import `exchange` and `errors`. They use an open cassette only through its protocol. `store` and
`tape` import them.
"""
