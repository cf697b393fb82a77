"""The batch APIs and file APIs of providers. They do no I/O.

The modules import the values and `framing`, and know a wire format only as the `Endpoint` of its provider.
`wire.base` names the two services; `providers` says which providers have them.
"""
