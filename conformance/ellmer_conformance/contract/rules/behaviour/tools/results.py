"""The form of tool results, the number of retries, and streaming in pieces."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from .....scenarios.script import Failure
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


@book.rule("ERR-012", MUST, LOSS, source="https://github.com/BerriAI/litellm/pull/7130")
def tries_stay_within_the_limit(run: Run) -> Iterator[Finding]:
    """A failed request is retried at most as often as the caller allows, and not at all if the caller allows none.

    Why: every attempt costs time and may cost money, and retries in two layers multiply.
    """
    failures = [step for step in run.case.script if isinstance(step, Failure)]
    if failures and not run.case.max_retries:
        asked = len(run.case.steps) + sum(ask.compacted for ask in run.case.steps)  # a request of its own
        sent = len(run.exchanges)
        problem = f"{sent} requests were sent for {asked} questions, and no retry was allowed"
        yield found(sent <= asked or bool(run.case.tools), "/exchanges", problem)


@book.rule("STR-021", SHOULD, LOSS, source="https://github.com/yagil/tokmon/issues/4")
def streams_are_handed_over_as_they_come(run: Run) -> Iterator[Finding]:
    """A caller who streams gets a long answer in pieces while it arrives, not all at the end.

    Why: the caller streams in order to show the answer early. Not judged if the library does not request a
    stream.
    """
    if "stream" not in run.mode or not run.streamed:
        return
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if (
            wanted.outcome == "answered"
            and reply.error is None
            and reply.pieces
            and len(wanted.text.split()) > 5
        ):
            fine = sum(bool(piece) for piece in reply.pieces) > 1
            yield found(fine, f"/replies/{index}", f"{len(wanted.text)} characters came in one piece")


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
