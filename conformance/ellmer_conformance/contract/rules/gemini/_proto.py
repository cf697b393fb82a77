"""The paths and error texts of protobuf's JSON reader."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...readers.gemini import snake
from ...rule import Finding, broken, met

_INDEX = re.compile(r"/(\d+)(?=/|$)")


class Problem(NamedTuple):
    """A place (JSON pointer), its problem, and the API's line about it."""

    pointer: str
    problem: str
    message: str


def proto(pointer: str) -> str:
    """Returns `contents[0].parts[0].function_call.args` for a JSON pointer in either spelling."""
    return snake(_INDEX.sub(r"[\1]", pointer).strip("/").replace("/", "."))


def unknown_field(key: str, place: str = "", why: str = "Cannot find field.") -> tuple[str, str]:
    """Returns our sentence and the API's for a field that the message does not have, or not in this form."""
    at = f" at '{place}'" if place else ""
    return (
        f"there is no field `{key}` here",
        f'Invalid JSON payload received. Unknown name "{key}"{at}: {why}',
    )


def findings(problems: Sequence[Problem], end: str = "", **facts: str) -> Iterator[Finding]:
    """Yields a finding for each problem, each with the whole text, or one finding without a problem."""
    text = "\n".join(each.message for each in problems) + end
    for pointer, problem, _ in problems:
        yield broken(pointer, problem, text=text, **facts)
    if not problems:
        yield met("")
