"""The library's logger, `ellmer_core`: silent until the program sets logging up; and its warnings.

DEBUG: requests and answers (address, size, status, time), tool calls. INFO: another try, and why. WARNING: what a tool
raised, with its traceback. Never keys, headers or what is said.
"""

from __future__ import annotations

import logging
import sys
import warnings
from urllib.parse import urlsplit

from .errors import EllmerWarning

__all__ = ["logger", "place", "warn"]

_PACKAGE = __name__.partition(".")[0]

logger = logging.getLogger("ellmer_core")
logger.addHandler(logging.NullHandler())


def place(url: str) -> str:
    """Returns where a URL points to, without what may be secret in it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "an invalid address"
    return f"{parts.hostname}{f':{port}' if port else ''}{parts.path}"


def warn(message: str) -> None:
    """An `EllmerWarning` that points at the first line outside this package: the caller's."""
    depth, frame = 1, sys._getframe(0)  # noqa: SLF001 - warnings has no such option before Python 3.12
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == _PACKAGE:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, EllmerWarning, stacklevel=depth)
