"""Structured output of a chat: the requested type, its data in an answer, and the methods that ask for them.

The modules import `schemas`, `conversation` and the base of `Chat`; `Chat` and `jobs` import them.
"""
