"""Recognizes by its bytes that a request continues a conversation, and parses only the new part.

A client sends the whole conversation with each request: the same bytes up to the end of the last message, then new
messages, then the same bytes again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from ...contract import readers
from ...contract.exchange import Json

__all__ = ["Continued", "KnownConversations", "Place", "place_of"]

T = TypeVar("T")

_LISTS = ("messages", "contents", "input")
_ENDS = re.compile(rb"\]\s*\}\s*\Z")
_START = 64  # bytes by which conversations are looked up
_KEPT, _ALIKE = 256, 64  # conversations in all, and of those that start alike
_BYTES = 64 * 1024 * 1024  # of all of them
_PROBE = 7_770_777
_TRIES = 4
_BLANK = b" \t\r\n"


class Place(NamedTuple):
    """The position of the messages in a body: the name of their list, and the bytes before and after its end."""

    name: str
    before: bytes
    after: bytes


class Continued(NamedTuple, Generic[T]):
    """A body that continues a known conversation: the facts about it, the new messages, and their bytes."""

    known: T
    place: Place
    value: Json
    new: list[Any]
    text: bytes


class _Known(NamedTuple, Generic[T]):
    place: Place
    value: Json
    known: T


class KnownConversations(Generic[T]):
    """The latest conversations, with the facts about each."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], list[_Known[T]]] = {}
        self._count = self._bytes = 0
        self._lock = Lock()

    def find(self, kind: object, body: bytes) -> Continued[T] | None:
        """Returns the known conversation that a body continues, if any. Only conversations of one `kind` are
        compared.
        """
        for each in reversed(self._found.get((kind, body[:_START]), ())):
            (name, before, after), value, known = each
            if len(body) > len(before) + len(after) and body.startswith(before) and body.endswith(after):
                text = body[len(before) : len(body) - len(after)]
                new = _elements(text)
                if new:
                    whole = {**value, name: [*value[name], *new]}
                    return Continued(known, Place(name, before + text, after), whole, new, text)
        return None

    def keep(self, kind: object, place: Place, value: Json, known: T) -> None:
        """Stores a conversation. It replaces a shorter one that it continues."""
        key = (kind, place.before[:_START])
        with self._lock:
            alike = self._forget(key)
            others = [one for one in alike if not place.before.startswith(one.place.before)]
            self._found[key] = found = [*others, _Known(place, value, known)][-_ALIKE:]
            self._count += len(found)
            self._bytes += _size(found)
            while self._count > _KEPT or self._bytes > _BYTES:
                self._forget(next(iter(self._found)))

    def _forget(self, key: tuple[object, ...]) -> list[_Known[T]]:
        found = self._found.pop(key, [])
        self._count -= len(found)
        self._bytes -= _size(found)
        return found


def _size(found: list[_Known[T]]) -> int:
    return sum(len(one.place.before) for one in found)


def place_of(body: bytes, value: Json) -> Place | None:
    """Returns the position of the messages in a body, if it is certain: a probe that is inserted there becomes one of
    them.
    """
    name = next((name for name in _LISTS if isinstance(value.get(name), list) and value[name]), None)
    if name is None:
        return None
    for end in _ends(body, [*value], name):
        before = body[:end].rstrip(_BLANK)
        after = body[len(before) :]
        try:
            probed = readers.parsed(b"%b,%d%b" % (before, _PROBE, after))
        except (ValueError, RecursionError):
            continue
        if isinstance(probed, dict) and probed.get(name) == [*value[name], _PROBE]:
            return Place(name, before, after)
    return None


def _ends(body: bytes, keys: list[str], name: str) -> Iterator[int]:
    """Yields the possible positions of the end of the list, the last one first."""
    behind = keys[keys.index(name) + 1 :]
    if not behind:
        yield from (match.start() for match in _ENDS.finditer(body))
        return
    key = re.compile(rb'\]\s*,\s*"%b"\s*:' % re.escape(behind[0].encode("utf-8", "replace")))
    yield from [match.start() for match in key.finditer(body)][: -_TRIES - 1 : -1]


def _elements(text: bytes) -> list[Any]:
    """Returns the elements that a text appends to a list. The result is empty if the text is not JSON."""
    if not text.lstrip(_BLANK).startswith(b","):
        return []
    try:
        found = readers.parsed(b"[[%b]]" % text.lstrip(_BLANK)[1:])  # the same depth as in a body
    except (ValueError, RecursionError):
        return []
    inner: list[Any] = found[0] if len(found) == 1 else []
    return inner
