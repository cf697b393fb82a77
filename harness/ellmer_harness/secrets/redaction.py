"""Redaction of headers (by an allow-list), URLs and values.

A cassette applies a `Scrub` to all data that it writes into a cassette, and to every request that it looks up. A
recording made with one key therefore matches a replay with another key, or with none. Many values are replaced in one
pass, whose time does not depend on their number.
"""

from __future__ import annotations

import hmac
import html
import json
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import cached_property, lru_cache
from hashlib import sha256
from itertools import accumulate
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit, urlunsplit

from ..exchange.messages import Headers
from ..exchange.reply import Reply
from ..format.compression import is_coded
from .multi_word_search import Spans, spans
from .named_credentials import is_credential, is_signature, kind

# --- The replacement of values ---------------------------------------------------------------------------


_RANDOM = 16  # characters of a value that no text has by chance, also in other case
_DIGIT = re.compile(r"\d")
_ESCAPED = re.compile(r"(?:\\u[0-9a-fA-F]{4}){4}|(?:&#x?[0-9a-fA-F]{1,6};){4}|(?:%[0-9a-fA-F]{2}){4}")


class Replacer:
    """Finds some values, in any escaped form, and replaces each by another text. If two values begin alike,
    the longer one is replaced.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self._forms = _Forms(
            {form: new for value, new in values.items() for form in spellings(value)} | dict(values)
        )

    @cached_property
    def _letters(self) -> _Forms:
        """The values with each letter escaped, which few texts have, and which take the longest to search."""
        return _Forms({form: new for value, new in self._values.items() for form in letter_by_letter(value)})

    def text(self, text: str) -> str:
        """Returns the text with every value replaced."""
        text = self._forms.text(text)
        return self._letters.text(text) if self._values and has_escaped_letters(text) else text

    def body(self, body: bytes, sizes: list[int] | None = None) -> bytes:
        """Returns the body with every value replaced. The chunk sizes in `sizes` are corrected."""
        body = self._forms.body(body, sizes)
        escaped = self._values and has_escaped_letters(body.decode("latin-1"))
        return self._letters.body(body, sizes) if escaped else body


class _Forms:
    """Texts that are replaced in one pass, each by its own."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {form: new for form, new in texts.items() if form}
        self._bytes = {_as_bytes(form): _as_bytes(new) for form, new in self._texts.items()}
        self._in_texts = spans(self._texts) if self._texts else None
        self._in_bytes = self._in_texts if self._texts.keys() == self._bytes.keys() else spans(self._bytes)

    def text(self, text: str) -> str:
        return self._replaced(text, self._texts, self._in_texts(text))[0] if self._in_texts else text

    def body(self, body: bytes, sizes: list[int] | None) -> bytes:
        if self._in_bytes is None:
            return body
        text = body.decode("latin-1")
        new, changes = self._replaced(text, self._bytes, self._in_bytes(text))
        if sizes is not None and changes:
            _resize(sizes, changes)
        return new.encode("latin-1") if changes else body

    @staticmethod
    def _replaced(
        text: str, texts: Mapping[str, str], found: Spans
    ) -> tuple[str, list[tuple[int, int, int]]]:
        """Returns the new text, and each change: its start, its end, and the length of what is there now."""
        parts, changes, end = [], [], 0
        for start, stop in found:
            new = texts[text[start:stop]]
            parts += [text[end:start], new]
            changes.append((start, stop, len(new)))
            end = stop
        return "".join([*parts, text[end:]]), changes


def _as_bytes(text: str) -> str:
    """Returns text with one character for each byte."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


@lru_cache(maxsize=256)
def spellings(value: str) -> tuple[str, ...]:
    """Returns the value in plain form, in URL and form encoding, in JSON and HTML, in hexadecimal, and, if it is random, in other case
    and backwards.
    """
    escaped = [json.dumps(value, ensure_ascii=plain)[1:-1] for plain in (True, False)]
    urls = [quote(value, safe="", errors="replace"), quote_plus(value, errors="replace")]
    digits = value.encode("utf-8", "surrogatepass").hex()
    random = len(value) >= _RANDOM and _DIGIT.search(value)
    others = [value.lower(), value.upper(), value[::-1]] if random else []
    slashes = [each.replace("/", r"\/") for each in escaped]
    forms = (value, *urls, *escaped, *slashes, html.escape(value), digits, digits.upper(), *others)
    return tuple(dict.fromkeys(forms))


@lru_cache(maxsize=256)
def letter_by_letter(value: str) -> tuple[str, ...]:
    """Returns the value with each letter escaped as in JSON, in HTML and in a URL."""
    escapes = ("\\u%04x", "\\u%04X", "&#%d;", "&#x%x;", "&#x%X;", "%%%02x", "%%%02X")
    return tuple("".join(escape % ord(letter) for letter in value) for escape in escapes)


def has_escaped_letters(text: str) -> bool:
    """Tells whether a text has several escaped letters in a row."""
    return any(mark in text for mark in ("\\u", "&#", "%")) and _ESCAPED.search(text) is not None


def _resize(sizes: list[int], changes: Iterable[tuple[int, int, int]]) -> None:
    """Corrects chunk sizes after the bytes from a start to an end became as many others. The first chunk that is touched
    takes each change.
    """
    ends = [*accumulate(sizes)]
    for start, end, new in changes:
        index, at = bisect_right(ends, start), start
        if index < len(sizes):
            sizes[index] += new
        while at < end and index < len(sizes):
            last = min(ends[index], end)
            sizes[index] -= last - at
            at, index = last, index + 1


# --- Fingerprints of masked values -----------------------------------------------------------------------


_HEADER_SALT = "Salt"  # the place of a header of this name: `salt` is beside the fingerprints
FINGERPRINT = 3  # hex digits: they tell the values of one cassette apart, and tell nobody what a value is


def credential_values(url: str, headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Returns the values that may be masked in a request or are left out, by their place: `?name` for a parameter, `name` for a header.

    A server changes cookies, and signatures and ids of headers differ in each run; they tell no requests apart.
    """
    found: dict[str, list[str]] = {}
    for piece in urlsplit(url).query.split("&") if "?" in url else ():
        name, _, value = piece.partition("=")
        if is_secret_name(plain := unquote(name)):
            found.setdefault(f"?{plain}", []).append(unquote_plus(value))
    of_a_run = names(_OF_A_RUN)
    for name, value in headers:
        if not of_a_run(name) and not is_signature(name) and not _SIGNED.match(value):
            found.setdefault(_HEADER_SALT if name == "salt" else name, []).append(value)
    return {place: "\n".join(values) for place, values in found.items()}


def fingerprint_of(salt: str, place: str, value: str, digits: int = FINGERPRINT) -> str:
    """Returns the first hex digits of a keyed hash of a masked value."""
    return hmac.new(salt.encode(), f"{place}\n{value}".encode("utf-8", "surrogatepass"), sha256).hexdigest()[
        :digits
    ]


# --- Headers, URLs and bodies ----------------------------------------------------------------------------


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
        "sec-websocket-protocol",
    ),
)
_SESSION = "mcp-session-id"  # its client sends it back, and ends the session only if it got one
_ENV_NAME = re.compile(r"(?i)(^|_)(API)?(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(_|$)")
_SIGNED = re.compile(r"(?i)(?:AWS4-|Digest |OAuth |Signature )")  # schemes whose values differ in each run
#: Headers that are compared otherwise, or whose values are others in each run.
_OF_A_RUN = (
    *(
        "content-type",
        "content-length",
        "range",
        "*cookie*",
        "date",
        "x-amz-[!t]*",  # but `x-amz-target`, which names the operation
        "amz-sdk-*",
        "*idempotency-key",
    ),
    *(
        "*request-id",
        "*correlation-id",
        "*trace*",
        "*tracing*",
        "baggage",
        "b3",
        "x-b3-*",
        "x-datadog-*",
        "url",
        "body",
    ),
)
_SHORTEST = 12  # shorter values are words, not secrets
_WEBISH = re.compile(r"^(https?://|/|\./)")


@lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Tells whether a header, query parameter or field of this name holds a credential."""
    return bool(kind(name) or is_signature(name))


@lru_cache(maxsize=64)
def names(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Returns a test for lower-case header names, from patterns with `*`, `?` and `[…]`."""
    matcher = re.compile("|".join(translate(pattern) for pattern in patterns) or r"\Z.")

    @lru_cache(maxsize=1024)
    def matches(name: str) -> bool:
        return bool(matcher.match(name))

    return matches


@lru_cache(maxsize=1024)
def clean_url(url: str, is_known: Callable[[str], bool] = bool) -> str:
    """Returns the URL with the credentials in its parameters masked, and without user and password.

    Args:
        url: Any URL.
        is_known: Tells whether the value of a parameter whose name suggests a credential has a named secret in it.
            Default: the value is judged by its role and its looks.
    """
    check = None if is_known is bool else is_known
    try:
        parts = urlsplit(url)
    except ValueError:  # no URL, as in `https://[`
        return _clean_parameters(url, check)
    query, fragment = (_clean_parameters(text, check) for text in (parts.query, parts.fragment))
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, fragment))


def masked(name: str, value: str) -> str:
    """Returns a header's value. Of a credential, only the scheme is kept (`Bearer REDACTED`)."""
    if not is_secret_name(name):
        return value
    scheme, space, _ = value.partition(" ")
    return f"{scheme} {MASK}" if space else MASK


def _clean_parameters(text: str, is_known: Callable[[str], bool] | None) -> str:
    return "&".join(_clean_parameter(piece, is_known) for piece in text.split("&")) if "=" in text else text


def _clean_parameter(piece: str, is_known: Callable[[str], bool] | None) -> str:
    name, _, value = piece.partition("=")
    plain, content = unquote(name), unquote(value)
    secret = bool(value and is_known and is_secret_name(plain) and is_known(content))
    return f"{name}={MASK}" if secret or is_credential(plain, content) else piece


@dataclass(frozen=True)
class Scrub:
    """Says what may be written into a cassette. `Scrub.of()` is the usual way to make one.

    Requests are changed in the same way before they are compared, so a recording made with one key replays with another.

    Args:
        values: A mapping of each secret value to the placeholder that replaces it.
        request_headers: Patterns of the request headers that are written. Default: those that change the meaning of a request, such as `accept` and `content-type`.
        response_headers: Patterns of the answer's headers that are written. Default: those that clients read, such as `content-*`,
            `etag` and `retry-after`; no cookies and no ids of accounts.

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
            keep: Patterns of further header names to write, of requests and answers. Default: none.

        Returns:
            The scrub.

        Examples:
            >>> Scrub.of({"ACCOUNT": "acme-4711"}).text("hello acme-4711")
            'hello <ACCOUNT>'
        """
        names = tuple(name.lower() for name in keep)
        found = {value: f"<{name}>" for name, value in _from_environment().items()}
        found |= {value: f"<{name}>" for name, value in (secrets or {}).items() if value}
        return cls(found, REQUEST_HEADERS + names, RESPONSE_HEADERS + names)

    @cached_property
    def _replacer(self) -> Replacer:
        return Replacer(self.values)

    def text(self, text: str) -> str:
        """Returns the text with every secret value replaced by its placeholder, however the value is escaped.

        Args:
            text: Any text.

        Examples:
            >>> Scrub({"tk-93hf62kd": "<TOKEN>"}).text("The token is tk-93hf62kd.")
            'The token is <TOKEN>.'
        """
        return self._replacer.text(text)

    def url(self, url: str) -> str:
        """Returns the URL as it may be written: without user and password, and with secret parameters masked.

        Args:
            url: Any URL.

        Examples:
            >>> Scrub({}).url("https://ann:secret@api.example.com/me?password=1234")
            'https://api.example.com/me?password=REDACTED'
        """
        return self.text(clean_url(url, self._is_known)) if self.values else clean_url(url)

    def _is_known(self, value: str) -> bool:
        return self.text(value) != value

    def body(self, body: bytes, sizes: list[int] | None = None, coding: str = "") -> bytes:
        """Returns the body with every secret value replaced by its placeholder. One that is compressed stays, because other bytes would
        damage it; a secret in it is found before it is written.

        Args:
            body: The bytes of the body.
            sizes: The sizes in bytes of its chunks; the list is changed to fit the new body. Default: not needed.
            coding: Its content-encoding. Default: none.

        Examples:
            >>> Scrub({"tk-93hf62kd": "<TOKEN>"}).body(b'{"token": "tk-93hf62kd"}')
            b'{"token": "<TOKEN>"}'
        """
        return body if coding and is_coded(body, coding) else self._replacer.body(body, sizes)

    def request(self, headers: Iterable[tuple[str, str]]) -> Headers:
        """Returns the request headers that may be written.

        Args:
            headers: (name, value) pairs, names in lower case.

        Examples:
            >>> Scrub({}).request([("authorization", "Bearer tk-93hf62kd"), ("accept", "*/*")])
            [('accept', '*/*')]
        """
        return self._kept(headers, names(self.request_headers))

    def response(self, headers: Iterable[tuple[str, str]]) -> Headers:
        """Returns the answer's headers that may be written. The id of a session of MCP is masked.

        Args:
            headers: (name, value) pairs, names in lower case.

        Examples:
            >>> Scrub({}).response([("set-cookie", "id=7"), ("content-type", "application/json")])
            [('content-type', 'application/json')]
        """
        pairs = [*headers]
        sessions = [(name, MASK) for name, _ in pairs if name == _SESSION]
        return [*self._kept(pairs, names(self.response_headers)), *sessions]

    def head(self, reply: Reply) -> Reply:
        """Returns an answer whose reason phrase, and whose error, have no secret value.

        Args:
            reply: The answer.
        """
        failure = reply.failure
        if failure:
            said, refused = self.text(failure.message), self.text(failure.refused)
            failure = replace(failure, message=said, refused=refused)
        return replace(reply, reason=self.text(reply.reason), failure=failure)

    def metadata(self, given: Iterable[tuple[str, str]]) -> Headers:
        """Returns the metadata of a gRPC server that may be written: all but credentials, with secret values replaced.

        Args:
            given: (name, value) pairs, names in lower case.

        Examples:
            >>> Scrub({}).metadata([("authorization", "Bearer tk-93hf62kd"), ("region", "eu")])
            [('region', 'eu')]
        """
        return [(name, self.text(value)) for name, value in given if not is_secret_name(name)]

    def _kept(self, headers: Iterable[tuple[str, str]], allowed: Callable[[str], bool]) -> Headers:
        pairs = [(name, value) for name, value in headers if allowed(name) and not is_secret_name(name)]
        return [(name, self.text(clean_url(value) if name == "location" else value)) for name, value in pairs]


def _from_environment() -> dict[str, str]:
    named = [(name, os.environ.get(name, "")) for name in sorted(os.environ) if _ENV_NAME.search(name)]
    return {
        name: value
        for name, value in named
        if len(value) >= _SHORTEST and not _WEBISH.match(value) and " " not in value
    }
