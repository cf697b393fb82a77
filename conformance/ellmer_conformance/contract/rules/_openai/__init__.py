"""This folder has what both OpenAI formats, Chat Completions and Responses, have in common.

Imported by the rules of the two, and imports what all rules share.
"""
