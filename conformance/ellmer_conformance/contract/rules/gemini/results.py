"""Rules about function responses: the values beside their text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...exchange import Request
from ...readers.gemini import contents, get, key_of, parts, repeated
from ...rule import Finding, broken, met
from ._rulebook import ASK, MUST, REJECT, TOOLS, answer, body, book, call, model, refused, user

_SCHEMA = {"properties": {"x": {"$ref": "#/$defs/X"}}, "$defs": {"X": {"type": "string"}}}
_WRITTEN = {"properties": {"x": {"_ref": "#/$defs/X"}}}


@book.rule(
    "TRM-017",
    MUST,
    REJECT,
    source=[
        "https://github.com/vercel/ai/issues/14369",
        "https://github.com/twentyhq/twenty/issues/21712 (whatever the model)",
        "https://github.com/googleapis/python-genai/issues/2792",
    ],
    refusal=refused(
        "The referenced name `{name}` in function_response.response does not match to a display_name in the "
        "function_response.parts."
    ),
    examples=[body(ASK, model(call()), user(answer(response=_WRITTEN)), tools=TOOLS)],
    counterexamples=[body(ASK, model(call()), user(answer(response=_SCHEMA)), tools=TOOLS)],
)
def references_name_a_part(request: Request) -> Iterator[Finding]:
    """In the response of a function, `$ref` names a part of the same response by its display name.

    Why: the API takes each `$ref` for such a name, wherever it stands. Fix: send a result that contains a JSON Schema as text.
    """
    for pointer, content in contents(request.body):
        for place, part in parts(content, pointer):
            given = get(part, "functionResponse")
            if not isinstance(given, dict):
                continue
            shown = {_display_name(each) for _, each in repeated(given, "parts", place)}
            lost = [name for name in _names(given.get("response")) if name not in shown]
            where = f"{place}/{key_of(part, 'functionResponse')}/response"
            yield broken(where, f"{lost[0]} names no part", name=lost[0]) if lost else met(where)


def _display_name(part: Any) -> Any:
    return get(get(part, "inlineData"), "displayName") or get(get(part, "fileData"), "displayName")


def _names(value: Any) -> Iterator[str]:
    """Yields the names in all values of `$ref`, at any depth."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from _names(each)
    elif isinstance(value, list):
        for each in value:
            yield from _names(each)
