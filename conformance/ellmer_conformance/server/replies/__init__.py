"""Makes the reply to a request: the step of the script, its bytes, and its variation.

The modules import the dialects and the HTTP modules.
"""
