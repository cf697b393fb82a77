"""Vectors for texts: the same text has the same vector, and texts with common words are near each other."""

from __future__ import annotations

import re
import struct
from array import array
from base64 import b64encode
from collections.abc import Sequence
from hashlib import shake_256
from math import sqrt
from typing import Any

from ellmer_core.base.budget import remembered

from ...contract.readers.json_access import items_of
from .service_request import few

_WORD = re.compile(r"\w+")
_MOST_WORDS, _LONGEST = 64, 8192  # words of a text, and numbers of a vector


@remembered(1024)
def _of_word(word: str, size: int) -> bytes:
    """Returns the numbers of a word as bytes, which need a tenth of the memory."""
    return shake_256(word.encode("utf-8", "replace")).digest(2 * size)


def vector(text: str, size: int) -> list[float]:
    """Returns the vector of a text. Its length is 1.

    Args:
        text: The text.
        size: The number of its numbers, at most 8192.
    """
    return list(_vector(text, max(1, min(size, _LONGEST))))


@remembered(256)
def _vector(text: str, size: int) -> Sequence[float]:
    words = [word.lower() for word in _WORD.findall(text)][:_MOST_WORDS] or [""]
    of_words = [struct.unpack(f"<{size}h", _of_word(word, size)) for word in words]
    total = [sum(numbers) for numbers in zip(*of_words, strict=True)]
    length = sqrt(sum(number * number for number in total)) or 1.0
    return array("d", [round(number / length, 8) for number in total])


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
