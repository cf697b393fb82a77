"""What the bridges to other libraries have in common: histories, values, sessions over an SDK.

The modules import the adapter protocol and `scenarios`. Only bridges import them.
"""
