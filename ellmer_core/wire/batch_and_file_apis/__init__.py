"""What providers offer beside the conversation: batches of requests, and uploads of files. All of it pure.

The modules import the values and `framing`, and know a wire format only as the `Endpoint` of its provider. `wire.base`
names the two services; `providers` says who has them.
"""
