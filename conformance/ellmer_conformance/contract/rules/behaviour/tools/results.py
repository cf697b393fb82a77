"""The form of tool results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ....observed_run import Run, call_key
from ....rule import Finding
from .._rulebook import LOSS, MUST, SHOULD, at, book, found


@book.rule("PAIR-030", SHOULD, LOSS, source="https://github.com/microsoft/autogen/pull/7873")
def structured_results_are_json(run: Run) -> Iterator[Finding]:
    """An object or list from a tool reaches the model as equivalent JSON.

    Why: Python's `repr` has quotes and names, such as `None`, that are not JSON.
    """
    values = {
        call_key(r.name, r.arguments): r.value
        for r in run.tool_runs
        if isinstance(r.value, dict | list) and r.value and _is_plain(r.value)
    }
    for index, items in enumerate(run.said) if values else ():
        ids = Counter(item.id for item in items if item.kind == "call")
        calls = {item.id: item for item in items if item.kind == "call" and ids[item.id] == 1 and item.id}
        for item in items:
            call = calls.get(item.id) if item.kind == "result" else None
            key = call_key(call.name, call.arguments) if call else ""
            if key in values:
                problem = f"{values[key]!r} was sent as {item.text[:120]!r}"
                yield found(_holds(item.text, values[key]), at(index, item), problem)


@book.rule("PAIR-011", MUST, LOSS, source="https://github.com/posit-dev/positron/issues/7770")
def nothing_is_a_result(run: Run) -> Iterator[Finding]:
    """`None`, `""`, `0`, `False`, `[]` and `{}` are sent as results, and numbers and booleans stay readable.

    Why: a result that is left out because it is empty leaves its call without an answer.
    """
    values = {
        call_key(r.name, r.arguments): r.value for r in run.tool_runs if not r.value and r.error is None
    }
    for index, items in enumerate(run.said):
        calls = {item.id or item.name: item for item in items if item.kind == "call"}
        results = [item for item in items if item.kind == "result"]
        for item in results:
            call = calls.get(item.id or item.name)
            key = call_key(call.name, call.arguments) if call else ""
            if key in values and isinstance(values[key], bool | int):
                legible = str(values[key]).lower() in item.text.lower()
                yield found(legible, at(index, item), f"{values[key]!r} was sent as {item.text!r}")
            elif key in values:
                yield found(True, at(index, item), "")


def _is_plain(value: Any) -> bool:
    """Tells whether a value is plain JSON without media."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(each) for key, each in value.items())
    if isinstance(value, list):
        return all(_is_plain(each) for each in value)
    return value is None or isinstance(value, str | int | float | bool)


def _holds(text: str, value: Any) -> bool:
    """Tells whether the text is the value as JSON, or contains it under a key, as some formats need."""
    try:
        read = json.loads(text)
    except ValueError:
        return False
    return read == value or (isinstance(read, dict) and value in read.values())
