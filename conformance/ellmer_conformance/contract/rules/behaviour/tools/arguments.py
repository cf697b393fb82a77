"""The arguments of a tool call: the tool gets them as the model wrote them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ....observed.run import Run
from ....rule import Finding
from .._rulebook import LOSS, MUST, SHOULD, book, found, last


@book.rule(
    "UNI-003",
    SHOULD,
    LOSS,
    source=[
        "https://www.rfc-editor.org/rfc/rfc8259#section-6",
        "https://github.com/earendil-works/pi/issues/8943",
    ],
)
def numbers_keep_their_value(run: Run) -> Iterator[Finding]:
    """Large integers, -0.0 and long fractions in arguments reach the tool unchanged.

    Why: a rounded number is another number, and a rounded id names another record. Fix: parse arguments with a JSON
    reader that keeps whole numbers, and do not convert them to floats.
    """
    approved = [run.approved(call) for _, calls in run.calls() for call in calls]
    wanted = [dict(arguments) for arguments in approved if arguments is not None and _numbers(arguments)]
    if wanted and run.tool_runs:
        got = [dict(r.arguments) for r in run.tool_runs if _numbers(r.arguments)]
        same = _written(got) == _written(wanted)
        yield found(same, "/tool_runs", f"the tool got {got}, the model said {wanted}")


@book.rule(
    "UNI-004",
    MUST,
    LOSS,
    source=[
        "https://www.rfc-editor.org/rfc/rfc8259#section-6",
        "https://github.com/earendil-works/pi/issues/8943",
    ],
)
def whole_numbers_keep_their_digits(run: Run) -> Iterator[Finding]:
    """Every digit of a whole number reaches the tool, and every digit of the tool's result reaches the model.

    Why: 9007199254740993 becomes 9007199254740992 as a float, which may be the id of another record. Fix: read JSON with integers.
    UNI-003 judges programs in languages whose numbers are exact only up to 2^53.
    """
    approved = [run.approved(call) for _, calls in run.calls() for call in calls]
    wanted = {n for arguments in approved if arguments is not None for n in _whole(arguments)}
    got = {n for each in run.tool_runs for n in _whole(dict(each.arguments))}
    if wanted and run.tool_runs and run.way != "command":
        lost = sorted(wanted - got)
        yield found(not lost, "/tool_runs", f"the tool did not get {', '.join(map(str, lost))}")
    returned = [n for each in run.tool_runs if each.error is None for n in _whole(each.value)]
    results = " ".join(item.text for items in run.sent_items for item in items if item.kind == "result")
    for number in returned if results else ():
        yield found(str(number) in results, last(run), f"the tool returned {number}, and no result has it")


_LARGE = 2**53


def _whole(value: Any) -> Iterator[int]:
    """Yields the whole numbers in a value that a float does not hold."""
    if isinstance(value, Mapping):
        value = list(value.values())
    for each in value if isinstance(value, list | tuple) else ():
        yield from _whole(each)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGE:
        yield value


def _numbers(arguments: Any) -> bool:
    return any(isinstance(v, int | float) and not isinstance(v, bool) for v in dict(arguments).values())


def _written(values: list[dict[str, Any]]) -> str:
    """Returns JSON with exact numbers. A library may have converted a text."""
    return json.dumps(values, sort_keys=True, default=repr)
