"""Creatures with bugs that were invented when the rules stood: none of them was made for a rule.

Imports what all creatures share (`zoo.base`); the table of docs/planted-bugs.md lists every one.
"""

from . import options, replies, requests, tools

__all__ = ["options", "replies", "requests", "tools"]
