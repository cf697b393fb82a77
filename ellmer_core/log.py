"""The library's logger, `ellmer_core`, which is silent until the program configures logging, and its warnings.

DEBUG: requests and answers (address, size, status, time), tool calls. INFO: retries with the reason. WARNING:
exceptions of tools, with traceback. Keys, headers and messages are never logged.
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
    """Returns the address of a URL without its secret parts."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "an invalid address"
    return f"{parts.hostname}{f':{port}' if port else ''}{parts.path}"


def warn(message: str) -> None:
    """Issues an `EllmerWarning` that points at the first line outside this package, which is the caller's."""
    depth, frame = 1, sys._getframe(0)  # noqa: SLF001 - warnings has no such option before Python 3.12
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == _PACKAGE:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, EllmerWarning, stacklevel=depth)
