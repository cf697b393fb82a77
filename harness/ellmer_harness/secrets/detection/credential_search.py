"""Looks for credentials in a JSON value or in bytes, both plain and encoded.

The content of an encoded string is searched like the string itself, some layers deep: URL-encoding, escapes,
JSON in a string, base64 at any offset, gzip. Equal strings are searched once, and all in one call, because
conversations repeat themselves and each call is expensive.
"""

from __future__ import annotations

import re
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple
from urllib.parse import unquote

from ...format.compression import undo
from .base64_tokens import plain, worth_decoding
from .credential_names import kind
from .credentials_in_text import NAMED, credential, named
from .json_strings import Place, parsed, places, pointer, readable, runs, strings
from .kingfisher_patterns import maintained
from .service_key_patterns import keys
from .value_randomness import LEAST

__all__ = ["Hit", "search"]

_SEPARATOR = b"\n\0\n"
_LAYERS = 3
_LONGEST_FORM = 100_000
_IN_WORD = bytes(one < 128 and (chr(one).isalnum() or chr(one) in "_.+/=~:-") for one in range(256))
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}+={0,2}")
_HEX = re.compile(r"[0-9a-fA-F-]+")
_FORM = re.compile(r"[\w.%+*\[\]~-]+=[^\s&=]*(&[^\s&=]+=[^\s&=]*)*")
_JSON = frozenset("[{ \t\r\n\v\f\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u3000")  # and the spaces before it
_ESCAPE = re.compile(r"\\(.)")


class Hit(NamedTuple):
    """`holder` is the base64 that hides the secret, or `""`."""

    pointers: Sequence[str]
    what: str
    secret: str
    holder: str


@dataclass(eq=False, slots=True)
class _Part:
    """A text to search. It is in the value at `at`, or it is encoded in `token` of one of the parts `among`."""

    text: str
    key: str = ""
    at: Callable[[], dict[tuple[str, str], list[Place]]] | None = None
    among: Sequence[_Part] = ()
    token: str = ""
    holder: str = ""

    def places(self) -> list[str]:
        """Returns the places of the part in the value."""
        hiding = (part for part in self.among if self.token in part.text)
        found = (
            map(pointer, self.at()[self.key, self.text])
            if self.at
            else (place for part in hiding for place in part.places())
        )
        return list(dict.fromkeys(found))


def search(
    value: Any, known: Sequence[tuple[str, str]] = (), where: str = "", *, rules: bool = True
) -> Iterator[Hit]:
    """Yields all hits. `known` are values to look for, each with its kind. With `rules`, the maintained rule
    set is used, too.
    """
    at = cache(lambda: places(value, where))
    parts = [_Part(text, key, at) for key, text in strings(value) if text]
    for layer in range(_LAYERS):
        if parts:
            texts = [part.text.encode("utf-8", "replace") for part in parts]
            whole = _SEPARATOR.join(texts)
            words = [*_words(whole)]
            yield from _by_value(parts, whole, known)
            yield from _by_value(parts, whole, [(secret, what) for what, secret in keys(words)])
            yield from _by_value(parts, whole, maintained(whole) if rules else ())
            yield from _by_name(parts, whole, texts)
            parts = _unwrapped(parts, words, known, first=layer == 0)


def _by_value(parts: Sequence[_Part], whole: bytes, known: Iterable[tuple[str, str]]) -> Iterator[Hit]:
    for secret, what in known:
        if secret.encode("utf-8", "replace") in whole:
            yield from (
                Hit(part.places(), what, secret, part.holder) for part in parts if secret in part.text
            )


def _by_name(parts: Sequence[_Part], whole: bytes, texts: Sequence[bytes]) -> Iterator[Hit]:
    starts = [0, *accumulate(len(text) + len(_SEPARATOR) for text in texts)]
    # One character a byte: much faster than letters of all alphabets, and places are the same in both.
    for what, found, at in named(whole.decode("latin-1"), whole.lower().decode("latin-1")):
        part = parts[bisect_right(starts, at) - 1]
        yield Hit(part.places(), what, found.encode("latin-1").decode("utf-8", "replace"), part.holder)
    for part in parts:
        if part.key and credential(kind(part.key), part.text):
            yield Hit(part.places(), NAMED, part.text, part.holder)


def _words(text: bytes) -> dict[str, None]:
    """Returns the distinct long words in order."""
    return dict.fromkeys(word.decode("ascii") for word in runs(text, _IN_WORD, LEAST))


def _unwrapped(
    parts: Sequence[_Part], words: Sequence[str], known: Sequence[tuple[str, str]], *, first: bool
) -> list[_Part]:
    """Returns the next layer: the texts that are encoded in the parts."""
    found: dict[tuple[str, str], _Part] = {}
    for part in parts:
        for key, text in _plain(part.text, first=first) if _may_hide(part.text) else ():
            found.setdefault((key, text), _Part(text, key, among=[part], holder=part.holder))
    found_tokens = (token for word in words for token in _BASE64.findall(word))
    tokens = dict.fromkeys(token for token in found_tokens if not _HEX.fullmatch(token))
    for token in worth_decoding([*tokens], [secret.encode() for secret, _ in known]):
        for text in _decoded(token, known):
            found.setdefault((token, text), _Part(text, among=parts, token=token, holder=token))
    return [*found.values()]


def _may_hide(text: str) -> bool:
    """Tells whether a text begins like JSON, or has a mark of another encoding."""
    return text[:1] in _JSON or "%" in text or "\\" in text or "+" in text


def _plain(text: str, *, first: bool) -> Iterator[tuple[str, str]]:
    """Yields the name and text of the content of a string, one layer below: JSON, URL-encoding, escapes."""
    if len(text) < 8:
        return
    if (value := parsed(text.strip() if first else text)) is not None:
        yield from strings(value)
        return
    if "%" in text and (plain := unquote(text)) != text:
        yield "", plain
    if "\\" in text:
        yield "", _ESCAPE.sub(r"\1", text)
    if "+" in text and "=" in text and len(text) < _LONGEST_FORM and _FORM.fullmatch(text):
        yield "", unquote(text.replace("+", " "))


def _decoded(token: str, known: Sequence[tuple[str, str]]) -> Iterator[str]:
    whole_token = plain(token)
    for offset in range(4):
        part = whole_token[offset:]
        whole = len(part) // 4 * 4
        data = b64decode(part[:whole] + (part[whole:] + "==")[:4] * (len(part) % 4 > 1))
        if data[:2] == b"\x1f\x8b":
            yield from readable(undo(data, "gzip"))
        texts = [*readable(data)]
        yield from texts
        yield from (secret for secret, _ in known if secret.encode() in data)
        if offset == 0 and len(texts) == 1 and len(texts[0]) >= len(data) // 2:
            return  # this is how it was meant
