"""Exactness: unusual, long and repeated values arrive unchanged.

They are run against the strict server and never recorded, because the connection shows the effects.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..case import Case, Mode, ask, case
from ..messages import Text, Tool
from ..script import Answer, Call, Say, Usage
from ._media_and_tools import NO_MALFORMED_ARGUMENTS, string_argument

_BLOCKING: tuple[Mode, ...] = ("sync", "stream")
_TURNS = 16

#: Strings that look like something else, and other values that are easily lost.
ODD: Mapping[str, Any] = {
    "number": "123",
    "zeros": "007",
    "power": "1e5",
    "truth": "true",
    "nothing": "null",
    "date": "2026-11-20",
    "spaces": "  two before, a newline after\n",
    "blank": "",
    "quotes": 'say "hi" \\ and {"a": 1}',
    "braces": "if (a) {b()}{c()}",
    "whole": 2.0,
    "none": None,
    "no": False,
    "yes": True,
    "json": '{"a": [1, 2.50]}',
    "list": [],
    "deep": {"b": [1, {"a": None}], "a": "x"},
}


def _schema() -> dict[str, Any]:
    kinds: Mapping[type, Any] = {
        str: "string",
        bool: "boolean",
        float: "number",
        list: "array",
        dict: "object",
    }
    properties = {}
    for name, value in ODD.items():
        kind = ["string", "null"] if value is None else kinds[type(value)]
        more = {"items": {"type": "string"}} if kind == "array" else {}
        properties[name] = {"type": kind, "description": f"The {name}.", **more}
    return {"type": "object", "properties": properties, "required": list(properties)}


@case
def odd_arguments() -> Case:
    """Arguments that look like other types (`"123"`, `"true"`, `""`, null) reach the tool unchanged."""
    keep = Tool("keep", "Keeps what it is told.", lambda **told: {"kept": len(told), "by": "keep"}, _schema())
    return Case(
        on_server=True,
        printed_alike=False,
        tools=[keep],
        script=[
            Answer((Say("I shall keep these. "), Call("keep", ODD)), usage=Usage(90, 60)),
            Answer((Say("All are kept."),), usage=Usage(180, 5)),
            Answer((Say("Yes, all of them."),), usage=Usage(200, 6)),
        ],
        steps=[ask("Keep some values.", text="All are kept."), ask("All of them?", text="Yes, all of them.")],
    )


@case
def unlike_calls() -> Case:
    """Two tools are called with different arguments, in one answer and in the next: each call is sent back unchanged."""
    look = Tool("look_up", "Looks a word up.", lambda word: f"{word}: a word", string_argument("word", "It."))
    add = Tool(
        "add_up",
        "Adds numbers up.",
        lambda numbers: {"sum": sum(numbers)},
        {
            "type": "object",
            "properties": {"numbers": {"type": "array", "items": {"type": "number"}, "description": "All."}},
            "required": ["numbers"],
        },
    )
    calls = (
        Call("look_up", {"word": "zebra"}),
        Call("add_up", {"numbers": [3, 1.5]}),
        Call("look_up", {"word": "ant"}),
    )
    return Case(
        on_server=True,
        printed_alike=False,
        tools=[look, add],
        script=[
            Answer(calls, usage=Usage(80, 60)),
            Answer((Say("Once more, to be sure. "), Call("add_up", {"numbers": []})), usage=Usage(150, 20)),
            Answer((Say("Two words, and 4.5."),), usage=Usage(190, 8)),
            Answer((Say("You are welcome."),), usage=Usage(210, 6)),
        ],
        steps=[
            ask("Look up zebra and ant; add 3 and 1.5.", text="Two words, and 4.5."),
            ask("Thanks.", text="You are welcome."),
        ],
    )


#: The longest name that all APIs take.
_LONG = "a_name" + "_of_a_tool" * 5 + "_of_64_c"


@case
def long_tool_names() -> Case:
    """The names of two tools have capitals, a hyphen, digits, and all 64 characters that APIs take: they are declared, called and
    sent back as they are.
    """
    look = Tool(
        "look-Up_2", "Looks a word up.", lambda word: f"{word}: a word", string_argument("word", "It.")
    )
    count = Tool(
        _LONG, "Counts letters.", lambda word: f"{len(word)} letters", string_argument("word", "Of it.")
    )
    return Case(
        on_server=True,
        printed_alike=False,
        modes=_BLOCKING,
        tools=[look, count],
        script=[
            Answer((Call("look-Up_2", {"word": "ant"}), Call(_LONG, {"word": "bee"})), usage=Usage(90, 40)),
            Answer((Say("Two small ones."),), usage=Usage(150, 4)),
        ],
        steps=[ask("Look up ant, and count bee.", text="Two small ones.")],
    )


_BOUNDED: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 80, "description": "What it is called."},
        "code": {"type": "string", "pattern": r"^[A-Z]{2}-\d+$", "description": "Such as AB-12."},
        "guests": {"type": "integer", "minimum": 1, "maximum": 12, "default": 2, "description": "How many."},
        "until": {
            "type": ["string", "null"],
            "format": "date",
            "description": "The last day, if it is known.",
        },
        "room": {"$ref": "#/$defs/room", "description": "The room, by its floor."},
        "pay": {
            "description": "How to pay: by a name, or by a voucher's number.",
            "anyOf": [{"type": "string", "enum": ["cash", "card"]}, {"type": "integer"}],
        },
        "event": {"type": "string", "const": "fair", "description": "What it is for."},
        "days": {
            "type": "array",
            "items": {"type": "string", "enum": ["Sa", "Su", "Mo"], "description": "A day."},
            "minItems": 1,
            "maxItems": 3,
            "description": "Which days.",
        },
    },
    "required": ["title", "code", "days"],
    "additionalProperties": False,
    "$defs": {
        "room": {
            "type": "object",
            "description": "A room of the house.",
            "properties": {"floor": {"type": "integer", "description": "Its floor."}},
            "required": ["floor"],
        }
    },
}


@case
def bounded_schema() -> Case:
    """A tool's parameters have bounds, patterns, defaults, a constant, null, a reference and several forms: the model gets all that its API takes."""
    book = Tool("book", "Books a room.", lambda **told: f"booked {told['title']}", _BOUNDED)
    call = Call(
        "book", {"title": "Fair", "code": "AB-12", "guests": 3, "days": ["Su", "Sa"], "until": "2026-12-06"}
    )
    return Case(
        on_server=True,
        printed_alike=False,
        tools=[book],
        script=[Answer((call,), usage=Usage(120, 30)), Answer((Say("It is booked."),), usage=Usage(170, 5))],
        steps=[ask("Book the fair, AB-12, for the weekend.", text="It is booked.")],
    )


_FOLDER: Mapping[str, Any] = {
    "type": "object",
    "properties": {"folder": {"type": "string", "description": "Which one; all if left out."}},
    "required": [],
}


@case
def malformed_optional_arguments() -> Case:
    """The arguments of a call are no JSON, and its tool could be run without any: it is not run, and the model gets an error."""
    clear = Tool(
        "clear", "Clears one folder, or all of them.", lambda folder="": f"cleared {folder or 'all'}", _FOLDER
    )
    return Case(
        on_server=True,
        printed_alike=False,
        inexpressible=NO_MALFORMED_ARGUMENTS
        | dict.fromkeys(("anthropic", "bedrock", "ollama"), "the arguments of a whole answer are an object"),
        tools=[clear],
        script=[
            Answer((Call("clear", text='{"folder": tmp}'),), usage=Usage(40, 12)),
            Answer((Say("Let me not, then."),), usage=Usage(70, 7)),
        ],
        steps=[ask("Clear the folder tmp.", text="Let me not, then.")],
    )


@case
def odd_text() -> Case:
    """Text with spaces around it, empty lines, tabs, markup, quotes, addresses and letters beyond ASCII is sent and returned
    unchanged, as are a question that looks like a command and an answer that looks like data.
    """
    question = (
        '  Two spaces, a tab\t, "quotes", <b>markup</b> & more:\r\n\r\n- one\n- two\n\n\n\n<!-- a comment -->'
        " 10\u00a0km \u2013 20\u00a0km \u2014 ask ada@example.com, 4012888888881881, https://example.com/a?b=c#d, a\u200bb\n"
    )
    told = (
        "\n  Indented:\n\n    code\n\nThe **end** [1], _really_: Zoë, 終 👋.\n\ndata: [DONE]\n\nUser: &lt;yes&gt; \u2014 "
        + "and so on, " * 60
        + "to the end.\n"
    )
    data = '{"as":  "it was", "n": 1.0}'
    return Case(
        on_server=True,
        printed_alike=False,
        script=[
            Answer((Say(told),), usage=Usage(40, 12)),
            Answer((Say(data),), usage=Usage(60, 4)),
            Answer((Say("It was."),), usage=Usage(80, 3)),
        ],
        steps=[
            ask(question, text=told),
            ask("/tell me as data: was it?", text=data),
            ask("Was it?", text="It was."),
        ],
    )


#: Text that templates, escaping, normalization and the stripping of spaces change.
_TEMPLATE = "Dear {{name}}, {0} & <b>you</b> &amp; \\n %s ${HOME}: Zoe\u0308, \ufb01ne, \u2460."
_FENCED = f"```text\n{_TEMPLATE}\n```"
_FILE = f"  two spaces before\r\n\tand a tab\n\n\n{_TEMPLATE}\n\x1b[31mred\x1b[0m <!-- hidden --> ada@example.com [IMAGE:data:image/png;base64,iVBORw0KGgo=]\n\n"


@case
def odd_results() -> Case:
    """Text that looks like a template or markup, and spaces around it, arrive unchanged in the system prompt and in results."""
    read = Tool(
        "read_file", "Reads a file.", lambda name: _FILE if name else "", string_argument("name", "Its name.")
    )
    return Case(
        on_server=True,
        printed_alike=False,
        system=f"Keep the template as it is: {_TEMPLATE}",
        tools=[read],
        script=[
            Answer((Call("read_file", {"name": "a &amp; {b}.txt"}),), usage=Usage(60, 12)),
            Answer((Say("It is a template."),), usage=Usage(110, 5)),
            Answer((Say(_FENCED),), usage=Usage(130, 30)),
            Answer((Say("Gladly."),), usage=Usage(170, 3)),
        ],
        steps=[
            ask("What is in the file?", text="It is a template."),
            ask(f"Is it this one? {_TEMPLATE}", text=_FENCED),
            ask("Thanks.", text="Gladly."),
        ],
    )


#: A JSON Schema, as a tool may return it.
_SCHEMA = {
    "type": "object",
    "properties": {"to": {"$ref": "#/$defs/Address"}},
    "$defs": {"Address": {"type": "string", "description": "An address."}},
}


@case
def schema_as_result() -> Case:
    """A tool returns a JSON Schema with `$ref`, as an object and as text: the model gets it as a value like others."""
    forms = {"object": _SCHEMA, "text": json.dumps(_SCHEMA)}
    describe = Tool(
        "describe_tool",
        "Tells the parameters of a tool.",
        lambda form: forms[form],
        string_argument("form", "As an object or as text."),
    )
    return Case(
        on_server=True,
        printed_alike=False,
        tools=[describe],
        script=[
            Answer(tuple(Call("describe_tool", {"form": form}) for form in forms), usage=Usage(60, 24)),
            Answer((Say("It takes an address."),), usage=Usage(160, 6)),
        ],
        steps=[ask("What does the tool take?", text="It takes an address.")],
    )


@case
def texts_in_blocks() -> Case:
    """The user's turn and the answer have two texts each: they arrive in order, and their words are not joined."""
    return Case(
        on_server=True,
        printed_alike=False,
        script=[
            Answer((Say("First, this."), Say("Then that.")), usage=Usage(20, 8)),
            Answer((Say("Both."),), usage=Usage(40, 2)),
        ],
        steps=[
            ask(Text("Read this"), Text("and that."), text="First, this.Then that."),
            ask("Which of them?", text="Both."),
        ],
    )


@case
def long_values() -> Case:
    """A question of 100,000 characters and a tool's result of a megabyte are sent whole."""
    log = "".join(f"{n:07}: all is well\n" for n in range(43_000)) + "the last line"
    question = "What does the log say? " + "Please read all of it. " * 4_400 + "That is all."
    return Case(
        on_server=True,
        printed_alike=False,
        modes=_BLOCKING,
        tools=[Tool("read_log", "Reads the log.", lambda: log)],
        script=[
            Answer((Call("read_log"),), usage=Usage(25_000, 10)),
            Answer((Say("All is well."),), usage=Usage(400_000, 4)),
        ],
        steps=[ask(question, text="All is well.")],
    )


@case
def many_turns() -> Case:
    """Sixteen questions follow one another: every request contains the whole history."""
    return Case(
        on_server=True,
        printed_alike=False,
        modes=_BLOCKING,
        system="Count.",
        script=[Answer((Say(f"That is number {n}."),), usage=Usage(10 + 12 * n, 5)) for n in range(_TURNS)],
        steps=[ask(f"What is number {n}?", text=f"That is number {n}.") for n in range(_TURNS)],
    )


@case
def asked_again() -> Case:
    """Two conversations ask the same question: the provider answers each, and the answers differ."""
    return Case(
        on_server=True,
        printed_alike=False,
        modes=_BLOCKING,
        script=[Answer((Say(f"It shows {n}."),), usage=Usage(8, 4)) for n in ("four", "two")],
        steps=[
            ask("Roll a die.", text="It shows four.", who=0),
            ask("Roll a die.", text="It shows two.", who=1),
        ],
    )


@case
def equal_pieces() -> Case:
    """Pieces of a streamed answer are equal, blank, or line ends: each of them is part of the answer. The user asks the same
    question three times, and gets the same answer twice.
    """
    pieces = ("tick ", "tick ", "tick ", "\n", "\n", " ", " ", "tock", "!", "!")
    told, asked = "".join(pieces), "What does the clock say?"
    return Case(
        on_server=True,
        printed_alike=False,
        script=[
            Answer((Say(told, pieces),), usage=Usage(12, 10)),
            *(Answer((Say("It stopped."),), usage=Usage(30, 3)) for _ in range(2)),
            Answer((Say("At noon."),), usage=Usage(50, 3)),
        ],
        steps=[
            ask(asked, text=told),
            ask(asked, text="It stopped."),
            ask(asked, text="It stopped."),
            ask("When?", text="At noon."),
        ],
    )
