"""What a driver prints: one JSON object a line for each step. Schema: `reply.schema.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...scenarios.messages import Reply

__all__ = ["DriverError", "Line", "NoReply", "read"]


class NoReply(ValueError):
    """A line that is no reply; the message says which, and why."""


class DriverError(Exception):
    """What the driver says was raised. `status` is the HTTP status it names."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Line:
    """One line: the reply, and what else it tells. `ran` is None where it does not say which tools were run."""

    reply: Reply
    ran: Sequence[Mapping[str, Any]] | None = None
    transcript: str = ""


def read(stdout: str) -> list[Line]:
    """Every reply that was printed. Raises NoReply; blank lines count for nothing."""
    lines = [(number, line) for number, line in enumerate(stdout.split("\n"), 1) if line.strip()]
    return [_line(number, line) for number, line in lines]


def _line(number: int, text: str) -> Line:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise _wrong(number, text, str(error)) from error
    if not isinstance(found, dict):
        raise _wrong(number, text, "it is no object")
    for key, kinds in _KINDS.items():
        if not isinstance(found.get(key), (*kinds, type(None))):
            raise _wrong(number, text, f"{key} is a {type(found[key]).__name__}")
    return Line(_reply(found), found.get("ran"), found.get("transcript") or "")


_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "stop": (str,),
    "complete": (bool,),
    "usage": (dict,),
    "error": (str,),
    "status": (int,),
    "pieces": (list,),
    "ran": (list,),
    "transcript": (str,),
}


def _reply(found: Mapping[str, Any]) -> Reply:
    error = found.get("error")
    return Reply(
        text=found.get("text") or "",
        stop=found.get("stop"),
        complete=found.get("complete", error is None) is not False,
        usage=found.get("usage") or {},
        error=DriverError(error, found.get("status")) if error is not None else None,
        pieces=found.get("pieces") or (),
    )


def _wrong(number: int, text: str, why: str) -> NoReply:
    return NoReply(
        f"line {number} of what the command printed is no reply ({why}): {text[:120]!r}. "
        "Standard output is for replies as JSON lines; print everything else to standard error."
    )
