"""What comes instead of the recorded answer."""

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
from .fault import Fault

__all__ = ["ConnectError", "ConnectTimeout", "PoolTimeout", "Status", "WriteTimeout", "override"]


@dataclass(frozen=True)
class Status(Fault):
    """An answer of the provider's gateway instead: `Status(529)`, `Status(429, headers={"retry-after": "1"})`.

    `body` is bytes, text, or a value to send as JSON.
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
    """Parts of an answer in the place of what was recorded; None leaves a part as it is."""

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
        kept = [pair for pair in reply.headers if pair[0] not in gone]
        if data is not None:
            fields["content-length"] = str(len(data))
            reply = replace(reply, pieces=[Piece(data)] if data else [], ended="eof", failure=None)
        status = self.status if self.status is not None else reply.status or 200
        reason = reply.reason if status == reply.status else ""
        return replace(reply, status=status, reason=reason, headers=[*kept, *fields.items()])


def override(
    when: str | Callable[[Sent], bool],
    status: int | None,
    body: Any,
    headers: Mapping[str, str] | None,
    times: int | None,
) -> Fault:
    """What `Tape.replace` adds to the faults of a tape."""
    asked = partial(_has_url, when) if isinstance(when, str) else when
    often = sys.maxsize if times is None else times
    return _Override(status=status, body=body, headers=headers or {}, times=often, when=asked)


def _has_url(pattern: str, sent: Sent) -> bool:
    return fnmatchcase(sent.url, pattern)


def _as_sent(body: Any) -> tuple[dict[str, str], bytes]:
    """The headers that go with a body, and its bytes."""
    if isinstance(body, bytes):
        return {}, body
    if isinstance(body, str):
        return {}, body.encode()
    return {"content-type": "application/json"}, json.dumps(body).encode()


@dataclass(frozen=True)
class _NoAnswer(Fault):
    """The client's exception of the same name, before any answer."""

    answers: ClassVar[bool] = True
    message: ClassVar[str] = "timed out"

    def change(self, reply: Reply) -> Reply:
        return replace(reply, status=0, ended="error", failure=Failure(type(self).__name__, self.message))


class ConnectTimeout(_NoAnswer):
    """The connection did not come about in time."""


class ConnectError(_NoAnswer):
    """The connection was refused."""

    message: ClassVar[str] = "[Errno 111] Connection refused"


class WriteTimeout(_NoAnswer):
    """The request could not be written in time."""


class PoolTimeout(_NoAnswer):
    """No connection of the pool became free in time."""
