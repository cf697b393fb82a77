"""Redaction of headers (by an allow-list), URLs and values.

A tape applies a `Scrub` to all data that it writes into a cassette, and to every request that it looks up. A
recording made with one key therefore matches a replay with another key, or with none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property, lru_cache
from urllib.parse import unquote, urlsplit, urlunsplit

from ...exchange.messages import Headers
from ..detection.credential_names import kind
from .known_values import Replacer

__all__ = [
    "MASK",
    "REQUEST_HEADERS",
    "RESPONSE_HEADERS",
    "Scrub",
    "clean_url",
    "is_secret_name",
    "masked",
    "names",
]

MASK = "REDACTED"
REQUEST_HEADERS = ("accept", "content-type", "content-encoding", "range", "[!x]*-version", "[!x]*-beta")
RESPONSE_HEADERS = (
    *("accept-ranges", "allow", "cache-control", "content-*", "etag", "last-modified", "link", "location"),
    *(
        "retry-after*",
        "transfer-encoding",
        "www-authenticate",
        "*ratelimit*",
        "x-should-retry",
        "x-amzn-errortype",
    ),
)
_ENV_NAME = re.compile(r"(?i)(^|_)(API)?(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(_|$)")
_SIGNED_WITH = re.compile(r"(?i)^x-(?:amz|goog)-(?:date|expires)$")  # as often as the signature
_SHORTEST = 12  # shorter values are words, not secrets
_WEBISH = re.compile(r"^(https?://|/|\./)")


def is_secret_name(name: str) -> bool:
    """Tells whether a header, query parameter or field of this name holds a credential."""
    return bool(kind(name) or _SIGNED_WITH.match(name))


@lru_cache(maxsize=64)
def names(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Returns a test for lower-case header names, from patterns with `*`, `?` and `[…]`."""
    matcher = re.compile("|".join(translate(pattern) for pattern in patterns) or r"\Z.")

    @lru_cache(maxsize=1024)
    def matches(name: str) -> bool:
        return bool(matcher.match(name))

    return matches


@lru_cache(maxsize=1024)
def clean_url(url: str) -> str:
    """Returns the URL with the values of secret parameters masked, and without user and password."""
    parts = urlsplit(url)
    query = "&".join(_clean_parameter(piece) for piece in parts.query.split("&")) if parts.query else ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, parts.fragment))


def masked(name: str, value: str) -> str:
    """Returns a header's value. Of a credential, only the scheme is kept (`Bearer REDACTED`)."""
    if not is_secret_name(name):
        return value
    scheme, space, _ = value.partition(" ")
    return f"{scheme} {MASK}" if space else MASK


def _clean_parameter(piece: str) -> str:
    name, equals, value = piece.partition("=")
    return f"{name}={MASK}" if equals and value and is_secret_name(unquote(name)) else piece


@dataclass(frozen=True)
class Scrub:
    """Says what may be written into a cassette. `Scrub.of()` is the usual way to make one.

    Requests are changed in the same way before they are compared, so a recording made with one key replays with another.

    Args:
        values: A mapping of each secret value to the placeholder that replaces it.
        request_headers: Patterns of the request headers that are written. Default: eight that change the meaning of a request.
        response_headers: Patterns of the answer's headers that are written.

    Examples:
        >>> Scrub({"tk-93hf62kd": "<TOKEN>"}).url("https://api.example.com/tk-93hf62kd/me?password=1234")
        'https://api.example.com/<TOKEN>/me?password=REDACTED'
    """

    values: Mapping[str, str]
    request_headers: tuple[str, ...] = REQUEST_HEADERS
    response_headers: tuple[str, ...] = RESPONSE_HEADERS

    @classmethod
    def of(cls, secrets: Mapping[str, str] | None, keep: Iterable[str] = ()) -> Scrub:
        """Builds a `Scrub` from named secrets, and from the keys, tokens and passwords of the environment.

        Args:
            secrets: `{"NAME": "value"}`; the placeholder of each is `<NAME>`.
            keep: Patterns of further header names to write, of requests and answers.

        Examples:
            >>> Scrub.of({"ACCOUNT": "acme-4711"}).text("hello acme-4711")
            'hello <ACCOUNT>'
        """
        kept = tuple(name.lower() for name in keep)
        found = {value: f"<{name}>" for name, value in _from_environment().items()}
        found |= {value: f"<{name}>" for name, value in (secrets or {}).items() if value}
        return cls(found, REQUEST_HEADERS + kept, RESPONSE_HEADERS + kept)

    @cached_property
    def _replacer(self) -> Replacer:
        return Replacer(self.values)

    def text(self, text: str) -> str:
        """Returns the text with every secret value replaced by its placeholder, however the value is escaped.

        Args:
            text: Any text.
        """
        return self._replacer.text(text)

    def url(self, url: str) -> str:
        """Returns the URL as it may be written: without user and password, and with secret parameters masked.

        Args:
            url: Any URL.
        """
        return self.text(clean_url(url)) if self.values else clean_url(url)

    def body(self, body: bytes, sizes: list[int] | None = None) -> bytes:
        """Returns the body with every secret value replaced by its placeholder.

        Args:
            body: The bytes of the body.
            sizes: The sizes in bytes of its chunks; the list is changed to fit the new body. Default: not needed.
        """
        return self._replacer.body(body, sizes)

    def request(self, headers: Iterable[tuple[str, str]]) -> Headers:
        """Returns the request headers that may be written.

        Args:
            headers: (name, value) pairs, names in lower case.
        """
        return self._kept(headers, names(self.request_headers))

    def response(self, headers: Iterable[tuple[str, str]]) -> Headers:
        """Returns the answer's headers that may be written.

        Args:
            headers: (name, value) pairs, names in lower case.
        """
        return self._kept(headers, names(self.response_headers))

    def metadata(self, given: Iterable[tuple[str, str]]) -> Headers:
        """Returns the metadata of a gRPC server that may be written: all but credentials, with secret values replaced.

        Args:
            given: (name, value) pairs, names in lower case.
        """
        return [(name, self.text(value)) for name, value in given if not is_secret_name(name)]

    def _kept(self, headers: Iterable[tuple[str, str]], allowed: Callable[[str], bool]) -> Headers:
        kept = [(name, value) for name, value in headers if allowed(name) and not is_secret_name(name)]
        return [(name, self.text(clean_url(value) if name == "location" else value)) for name, value in kept]


def _from_environment() -> dict[str, str]:
    named = [(name, os.environ.get(name, "")) for name in sorted(os.environ) if _ENV_NAME.search(name)]
    return {
        name: value
        for name, value in named
        if len(value) >= _SHORTEST and not _WEBISH.match(value) and " " not in value
    }
