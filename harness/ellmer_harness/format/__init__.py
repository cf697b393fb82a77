"""The cassette format: bodies as readable JSON, streams as events, media in files beside the cassette.

The modules import only `errors`. Every other part of the harness may import them.
"""
