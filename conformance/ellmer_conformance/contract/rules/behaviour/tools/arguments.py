"""The arguments of a tool call: the tool gets them as the model wrote them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ....observed_run import Run
from ....rule import Finding
from .._rulebook import LOSS, SHOULD, book, found


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

    Why: a rounded number is another number, and a rounded id names another record.
    """
    said = [run.approved(call) for _, calls in run.calls() for call in calls]
    wanted = [dict(given) for given in said if given is not None and _numbers(given)]
    if wanted and run.tool_runs:
        got = [dict(r.arguments) for r in run.tool_runs if _numbers(r.arguments)]
        same = _written(got) == _written(wanted)
        yield found(same, "/tool_runs", f"the tool got {got}, the model said {wanted}")


def _numbers(arguments: Any) -> bool:
    return any(isinstance(v, int | float) and not isinstance(v, bool) for v in dict(arguments).values())


def _written(values: list[dict[str, Any]]) -> str:
    """Returns JSON with exact numbers. A library may have converted a text."""
    return json.dumps(values, sort_keys=True, default=repr)
