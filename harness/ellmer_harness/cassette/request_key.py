"""The comparison of requests: method, URL, relevant headers, and the value of the body.

JSON bodies are compared by value (key order and whitespace do not count, `1` and `1.0` differ; the number of a JSON-RPC
request does not count), forms by their fields, and multipart bodies by their parts without the boundary. Other bodies are
compared byte for byte.

Credentials are masked before requests are compared. What is masked takes part by its fingerprint (`RequestKey.likeness`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property, lru_cache
from hashlib import sha256
from math import isinf
from typing import Any, Literal
from urllib.parse import SplitResult, parse_qsl, quote, unquote, unquote_plus, urlsplit

from ..secrets.named_credentials import is_signature
from ..secrets.redaction import MASK, fingerprint_of, is_secret_name, names

SALT = "salt"  # beside the fingerprints of an interaction
SEMANTIC = ("content-type", "range", "[!x]*-version", "[!x]*-beta")
_AS_IS = "%/:?[]@!$&'()*+,;="  # and what clients encode is encoded: not every recorder does
_MASKED = re.compile(rf"{MASK}(?!_\d)")  # those with a number are sent back as they are
_FORM = re.compile(rb"[\w.%+*\[\]~-]+=[^\s&=]*(&[^\s&=]+=[^\s&=]*)*")
Repeat = Literal["error", "last", "cycle"]
Head = tuple[str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Match:
    """Says which parts of two requests must be equal for them to be the same request.

    Args:
        headers: Patterns of the header names that are compared. Default: `content-type`, `range`, `*-version` and `*-beta`.
        ignore: What is not compared: JSON pointers into the body (`/metadata/user_id`; `*` stands for any key or
            index), or parameters of the URL (`?beta`). Default: none.
        body: Whether bodies are compared. Default: True. JSON is compared by value, forms by field, multipart by part.
        url: Whether URLs are compared. Default: True.

    Examples:
        >>> with use_cassette("weather.json", match=Match(ignore=("?trace",))):
        ...     httpx.get("https://api.example.com/weather?trace=7").json()
        {'temperature': 21}
    """

    headers: tuple[str, ...] = SEMANTIC
    ignore: tuple[str, ...] = ()
    body: bool = True
    url: bool = True

    def without(self, parts: Iterable[str]) -> Match:
        """Returns a copy that compares fewer parts.

        Args:
            parts: The names of the parts that are no longer compared: `headers`, `body`, `url`.

        Examples:
            >>> Match().without(["body"]).body
            False
        """
        return replace(
            self,
            headers=() if "headers" in parts else self.headers,
            body=self.body and "body" not in parts,
            url=self.url and "url" not in parts,
        )

    def head(self, method: str, url: str, headers: Iterable[tuple[str, str]]) -> Head:
        """Returns all compared parts except the body, as one hashable value.

        Args:
            method: The HTTP method.
            url: The URL.
            headers: (name, value) pairs, names in lower case.

        Examples:
            >>> match = Match(ignore=("?trace",))
            >>> plain = match.head("GET", "https://api.example.com/weather", [])
            >>> plain == match.head("GET", "https://api.example.com/weather?trace=7", [])
            True
        """
        counts = names(self.headers)
        found = [(name, _value(name, value)) for name, value in headers if counts(name)]
        return method.upper(), _url(url, self.ignore) if self.url else "", tuple(sorted(found))

    def canonical(self, body: bytes, content_type: str) -> bytes:
        """Returns the body's value as bytes, which are equal for equivalent bodies.

        Args:
            body: The bytes of the body.
            content_type: The value of its `content-type` header.

        Examples:
            >>> Match().canonical(b'{"b": 1, "a": 2}', "application/json") == Match().canonical(b'{"a":2,"b":1}', "application/json")
            True
        """
        if not self.body or not body:
            return b""
        if content_type.startswith("multipart/"):
            return b"\n".join(_parts(body, content_type))
        if content_type.startswith("application/x-www-form-urlencoded"):
            return repr(sorted(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))).encode()
        if body[:1] not in b" \t\r\n{[":
            return body
        try:
            value = json.loads(body, object_pairs_hook=_unambiguous, parse_float=_finite)
        except (ValueError, RecursionError):
            return body
        for pointer in self.ignore:  # those of the URL have no slash, and drop nothing
            _drop(value, pointer.split("/")[1:])
        return json.dumps(without_number(value), sort_keys=True, separators=(",", ":")).encode()

    def digest(self, head: Head, body: bytes, content_type: str) -> bytes:
        """Returns the key by which a request is found: a SHA-256 hash (32 bytes).

        Args:
            head: What `head()` returned.
            body: The bytes of the body.
            content_type: The value of its `content-type` header; `""` if there is none.

        Examples:
            >>> match = Match()
            >>> head = match.head("GET", "https://api.example.com/weather", [])
            >>> len(match.digest(head, b"", ""))
            32
        """
        canonical = self.canonical(body, content_type or _guessed(body))
        return sha256(repr(head).encode() + b"\n" + canonical).digest()


class Likeness(IntEnum):
    """How much the masked values of a recording are those of a request."""

    OTHER = 0
    OTHER_HEADER = 1
    OTHER_VALUE = 2
    SAME = 3


class RequestKey:
    """A scrubbed request for the lookup. Its key is computed when it is needed."""

    def __init__(self, match: Match, request: Any) -> None:
        self._match, self.request = match, request

    @cached_property
    def headers(self) -> list[tuple[str, str]]:
        """The headers with lower-case names."""
        return [(name.lower(), value) for name, value in self.request.headers.items()]

    @cached_property
    def head(self) -> Head:
        """All compared parts except the body."""
        return self._match.head(self.request.method, self.request.uri, self.headers)

    @property
    def content_type(self) -> str:
        """The content type, guessed from the body if the recording has none; `""` for JSON and others."""
        return next((value for name, value in self.headers if name == "content-type"), "") or _guessed(
            self.body
        )

    @cached_property
    def digest(self) -> bytes:
        """The key of the request."""
        return self._match.digest(self.head, self.body, self.content_type)

    def digest_of(self, body: Any) -> bytes:
        """Returns the key of this request with another body, which is a JSON value."""
        return self._match.digest(self.head, json.dumps(body).encode(), "application/json")

    @property
    def body(self) -> bytes:
        """The bytes of the body."""
        body: bytes = self.request.body or b""
        return body

    @cached_property
    def parameters(self) -> dict[str, list[str]]:
        """The written values of the parameters whose names suggest a credential. All signatures are alike."""
        return _parameters(self.request.uri, self._match.ignore) if self._match.url else {}

    @property
    def fingerprints(self) -> dict[str, str]:
        """The fingerprints of the masked values, by place, if the cassette has any."""
        return getattr(self.request, "fingerprints", None) or {}

    @property
    def values(self) -> dict[str, str]:
        """The values behind the masks of a request that was not read from a file."""
        return getattr(self.request, "masked_values", None) or {}

    def same_bytes(self, other: RequestKey) -> bool:
        """Tells whether the requests are equal byte for byte, and their masked values, too."""
        return self.head == other.head and self.body == other.body and self.likeness(other) is Likeness.SAME

    def likeness(self, asked: RequestKey) -> Likeness:
        """Compares the credentials of a recording with those of a request that is equal otherwise.

        A value that was written is compared. A masked value is compared by its fingerprint: if it differs, the
        program has other credentials than it had when it was recorded.
        """
        names = self.parameters.keys(), asked.parameters.keys()
        if names[0] - names[1] and names[1] - names[0]:
            return Likeness.OTHER
        for name in names[0] | names[1]:
            old, new = self.parameters.get(name, []), asked.parameters.get(name, [])
            if old != new and MASK not in old and (old or {*new} != {MASK}):
                return Likeness.OTHER
        differing = [*self.differing_values(asked)]
        if not differing:
            return Likeness.SAME
        return Likeness.OTHER_VALUE if any(map(is_exact, differing)) else Likeness.OTHER_HEADER

    def differing_values(self, asked: RequestKey) -> Iterator[str]:
        """Yields the places of the masked values that differ from those of the recording."""
        for place, recorded in self.fingerprints.items():
            if place != SALT and recorded != fingerprint_of(
                self.fingerprints[SALT], place, asked.values.get(place, ""), len(recorded)
            ):
                yield place

    def hides(self, asked: RequestKey) -> bool:
        """Tells whether the masks of a recording stand for what a request says in their places: a secret of one request may be an
        ordinary word in another, which then does not look like a secret.
        """
        marks = self.fingerprints
        if marks.keys().isdisjoint(("url", "body")):
            return False
        said = {"url": asked.request.uri, "body": asked.value, **asked.values}
        return (
            self.head[::2] == asked.head[::2]
            and _stands_for(self.head[1], _url(said["url"], self._match.ignore))
            and _stands_for(self.value, said["body"])
            and all(
                mark == fingerprint_of(marks[SALT], place, said.get(place, ""), len(mark))
                for place, mark in marks.items()
                if is_exact(place)
            )
        )

    @cached_property
    def value(self) -> str:
        """The value of the body, as it is compared."""
        return self._match.canonical(self.body, self.content_type).decode("utf-8", "backslashreplace")


def _stands_for(recorded: str, said: str) -> bool:
    """Tells whether two texts are equal where the recorded one is not masked."""
    first, *parts = _MASKED.split(recorded)
    if not parts:
        return recorded == said
    last, at = parts.pop(), len(first)
    for part in parts:
        found = said.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return said.startswith(first) and said.endswith(last) and len(said) - len(last) >= at


def is_exact(place: str) -> bool:
    """Tells whether a place is a parameter, a body or a URL, and not a header or a signature, which differs in each run."""
    return place in ("body", "url") or (place.startswith("?") and not is_signature(place[1:]))


def _guessed(body: bytes) -> str:
    """Guesses the content type from the body, because not every recorder stores the header."""
    if body.startswith(b"--"):
        boundary = body[2:].partition(b"\r\n")[0].decode("latin-1")
        return f'multipart/form-data; boundary="{boundary}"'
    return "application/x-www-form-urlencoded" if _FORM.fullmatch(body) else ""


@lru_cache(maxsize=1024)
def _url(url: str, ignore: tuple[str, ...] = ()) -> str:
    """Returns the URL with sorted parameters, without secret and ignored ones."""
    parts = _split(url)
    pieces = [
        piece
        for piece in parts.query.split("&")
        if piece and not is_secret_name(name := _name(piece)) and f"?{name}" not in ignore
    ]
    host = parts.netloc.rpartition("@")[2].lower()
    default = {"https": ":443", "http": ":80"}.get(parts.scheme, "")
    rest = f"{parts.path or '/'}?{'&'.join(sorted(pieces))}"
    return f"{parts.scheme}://{host.removesuffix(default)}{quote(rest, safe=_AS_IS, errors='replace')}"


def _split(url: str) -> SplitResult:
    """Returns the parts of a URL. A text that is not a URL, such as `https://[`, counts as a path."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def _name(piece: str) -> str:
    return unquote(piece.partition("=")[0])


@lru_cache(maxsize=1024)
def _parameters(url: str, ignore: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for piece in _split(url).query.split("&"):
        name = _name(piece)
        if is_secret_name(name) and f"?{name}" not in ignore:
            value = MASK if is_signature(name) else unquote_plus(piece.partition("=")[2])
            found.setdefault(name, []).append(value)
    return found


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object. Raises `ValueError` for one with duplicate keys, which is compared byte for byte."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def without_number(value: Any) -> Any:
    """Returns a JSON value to compare: a request of JSON-RPC without its number, anything else as it is."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0" or "method" not in value:
        return value
    found = {name: each for name, each in value.items() if name != "id"}
    if isinstance(params := value.get("params"), dict):
        found["params"] = params = {**params}
        if value["method"] == "notifications/cancelled":  # MCP: of an earlier request
            params.pop("requestId", None)
        if isinstance(meta := params.get("_meta"), dict) and meta.get("progressToken") == value.get("id"):
            params["_meta"] = {name: each for name, each in meta.items() if name != "progressToken"}
    return found


def _finite(text: str) -> float:
    """Returns a number. Raises `ValueError` for one that is too large, which is compared byte for byte."""
    if isinf(number := float(text)):
        raise ValueError("a number is too large")
    return number


@lru_cache(maxsize=1024)
def _value(name: str, value: str) -> str:
    return value.partition(";")[0].strip().lower() if name == "content-type" else value


def _parts(body: bytes, content_type: str) -> list[bytes]:
    boundary = re.search(r'boundary="?([^";]+)', content_type)
    return body.split(b"--" + boundary[1].encode()) if boundary else [body]


def _drop(value: Any, path: list[str]) -> None:
    if not path or not isinstance(value, dict | list):
        return
    step, rest = path[0].replace("~1", "/").replace("~0", "~"), path[1:]
    items = value if isinstance(value, dict) else {str(index): item for index, item in enumerate(value)}
    for key in list(items) if step == "*" else [step] if step in items else []:
        if rest:
            _drop(items[key], rest)
        elif isinstance(value, dict):
            del value[key]
        else:
            value[int(key)] = None
