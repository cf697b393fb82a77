"""This folder has what several adapters of other libraries use: histories, values, sessions over an SDK.

The modules import the adapter protocol and `scenarios`. Only bridges import them.
"""
