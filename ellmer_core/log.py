"""The library's logger, `ellmer_core`: silent until the program sets logging up.

DEBUG: requests and answers (address, size, status, time), tool calls, what a tool raised. INFO: another try, and why.
Never keys, headers or what is said.
"""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

__all__ = ["logger", "place"]

logger = logging.getLogger("ellmer_core")
logger.addHandler(logging.NullHandler())


def place(url: str) -> str:
    """Where a URL points to, without what may be secret in it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "an address that is none"
    return f"{parts.hostname}{f':{port}' if port else ''}{parts.path}"
