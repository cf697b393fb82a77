"""Judges a request before it is answered: its head, its body, the rules, the signatures.

Most requests resemble an earlier one, whose verdicts `verdict_cache` reuses.
"""
