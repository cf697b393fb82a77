"""What a pasted program does not show: the value of a variable or of a call. Its words in marks (`‹question›`) stand for it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ...contract import readers
from ...contract.observed.exchange import Request
from ...contract.readers.json_access import value_at
from ...contract.rule import Violation

__all__ = ["is_known", "is_unknown", "stands_for"]

_STANDS = re.compile(r"‹[^‹›]*›")
_LONGEST = 40
_LISTS = ("messages", "contents", "input")
#: Groups of rules about one message or one field, and those about all of its content. The others are about messages before and
#: after it, too.
_ALONE, _INSIDE = {"REQ", "OPT"}, {"EMP", "IMG", "SCH"}
#: The fields of a message that order it, and those that pair it with another.
_ORDER, _PAIR = {"role", "type"}, {"id", "tool_call_id", "tool_use_id", "toolUseId", "call_id", "name"}


def stands_for(words: str) -> str:
    """Returns the text that stands for a value.

    Args:
        words: The words of the program, such as the name of a variable.
    """
    plain = " ".join(re.sub("[‹›]", "", words[: 2 * _LONGEST]).split())
    return f"‹{plain if len(plain) <= _LONGEST else plain[:_LONGEST] + '…'}›"


def is_unknown(value: Any) -> bool:
    """Tells whether a value stands for another one.

    Args:
        value: A value of a body.
    """
    return isinstance(value, str) and bool(_STANDS.fullmatch(value))


def is_known(request: Request, violation: Violation) -> bool:
    """Tells whether a violation is one whatever the unknown values are.

    Args:
        request: The request, in which texts stand for unknown values.
        violation: A violation in it.
    """
    steps = violation.pointer.split("/")[1:]
    path = [request.body, *(value_at(request.body, steps[:end]) for end in range(1, len(steps) + 1))]
    nearest = next(each for each in reversed(path) if each is not None)
    if any(map(is_unknown, path)) or (isinstance(nearest, dict) and any(map(is_unknown, nearest))):
        return False
    group = violation.rule.group
    return group in _ALONE or not (_has_unknown(nearest) if group in _INSIDE else _open(request))


def _has_unknown(value: Any) -> bool:
    """Tells whether there is an unknown value anywhere in a value."""
    if isinstance(value, (dict, list)):
        return any(map(_has_unknown, value.values() if isinstance(value, dict) else value))
    return is_unknown(value)


@lru_cache(maxsize=1)
def _open(request: Request) -> bool:
    """Tells whether a message is unknown, or what orders and pairs it."""
    kinds = {each.kind for each in readers.read(request)}
    decisive = _ORDER | (_PAIR if {"call", "result"} <= kinds else set())  # without calls, no result has one
    lists = (request.body.get(name) for name in _LISTS)
    todo = [each for listed in lists if isinstance(listed, list) for each in listed]
    while todo:
        each = todo.pop()
        if is_unknown(each):
            return True
        if isinstance(each, list):
            todo += each
        elif isinstance(each, dict):
            todo += [v for k, v in each.items() if k in decisive or isinstance(v, (dict, list))]
            todo += [k for k in each if is_unknown(k)]
    return False
