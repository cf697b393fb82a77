"""Interception of requests: the transports of httpx and httpx2, the network guard, the virtual clock.

The modules import `exchange` and `errors`, and know an open cassette only by its protocol. `store` and `tape` import them.
"""
