"""The rules for thinking of Anthropic Messages: which modes a model has, and how thinking goes back.

Imports what the rules of the format share.
"""
