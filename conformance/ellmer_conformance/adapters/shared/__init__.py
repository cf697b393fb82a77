"""This folder has code for adapters of other libraries: histories, values, sessions over an SDK.

The modules import the adapter protocol and `scenarios`. Only bridges import them.
"""
