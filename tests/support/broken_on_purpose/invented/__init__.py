"""Adapters with bugs that were invented after the rules. No bug was made for a rule.

They import the code that all broken adapters share (`base.py`). The table of docs/tested/planted-bugs.md lists each of them.
"""

from . import options, replies, requests, tools

__all__ = ["options", "replies", "requests", "tools"]
