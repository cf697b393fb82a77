"""Facts about models: what their tokens cost.

The modules import `wire` and the values. The chat and the providers import them.
"""
