"""Prices of models: the table, what an answer costs, what a session has used.

The modules import `wire` and the values. The chat, the providers and the jobs import them.
"""
