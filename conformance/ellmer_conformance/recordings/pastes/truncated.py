"""Reads a request whose end is missing, because a terminal, a log or a form cut the text: as far as its messages are whole."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...contract import readers
from ...contract.observed.exchange import Request
from ...contract.readers.json_access import value_at
from ...contract.rule import Violation

__all__ = ["completed", "is_certain"]

_CLOSES = {"{": "}", "[": "]", "(": ")"}
_TOKEN = re.compile(r"\\.|[\"'{}\[\](),]", re.DOTALL)
#: A list of a body, and the beginning of a paste's value.
_LISTED = re.compile(r"[\"']?\b(?:messages|contents|input|tools)[\"']?\s*(?::|=>|=)\s*\Z")
_OPENS = re.compile(r"[{\[]")
#: Groups of rules that only the whole request can break, and those that are about what follows a message.
_WHOLE = {"THK", "TRM", "PAR"}
_ORDERED = {"ORD", "PAIR"}
_NAME = 60  # characters before a bracket, in which its name is
_DEEPEST = 100  # brackets in brackets
_TRIED = 20  # brackets that may be the beginning


@dataclass
class _Bracket:
    """A bracket that is open: its place, the place of the last comma in it, and whether a list of messages was closed in it."""

    at: int
    kind: str
    comma: int = 0
    is_body: bool = False


def completed(text: str) -> str:
    """Returns the text up to the last whole message or field of a request that is open at its end, with its brackets closed. It is
    empty if there is no such request.

    Args:
        text: The paste.
    """
    begins = (match.start() for match in _OPENS.finditer(text))
    for begin, _ in zip(begins, range(_TRIED), strict=False):
        brackets = _open(text, begin)
        for depth, each in enumerate(brackets, 1):
            if each.kind == "[" and _LISTED.search(text, max(0, each.at - _NAME), each.at):
                return _closed(text, brackets[:depth])
        for depth, each in enumerate(brackets, 1):
            if each.is_body:
                return _closed(text, brackets[:depth])
    return ""


def _closed(text: str, brackets: list[_Bracket]) -> str:
    while len(brackets) > 1 and not brackets[-1].comma:  # a list without a whole message
        brackets = brackets[:-1]
    last = brackets[-1]
    return text[: last.comma or last.at + 1] + "".join(_CLOSES[each.kind] for each in reversed(brackets))


def _open(text: str, begin: int) -> list[_Bracket]:
    """Returns the brackets that are open at the end of a value that begins there, the outermost first."""
    found: list[_Bracket] = []
    quote = ""
    for match in _TOKEN.finditer(text, begin):
        mark = match[0]
        if quote or mark in "\"'":
            quote = "" if mark == quote else quote or mark
        elif mark in _CLOSES:
            if len(found) == _DEEPEST:
                return []
            found.append(_Bracket(match.start(), mark))
        elif mark == ",":
            found[-1].comma = match.start()
        elif mark in ")]}":
            closed = found.pop()
            if not found:
                return []
            found[-1].is_body |= bool(_LISTED.search(text, max(0, closed.at - _NAME), closed.at))
    return found


def is_certain(request: Request, violation: Violation) -> bool:
    """Tells whether a violation would be one whatever follows the end of the text: a field, or the results of the last calls.

    Args:
        request: The request, as far as it is whole.
        violation: A violation in it.
    """
    place, group = violation.pointer, violation.rule.group
    steps = place.split("/")[1:]
    if (
        len(steps) < 2
        or group in _WHOLE
        or len(request.body[steps[0]]) < 2
        or value_at(request.body, steps) is None
    ):
        return False
    return group not in _ORDERED or not any(_under(place, each) for each in _open_at_end(request))


def _open_at_end(request: Request) -> list[str]:
    """Returns the places that what follows may complete: the last calls and the last message."""
    items = readers.read(request)
    between = [n for n, each in enumerate(items, 1) if each.kind not in ("call", "result")]
    last = (
        between[-1] if between and request.wire != "openai-responses" else 0
    )  # where a result may come any time later
    calls = [each.pointer for each in items[last:] if each.kind == "call"]
    return [
        *calls,
        *(_message(each) for each in calls),
        *(_message(each.pointer) for each in items[-1:] if each.kind != "result"),
    ]


def _message(place: str) -> str:
    return "/".join(place.split("/")[:3])


def _under(place: str, other: str) -> bool:
    return place == other or place.startswith(f"{other}/")
