"""The rules for parameters of Anthropic Messages: options, sampling, and what some models do not take.

Imports what the rules of the format share.
"""
