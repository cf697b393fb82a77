"""Vectors for texts: the same text has the same vector, and texts with common words are near each other."""

from __future__ import annotations

import re
import struct
from base64 import b64encode
from functools import lru_cache
from hashlib import shake_256
from math import sqrt
from typing import Any

from ...contract.readers.json_access import items_of
from .service_request import few

_WORD = re.compile(r"\w+")
_MOST_WORDS, _LONGEST = 64, 8192  # words of a text, and numbers of a vector


@lru_cache(4096)
def _of_word(word: str, size: int) -> tuple[int, ...]:
    return struct.unpack(f"<{size}h", shake_256(word.encode("utf-8", "replace")).digest(2 * size))


@lru_cache(1024)
def vector(text: str, size: int) -> list[float]:
    """Returns the vector of a text. Its length is 1.

    Args:
        text: The text.
        size: The number of its numbers, at most 8192.
    """
    size = max(1, min(size, _LONGEST))
    words = [word.lower() for word in _WORD.findall(text)][:_MOST_WORDS] or [""]
    total = [sum(numbers) for numbers in zip(*(_of_word(word, size) for word in words), strict=True)]
    length = sqrt(sum(number * number for number in total)) or 1.0
    return [round(number / length, 8) for number in total]


def as_base64(numbers: list[float]) -> str:
    """Returns a vector as base64 of 32-bit numbers."""
    return b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def texts_of(value: Any) -> list[str] | None:
    """Returns the texts of an input: a text, texts, tokens or lists of tokens. `None` means another type or nothing."""
    if isinstance(value, str):
        return [value]
    items = items_of(value)
    if items and all(isinstance(item, str) for item in items):
        return few(items)
    if items and all(isinstance(item, int) for item in items):
        return [" ".join(map(str, items))]
    if items and all(isinstance(item, list) for item in items):
        return [" ".join(map(str, item)) for item in few(items)]
    return None


def token_count(texts: list[str]) -> int:
    """Returns the approximate number of tokens of texts."""
    return sum(max(1, -(-len(text) // 4)) for text in texts)
