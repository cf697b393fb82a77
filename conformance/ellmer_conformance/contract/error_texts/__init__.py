"""Texts of errors that providers return: their type and sentence, and the rules that refuse with them.

The modules import `contract`'s rules. The command `explain`, the linter and the reports import them.
"""
