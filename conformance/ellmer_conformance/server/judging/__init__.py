"""Judges a request before it is answered: its head, its body, the rules, the signatures.

Most requests resemble an earlier one. The modules beside `request_check` decide when its verdicts can be reused.
"""
