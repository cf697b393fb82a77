"""Prices of models: the table, the cost of an answer, and the usage of a session.

The modules import `wire` and the values. The chat, the providers and the jobs import them.
"""
