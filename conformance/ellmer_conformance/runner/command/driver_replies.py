"""Reads a driver's output: one JSON object on a line for each step. Schema: `reply.schema.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...scenarios.messages import Reply

__all__ = ["DriverError", "Line", "NoReply", "read"]


class NoReply(ValueError):
    """A line is not a reply. The message gives the line and the reason."""


class DriverError(Exception):
    """An error that the driver reports. `status` is its HTTP status.

    Different error classes of the driver become different classes here. `nameless`: an error of the language or its
    standard library, which does not help the caller.
    """

    nameless = False

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


#: Errors of other languages that mean that the program, and not the API, has a problem.
_NAMELESS = frozenset(
    [
        "TypeError",
        "SyntaxError",
        "ReferenceError",
        "RangeError",
        "ValueError",
        "KeyError",
        "IndexError",
        "AttributeError",
        "JSONDecodeError",
        "UnicodeDecodeError",
        "NoMethodError",
        "NameError",
        "ParserError",
        "NullPointerException",
        "ClassCastException",
        "IndexOutOfBoundsException",
        "IllegalArgumentException",
        "SyntaxError",
        "panic",
    ]
)


def error_of(message: str, status: int | None, named: str | None) -> DriverError:
    """Returns the error of a reply, with the class that it names."""
    return _class(named)(message, status) if named else DriverError(message, status)


@cache
def _class(named: str) -> type[DriverError]:
    last = named.replace("::", ".").rpartition(".")[2]
    return type(last, (DriverError,), {"nameless": last in _NAMELESS})


@dataclass(frozen=True)
class Line:
    """One line: the reply and further fields. `ran` is `None` if the line does not list the tools that were run."""

    reply: Reply
    ran: Sequence[Mapping[str, Any]] | None = None
    transcript: str = ""
    names_its_error: bool = False


def read(stdout: str) -> list[Line]:
    """Returns all replies in the output. Raises NoReply. Blank lines are ignored."""
    lines = [(number, line) for number, line in enumerate(stdout.split("\n"), 1) if line.strip()]
    return [_line(number, line) for number, line in lines]


def _line(number: int, text: str) -> Line:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise _wrong(number, text, str(error)) from error
    if not isinstance(found, dict):
        raise _wrong(number, text, "it is not an object")
    for key, kinds in _KINDS.items():
        if not isinstance(found.get(key), (*kinds, type(None))):
            raise _wrong(number, text, f"{key} is a {type(found[key]).__name__}")
    return Line(
        _reply(found), found.get("ran"), found.get("transcript") or "", bool(found.get("error_class"))
    )


_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "stop": (str,),
    "complete": (bool,),
    "usage": (dict,),
    "error": (str,),
    "error_class": (str,),
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
        error=error_of(error, found.get("status"), found.get("error_class")) if error is not None else None,
        pieces=found.get("pieces") or (),
        value=found.get("value"),
    )


def _wrong(number: int, text: str, why: str) -> NoReply:
    return NoReply(
        f"line {number} of what the command printed is not a reply ({why}): {text[:120]!r}. "
        "Standard output is for replies as JSON lines; print everything else to standard error."
    )
