"""Detection of credentials by name, by the key patterns of services, and by randomness.

The modules import `format`. `redaction` and the scan of cassettes import them.
"""
