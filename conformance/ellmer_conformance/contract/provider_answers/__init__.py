"""Parses answers of providers: the events of a stream, and what an answer says in neutral terms, whatever its format.

The modules import the values of `contract` and the access to JSON in `readers`. Rules, runners and recordings import them.
"""
