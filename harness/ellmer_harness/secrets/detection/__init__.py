"""What looks like a credential: by its name, by the pattern of a service's keys, by how random it is.

The modules import `format`. `redaction` and the scan of cassettes import them.
"""
