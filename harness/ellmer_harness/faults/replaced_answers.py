"""What comes instead of the recorded answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..exchange.messages import Failure
from ..exchange.reply import Piece, Reply
from .fault import Fault

__all__ = ["ConnectError", "ConnectTimeout", "PoolTimeout", "Status", "WriteTimeout"]


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
        plain = isinstance(self.body, bytes | str)
        data = self.body if plain else json.dumps(self.body)
        fields = {} if plain else {"content-type": "application/json"}
        fields |= {name.lower(): value for name, value in self.headers.items()}
        data = data.encode() if isinstance(data, str) else data
        return replace(
            reply, status=self.code, headers=[*fields.items()], pieces=[Piece(data)] if data else []
        )


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
