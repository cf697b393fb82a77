"""Judges a request before anything answers it: its head, its body, the rules, the signatures.

Most requests resemble one that was judged before; the modules beside `request_check` find out when that may be used.
"""
