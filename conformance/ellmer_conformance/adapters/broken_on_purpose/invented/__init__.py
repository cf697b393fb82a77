"""Adapters with bugs that were invented when the rules stood: none of them was made for a rule.

Imports what all broken adapters share (`base.py`); the table of docs/planted-bugs.md lists every one.
"""

from . import options, replies, requests, tools

__all__ = ["options", "replies", "requests", "tools"]
