"""Structured output: a value with a schema, and the errors that may replace it."""

from __future__ import annotations

from ..case import Case, Mode, ask, case
from ..script import Answer, Call, Say, StructuredAnswer, Usage
from ._media_and_tools import weather

_PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
_ADA = {"name": "Ada Łovelace", "age": 36}
_REPORT = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["place", "degrees"],
    "additionalProperties": False,
}
_PARIS = {"place": "Paris", "degrees": 21}
_NOTE = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["how-to", "reference"], "description": "What it is for."},
        "text": {"type": "string", "description": "The note, in Markdown."},
        "tags": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Its tags; none if there are none.",
        },
        "number": {"type": "integer", "description": "Its number."},
        "open": {"type": "boolean", "description": "Whether it is open."},
    },
    "required": ["kind", "text", "tags", "number", "open"],
    "additionalProperties": False,
}
#: Strings that look like the frame around a value, and a number that is not exact as a float.
_FENCED = 'Send it so:\n```json\n{"as": "it is"}\n```\n  And "then"? \\n {{name}} <b>'
_HOW_TO = {"kind": "how-to", "text": _FENCED, "tags": ["", "json"], "number": 2**53 + 1, "open": False}
_NEEDS = frozenset({"structured"})
_SYNC: tuple[Mode, ...] = ("sync", "async")


@case
def structured_answer() -> Case:
    """A value that matches its schema is returned unchanged."""
    return Case(
        everywhere=True,
        needs=_NEEDS,
        modes=_SYNC,
        script=[StructuredAnswer(_ADA, Usage(40, 12))],
        steps=[ask("Who wrote the first program?", schema=_PERSON, value=_ADA)],
    )


@case
def structured_note() -> Case:
    """A value has an enum, a list, descriptions, a large number, and a text with a fence: its schema is sent whole, and the value is
    returned unchanged.
    """
    return Case(
        on_server=True,
        printed_alike=False,
        needs=_NEEDS,
        modes=_SYNC,
        script=[StructuredAnswer(_HOW_TO, Usage(90, 40))],
        steps=[ask("How is a request sent? As a note.", schema=_NOTE, value=_HOW_TO)],
    )


_LIFE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z]", "minLength": 2, "maxLength": 40},
        "born": {"type": "integer", "minimum": 1700, "maximum": 2100, "description": "The year."},
        "on": {"type": "string", "format": "date"},
        "works": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
    },
    "required": ["name", "born", "on", "works"],
    "additionalProperties": False,
}
_ADAS = {"name": "Ada", "born": 1815, "on": "1815-12-10", "works": ["Notes"]}


@case
def structured_within_bounds() -> Case:
    """The schema of a value has bounds, lengths, a pattern and a format: the model gets all of them."""
    return Case(
        on_server=True,
        printed_alike=False,
        needs=_NEEDS,
        modes=("sync",),
        script=[StructuredAnswer(_ADAS, Usage(120, 40))],
        steps=[ask("Who wrote the first program?", schema=_LIFE, value=_ADAS)],
    )


_PERIOD = {"type": "object", "properties": {"since": {"type": "integer", "description": "A year."}}}
_WRITER = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The whole name."},
        "kind": {"anyOf": [{"type": "string", "enum": ["prose", "verse"]}, {"type": "null"}]},
        "wrote": {"$ref": "#/$defs/period", "description": "Since when they wrote."},
    },
    "required": ["name", "kind", "wrote"],
    "additionalProperties": False,
    "$defs": {"period": {**_PERIOD, "required": ["since"], "additionalProperties": False}},
}
_BYRON = {"name": "Lord Byron", "kind": None, "wrote": {"since": 1806}}
_ALONE = (
    "a strict schema has nothing beside a reference, and each client writes the words in a way of its own"
)


@case
def structured_with_references() -> Case:
    """The schema of a value has words beside a reference, and a value that may be null: the model gets both, and the caller gets null."""
    return Case(
        on_server=True,
        printed_alike=False,
        needs=_NEEDS,
        modes=("sync",),
        inexpressible=dict.fromkeys(("openai-chat", "openai-responses"), _ALONE),
        script=[StructuredAnswer(_BYRON, Usage(120, 30))],
        steps=[ask("Who was Ada's father?", schema=_WRITER, value=_BYRON)],
    )


@case
def structured_misfit() -> Case:
    """A value that does not match its schema is an error, never a value of a wrong type."""
    return Case(
        needs=_NEEDS,
        modes=_SYNC,
        script=[StructuredAnswer({"name": "Ada", "age": "unknown"}, Usage(40, 12))],
        steps=[ask("Who wrote the first program?", schema=_PERSON, outcome="incomplete")],
    )


@case
def structured_too_short() -> Case:
    """The token limit ends the value: the error names the limit, not invalid JSON."""
    return Case(
        needs=_NEEDS,
        modes=_SYNC,
        script=[Answer((Say('{"name": "Ada Lo'),), stop="length", usage=Usage(40, 6))],
        steps=[ask("Who wrote the first program?", schema=_PERSON, outcome="incomplete")],
    )


@case
def structured_after_a_tool() -> Case:
    """A tool is called before the value is returned: tools and a schema work together, in the provider's way."""
    return Case(
        needs=_NEEDS | {"structured_with_tools"},
        modes=_SYNC,
        tools=[weather],
        script=[
            Answer((Call("get_weather", {"city": "Paris"}),), usage=Usage(60, 18)),
            StructuredAnswer(_PARIS, Usage(90, 12)),
        ],
        steps=[ask("How warm is it in Paris?", schema=_REPORT, value=_PARIS)],
    )


@case
def structured_after_two_tools() -> Case:
    """Two tools are called at once, and the value is returned after both results."""
    return Case(
        needs=_NEEDS | {"structured_with_tools"},
        modes=_SYNC,
        tools=[weather],
        script=[
            Answer(
                (Call("get_weather", {"city": "Paris"}), Call("get_weather", {"city": "Oslo"})),
                usage=Usage(60, 30),
            ),
            StructuredAnswer(_PARIS, Usage(120, 12)),
        ],
        steps=[ask("Where is it warmer, Paris or Oslo?", schema=_REPORT, value=_PARIS)],
    )
