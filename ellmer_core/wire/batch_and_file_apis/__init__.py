"""The batch APIs and file APIs of providers. All of it is pure.

The modules import the values and `framing`, and know a wire format only as the `Endpoint` of its provider. `wire.base`
names the two services; `providers` says who has them.
"""
