"""Changes that repair a request: a field under its new name, a field or a part left out, a message moved.

A change is proposed only if the rules were asked: the request with the change keeps the rule, and breaks no other one more
often. It is an operation of JSON Patch (RFC 6902).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..contract.request import Request
from ..contract.rule import Violation
from ..contract.rulebook import RuleBook

Change = dict[str, str]

#: Fields that got another name.
_RENAMED = {"max_tokens": "max_completion_tokens", "functions": "tools", "function_call": "tool_choice"}
#: Fields that carry what a message says. Without them it is another message.
_ESSENTIAL = {
    *("model", "messages", "input", "contents", "content", "parts", "text", "role", "type", "id", "name"),
    *("tool_calls", "tool_call_id", "tool_use_id", "call_id", "arguments", "function", "functionCall"),
    *("functionResponse", "toolUse", "toolResult", "source", "image_url", "output", "system", "schema"),
}
_OPTIONAL = {"REQ", "SCH", "EMP"}  # groups of rules about fields that may be left out
_ORDERED = {"ORD", "PAIR"}  # groups of rules about the order of messages
_FAR = 8  # places that a message is moved at most


def fix_of(book: RuleBook, request: Request, violation: Violation) -> tuple[Change, ...]:
    """Returns the first change after which the rule is kept, or nothing."""
    before = _broken(book, request)
    for change in _attempts(request.body, violation):
        body = _changed(request.body, change)
        after = _broken(book, replace(request, body=body))
        if after[violation.rule.id] < before[violation.rule.id] and after <= before:
            return (change,)
    return ()


def _broken(book: RuleBook, request: Request) -> Counter[str]:
    return Counter({verdict.rule.id: len(verdict.violations) for verdict in book.judge(request)})


def _attempts(body: Any, violation: Violation) -> Iterator[Change]:
    steps, group = violation.pointer.split("/")[1:], violation.rule.group
    owner = _at(body, steps[:-1]) if steps else None
    if isinstance(owner, dict) and steps[-1] in owner and group in _OPTIONAL:
        if (name := _RENAMED.get(steps[-1])) and name not in owner:
            yield {"op": "move", "from": violation.pointer, "path": _pointer([*steps[:-1], name])}
        if steps[-1] not in _ESSENTIAL:
            yield {"op": "remove", "path": violation.pointer}
    if group == "EMP":
        yield from _without_part(body, steps)
    if group in _ORDERED:
        yield from _moved(body, steps)


def _without_part(body: Any, steps: list[str]) -> Iterator[Change]:
    """Yields the removal of the innermost part of a list that has others."""
    for end in range(len(steps), 2, -1):
        owner = _at(body, steps[: end - 1])
        if isinstance(owner, list) and len(owner) > 1 and steps[end - 1].isdigit():
            yield {"op": "remove", "path": _pointer(steps[:end])}
            return


def _moved(body: Any, steps: list[str]) -> Iterator[Change]:
    """Yields moves of the message that a pointer leads into, the shortest first."""
    messages = _at(body, steps[:1])
    if not isinstance(messages, list) or len(steps) < 2 or not steps[1].isdigit():
        return
    here = int(steps[1])
    for far in range(1, _FAR + 1):
        for there in (here - far, here + far):
            if 0 <= there < len(messages):
                yield {"op": "move", "from": f"/{steps[0]}/{here}", "path": f"/{steps[0]}/{there}"}


# --- Pointers --------------------------------------------------------------------------------------------


def _at(value: Any, steps: list[str]) -> Any:
    """Returns the value at a pointer, `None` if there is none."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(_plain(step))
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _plain(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def _pointer(steps: list[str]) -> str:
    return "".join(f"/{step}" for step in steps)


def _changed(body: Any, change: Change) -> Any:
    """Returns a copy of the body with the change."""
    source = change.get("from", change["path"]).split("/")[1:]
    taken = _at(body, source)
    without = _edited(body, source, None)
    return _edited(without, change["path"].split("/")[1:], [taken]) if change["op"] == "move" else without


def _edited(value: Any, steps: list[str], added: list[Any] | None) -> Any:
    """Returns a copy without the value at a pointer, or with a value added there. Only the way to it is copied."""
    step, rest = _plain(steps[0]), steps[1:]
    if isinstance(value, list):
        at = int(step)
        inner = [_edited(value[at], rest, added)] if rest else (added or [])
        return [*value[:at], *inner, *value[at + (1 if rest or added is None else 0) :]]
    if rest:
        return {**value, step: _edited(value[step], rest, added)}
    if added is None:
        return {key: each for key, each in value.items() if key != step}
    return {**value, step: added[0]}
