"""Bugs of clients that a table lists: `tables/NAME.toml` has each bug with its thread, its wire formats and its rules, and `NAME.py` has its change.

Each module is the list of one day's search, from trackers or by somebody who had not read the rules, and stays as it was drawn.
"""
