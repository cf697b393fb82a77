"""Detection of credentials: by name, by the patterns of services' keys, by randomness.

The modules import `format`. `redaction` and the scan of cassettes import them.
"""
