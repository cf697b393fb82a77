"""Faults that replace the recorded answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, ClassVar

from ..exchange.messages import Failure, Sent
from ..exchange.reply import Piece, Reply
from .fault_schedule import Fault


@dataclass(frozen=True)
class Status(Fault):
    """Another answer comes instead of the recorded one, as from the provider's gateway.

    Args:
        code: The HTTP status.
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.
        headers: The answer's headers. Default: none.
        body: Bytes, text, or a value to send as JSON. Default: empty.

    Examples:
        >>> from ellmer_harness.faults import Status
        >>> with use_cassette("weather.json", faults=[Status(429, headers={"retry-after": "2"})]):
        ...     [httpx.get("https://api.example.com/weather").status_code for _ in range(2)]
        [429, 200]
    """

    code: int
    headers: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    body: Any = field(default=b"", kw_only=True)

    answers: ClassVar[bool] = True

    def change(self, reply: Reply) -> Reply:
        fields, data = _as_sent(self.body)
        fields |= {name.lower(): value for name, value in self.headers.items()}
        return replace(
            reply, status=self.code, headers=[*fields.items()], pieces=[Piece(data)] if data else []
        )


@dataclass(frozen=True)
class _Override(Fault):
    """New parts of an answer. `None` keeps the recorded part."""

    status: int | None = field(kw_only=True)
    body: Any = field(kw_only=True)
    headers: Mapping[str, str] = field(kw_only=True)

    alone: ClassVar[bool] = True
    spends: ClassVar[bool] = True

    def change(self, reply: Reply) -> Reply:
        fields, data = ({}, None) if self.body is None else _as_sent(self.body)
        fields |= {name.lower(): value for name, value in self.headers.items()}
        gone = {*fields} | (
            {"content-length", "content-encoding", "transfer-encoding"} if data is not None else set()
        )
        headers = [pair for pair in reply.headers if pair[0] not in gone]
        if data is not None:
            fields["content-length"] = str(len(data))
            reply = replace(reply, pieces=[Piece(data)] if data else [], ended="eof", failure=None)
        status = self.status if self.status is not None else reply.status or 200
        reason = reply.reason if status == reply.status else ""
        return replace(reply, status=status, reason=reason, headers=[*headers, *fields.items()])


def override(
    when: str | Callable[[Sent], bool],
    status: int | None,
    body: Any,
    headers: Mapping[str, str] | None,
    times: int | None,
) -> Fault:
    """Returns the fault that `Cassette.replace` adds to a cassette."""
    asked = partial(_has_url, when) if isinstance(when, str) else when
    often = sys.maxsize if times is None else times
    return _Override(status=status, body=body, headers=headers or {}, times=often, when=asked)


def _has_url(pattern: str, sent: Sent) -> bool:
    return fnmatchcase(sent.url, pattern)


def _as_sent(body: Any) -> tuple[dict[str, str], bytes]:
    """Returns the bytes of a body and the headers that fit it."""
    if isinstance(body, bytes):
        return {}, body
    if isinstance(body, str):
        return {}, body.encode()
    return {"content-type": "application/json"}, json.dumps(body).encode()


@dataclass(frozen=True)
class _NoAnswer(Fault):
    """Raises the client's exception of the same name before any answer."""

    answers: ClassVar[bool] = True
    message: ClassVar[str] = "timed out"

    def change(self, reply: Reply) -> Reply:
        return replace(reply, status=0, ended="error", failure=Failure(type(self).__name__, self.message))


class ConnectTimeout(_NoAnswer):
    """The connection was not established in time.

    Args:
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.

    Examples:
        >>> from ellmer_harness.faults import ConnectTimeout
        >>> with use_cassette("weather.json", faults=[ConnectTimeout()]):
        ...     try:
        ...         httpx.get("https://api.example.com/weather")
        ...     except httpx.ConnectTimeout as error:
        ...         print(error)
        ...     httpx.get("https://api.example.com/weather").json()
        timed out
        {'temperature': 21}
    """


class ConnectError(_NoAnswer):
    """The connection was refused.

    Args:
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.

    Examples:
        >>> from ellmer_harness.faults import ConnectError
        >>> with use_cassette("weather.json", faults=[ConnectError()]):
        ...     try:
        ...         httpx.get("https://api.example.com/weather")
        ...     except httpx.ConnectError as error:
        ...         print(error)
        ...     httpx.get("https://api.example.com/weather").json()
        [Errno 111] Connection refused
        {'temperature': 21}
    """

    message: ClassVar[str] = "[Errno 111] Connection refused"


class WriteTimeout(_NoAnswer):
    """The request could not be written in time.

    Args:
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.

    Examples:
        >>> from ellmer_harness.faults import WriteTimeout
        >>> with use_cassette("weather.json", faults=[WriteTimeout()]):
        ...     try:
        ...         httpx.get("https://api.example.com/weather")
        ...     except httpx.WriteTimeout as error:
        ...         print(error)
        ...     httpx.get("https://api.example.com/weather").json()
        timed out
        {'temperature': 21}
    """


class PoolTimeout(_NoAnswer):
    """No connection of the pool became free in time.

    Args:
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.

    Examples:
        >>> from ellmer_harness.faults import PoolTimeout
        >>> with use_cassette("weather.json", faults=[PoolTimeout()]):
        ...     try:
        ...         httpx.get("https://api.example.com/weather")
        ...     except httpx.PoolTimeout as error:
        ...         print(error)
        ...     httpx.get("https://api.example.com/weather").json()
        timed out
        {'temperature': 21}
    """
