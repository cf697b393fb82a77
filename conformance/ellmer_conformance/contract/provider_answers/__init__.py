"""Parses answers of providers: the events of a stream, and the content of an answer in neutral terms, for any format.

The modules import the values of `contract` and the access to JSON in `readers`. Rules, runners and recordings import them.
"""
