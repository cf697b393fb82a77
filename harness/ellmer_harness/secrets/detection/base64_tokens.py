"""Finds the tokens that may be base64 of readable text. All tokens are decoded at once, because each call is
expensive.

Most long words of a conversation are random ids. They decode to unreadable bytes at each of the four offsets.
"""

from __future__ import annotations

import re
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

__all__ = ["plain", "worth_decoding"]

_BETWEEN = "AAAA"  # three zero bytes
_RUN = re.compile(rb"[\x20-\x7e\t\r\n]{14,}")  # two less than are searched: the end of a token is left out
_LETTER = rb"[\x01-\x7f]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
_TEXT = re.compile(rb"\0\0\0(?:%s)+(?:[\xc2-\xf4][\x80-\xbf]{0,2})?(?=\0\0\0)" % _LETTER)
_GZIP = re.compile(rb"\0\0\0\x1f\x8b")


def plain(token: str) -> str:
    """Returns the token in the standard alphabet, without padding."""
    return token.rstrip("=").replace("-", "+").replace("_", "/")


def worth_decoding(tokens: Sequence[str], known: Iterable[bytes]) -> Iterator[str]:
    """Returns the tokens that may hold text, printable characters, a known value or gzip. The order is kept,
    and some false positives are included.
    """
    begun = [secret[:-2] for secret in known]  # the end of a token is left out here, too
    if not all(map(_enough, begun)):
        return iter(tokens)
    words = [plain(token) for token in tokens]
    found = set[int]()
    for offset in range(4):
        parts = [word[offset : offset + (len(word) - offset) // 4 * 4] for word in words]
        starts = [*accumulate((len(part) // 4 * 3 + 3 for part in parts), initial=3)]
        data = b64decode(_BETWEEN + _BETWEEN.join(parts) + _BETWEEN)
        found.update(bisect_right(starts, at) - 1 for at in _places(data, begun))
    return (tokens[number] for number in sorted(found))


def _enough(begun: bytes) -> bool:
    return len(begun) > 2


def _places(data: bytes, known: Iterable[bytes]) -> Iterator[int]:
    yield from (match.start() for match in _RUN.finditer(data))
    for pattern in (_TEXT, _GZIP):
        yield from (match.start() + 3 for match in pattern.finditer(data))
    for secret in known:
        at = data.find(secret)
        while at >= 0:
            yield at
            at = data.find(secret, at + 1)
