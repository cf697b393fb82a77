"""Makes the reply to a request: the line of the script, its bytes, and its variation.

Imports the dialects and the parts of HTTP.
"""
