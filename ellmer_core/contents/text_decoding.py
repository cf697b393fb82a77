"""Decodes the text in the bytes of a file, or returns `None` if they are not text."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE

__all__ = ["decoded", "decoded_as_windows", "is_utf8"]

_CONTROLS = re.compile("[\\x00-\\x08\\x0e-\\x1a\\x1c-\\x1f]")


def decoded(data: bytes) -> str | None:
    """Returns text in UTF-8, or in UTF-16 with a byte order mark."""
    return _text(data, "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")


def decoded_as_windows(data: bytes) -> str | None:
    """Returns text in Windows-1252, which browsers also assume for text that is not UTF-8."""
    return _text(data, "cp1252")


def is_utf8(data: bytes) -> bool:
    """Tells whether the bytes are text in UTF-8."""
    return _text(data, "utf-8") is not None


def _text(data: bytes, encoding: str) -> str | None:
    """Returns the text, or `None` if it is empty or has control characters."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if not text or _CONTROLS.search(text) else text
