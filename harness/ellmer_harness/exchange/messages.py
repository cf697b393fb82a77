"""Requests and answers as plain values, as a run sent and received them.

Header names are lower-case. The values of credential headers and of secret query parameters are masked, so
that a failing test can print any of these values into a log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ellmer_core.base.forks import cached_property

from ..format.compression import undo

Headers = list[tuple[str, str]]
Ended = Literal["", "eof", "closed", "error"]


@dataclass(frozen=True)
class Sent:
    """A request as the code under test built it, before any routing. Secrets in the URL and in headers are masked.

    Args:
        method: The HTTP method, in capitals.
        url: The URL with its query.
        headers: The headers, names in lower case.
        body: The bytes of the body; `json` is the parsed body, and raises `ValueError` if it is not JSON.


    Examples:
        >>> with use_cassette("weather.json") as cassette:
        ...     answer = httpx.get("https://api.example.com/weather")
        >>> cassette.sent[0]
        Sent(method='GET', url='https://api.example.com/weather')
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @cached_property
    def json(self) -> Any:
        """The parsed body. Raises `ValueError` if it is not JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Failure:
    """An exception that the HTTP client raised instead of an answer, or in the middle of one.

    Args:
        error: The name of its class: `ReadTimeout`, `ConnectError`, …
        message: Its message. Default: none.
        refused: The bytes that the client did not accept as HTTP, as text in latin-1. Default: none.

    Examples:
        >>> Failure("ReadTimeout", "timed out")
        Failure(error='ReadTimeout', message='timed out')
    """

    error: str
    message: str = ""
    refused: str = field(default="", repr=False)


@dataclass
class Exchange:
    """A request and its answer, as far as the client read it.

    `body` is the answer's bytes as they came, `content` the same decompressed, and `json` the parsed content.

    Args:
        sent: The request.
        status: The HTTP status; 0 if no answer came. Default: 0.
        reason: The phrase of the status line. Default: `""`.
        headers: The answer's headers as (name, value) pairs, names in lower case; a name may come more than once.
            Default: empty.
        chunks: The body in the chunks in which the client got it. Default: empty.
        ended: How the body ended: `eof`, `closed` (the client stopped reading), `error` (`failure` says which), or `""`
            while it is open. Default: `""`.
        failure: The exception that the client got, if any. Default: `None`.
        played: Whether the answer came from the cassette. Default: `False`.
        http_version: The version of HTTP, for example `HTTP/2`. Default: `"HTTP/1.1"`.


    Examples:
        >>> with use_cassette("weather.json") as cassette:
        ...     answer = httpx.get("https://api.example.com/weather")
        >>> cassette.exchanges[0].status, cassette.exchanges[0].played
        (200, True)
        >>> cassette.exchanges[0].json
        {'temperature': 21}
    """

    sent: Sent
    status: int = 0
    reason: str = ""
    headers: Headers = field(default_factory=list, repr=False)
    chunks: list[bytes] = field(default_factory=list, repr=False)
    ended: Ended = ""
    failure: Failure | None = None
    played: bool = False
    http_version: str = "HTTP/1.1"

    @property
    def body(self) -> bytes:
        """The bytes that the client received, with their content-encoding."""
        return b"".join(self.chunks)

    @property
    def answered(self) -> bool:
        """Whether the client received an answer or an exception."""
        return bool(self.status) or self.failure is not None

    @property
    def content(self) -> bytes:
        """The body with its content-encoding undone."""
        return undo(self.body, self.header("content-encoding"))

    @property
    def json(self) -> Any:
        """The parsed content. Raises `ValueError` if it is not JSON."""
        return json.loads(self.content)

    def header(self, name: str) -> str:
        """Returns the values of a header of the answer, joined with a comma; `""` if there is none.

        Args:
            name: The header's name, in any case.

        Examples:
            >>> with use_cassette("weather.json") as cassette:
            ...     answer = httpx.get("https://api.example.com/weather")
            >>> cassette.exchanges[0].header("Content-Type")
            'application/json'
        """
        return ", ".join(value for key, value in self.headers if key == name.lower())
