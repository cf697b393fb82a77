"""The library's logger, `ellmer_core`, and its warnings.

DEBUG: requests and answers (address, size, status, time), tool calls. INFO: retries with the reason. WARNING:
exceptions of tools, with traceback, and a change to another provider. Keys, headers and messages are never logged.

Until the program configures logging, Python prints the warnings to the standard error. The traceback of one line of a
tool is printed once then.
"""

from __future__ import annotations

import logging
import sys
import warnings
from types import FrameType
from urllib.parse import urlsplit

from ..errors import EllmerWarning

__all__ = ["log_raised", "logger", "place", "warn"]

_NOT_THE_CALLERS = (__name__.partition(".")[0], "asyncio")

logger = logging.getLogger("ellmer_core")
_printed: set[tuple[object, ...]] = set()


def log_raised(level: int, message: str, *values: object, error: BaseException | None) -> None:
    """Logs a message, with the traceback of an error: once for each line that raised it, if logging is not configured."""
    trace, line = error.__traceback__ if error else None, None
    while trace:
        line, trace = (trace.tb_frame.f_code, trace.tb_lineno), trace.tb_next
    key = (type(error), line)
    logger.log(
        level, message, *values, exc_info=error if logger.hasHandlers() or key not in _printed else None
    )
    _printed.add(key)


def place(url: str) -> str:
    """Returns the address of a URL without its secret parts."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "an invalid address"
    return f"{parts.hostname}{f':{port}' if port else ''}{parts.path}"


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def warn(message: str) -> None:
    """Issues an `EllmerWarning` that points at the first line outside this package and asyncio, which is the caller's."""
    depth, frame = 1, sys._getframe(0)  # noqa: SLF001 - warnings has no such option before Python 3.12
    while frame.f_back is not None and _package(frame) in _NOT_THE_CALLERS:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, EllmerWarning, stacklevel=depth)
