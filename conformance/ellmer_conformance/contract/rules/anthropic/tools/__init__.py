"""The rules for tools of Anthropic Messages: how they are declared, their schemas, and those that Anthropic runs.

Imports what the rules of the format share.
"""
