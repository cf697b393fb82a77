"""Requests and answers as plain values: what a run really sent, and what it really got.

Header names are lower-case. The values of credential headers and of secret query parameters are masked, so
that a failing test can print any of these values into a log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from ..format.compression import undo

__all__ = ["Ended", "Exchange", "Failure", "Headers", "Sent"]

Headers = list[tuple[str, str]]
Ended = Literal["", "eof", "closed", "error"]


@dataclass(frozen=True)
class Sent:
    """A request as the code under test built it, before any routing."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @cached_property
    def json(self) -> Any:
        """The body, parsed; raises `ValueError` if it is not JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Failure:
    """An exception of the HTTP client, by the name of its class (`ReadTimeout`, `ConnectError`, …)."""

    error: str
    message: str = ""


@dataclass
class Exchange:
    """A request and its answer, as far as the client read it.

    `status` is 0 when no answer came. `ended` says how the body stopped: `eof`, `closed` (the client had
    enough), `error` (then `failure` says which), or `""` while it is still open. `played` is True when the
    answer came from the cassette.
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
        """The bytes the client got, in the content-encoding they came in."""
        return b"".join(self.chunks)

    @property
    def answered(self) -> bool:
        """Whether anything came back, be it an exception."""
        return bool(self.status) or self.failure is not None

    @property
    def content(self) -> bytes:
        """The body with its content-encoding undone."""
        return undo(self.body, self.header("content-encoding"))

    @property
    def json(self) -> Any:
        """The content, parsed; raises `ValueError` if it is not JSON."""
        return json.loads(self.content)

    def header(self, name: str) -> str:
        """The values of a header, joined with a comma; `""` if there is none."""
        return ", ".join(value for key, value in self.headers if key == name.lower())
