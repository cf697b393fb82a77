"""Chat Completions: names with restricted characters, features that some models refuse, and the functions that find a
feature in a request. These return its JSON pointer, or `None`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...observed.exchange import Json, Request
from ...readers.json_access import object_of
from ...readers.openai_chat import messages, parts, tools
from ...rule import Finding, Refusal, broken, met
from ...rulebook import UnsupportedFeature, add_feature_rules
from .._openai.refusals import WORDED, misnamed, path, refused
from .._openai.schemas import CLOSED
from ._refusals_and_examples import ASK, MUST, REJECT, body, book

Found = Callable[[Request], str | None]


def a_part(*kinds: str) -> Found:
    """Finds a part of one of the types."""

    def found(request: Request) -> str | None:
        places = (
            place
            for pointer, message in messages(request.body)
            for place, part in parts(message, pointer)
            if part.get("type") in kinds
        )
        return next(places, None)

    return found


def functions(*choices: object) -> Found:
    """Finds functions. With choices, the `tool_choice` must be one of these (`None` means that it is missing)."""

    def found(request: Request) -> str | None:
        declared = any(tool.get("type") == "function" for _, tool in tools(request.body))
        chosen = not choices or request.body.get("tool_choice") in choices
        return "/tools" if declared and chosen else None

    return found


def forced(request: Request) -> str | None:
    """Finds a `tool_choice` that forces a call."""
    choice = request.body.get("tool_choice")
    return "/tool_choice" if choice == "required" or isinstance(choice, dict) else None


def logprobs(request: Request) -> str | None:
    """Finds log probabilities."""
    return "/logprobs" if request.body.get("logprobs") else None


def option(name: str, *values: object) -> Found:
    """Finds an option. With values, its value must be one of these."""

    def found(request: Request) -> str | None:
        value = request.body.get(name)
        there = value in values if values else value is not None
        return f"/{name}" if there else None

    return found


def streamed_format(request: Request) -> str | None:
    """Finds structured output in a stream."""
    return (
        "/response_format" if request.stream and _format(request).get("type") not in {None, "text"} else None
    )


def _format(request: Request) -> dict[str, object]:
    return object_of(request.body.get("response_format"))


_NAMED = re.compile(r"[^\s<|\\/>]+")
_NAMES = "string does not match pattern. Expected a string that matches the pattern '{pattern}'."
_SPEAKERS = {"system", "developer", "user", "assistant"}


def _named(name: str) -> Json:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": CLOSED, "strict": True}}


def _misnamed(pattern: str) -> Refusal:
    return refused(
        f"Invalid '{{path}}': {_NAMES.format(pattern=pattern)}", code="invalid_value", param="{path}"
    )


@book.rule(
    "REQ-060",
    MUST,
    REJECT,
    source=[
        "https://github.com/langchain-ai/langchain/issues/35054",
        "https://github.com/microsoft/autogen/issues/4157 (2024)",
        "https://github.com/microsoft/autogen/issues/941 (2023)",
    ],
    refusal=_misnamed(r"^[^\s<|\\/>]+$"),
    formerly=[
        _misnamed("^[a-zA-Z0-9_-]+$"),
        refused("'{name}' does not match '^[a-zA-Z0-9_-]{{1,64}}$' - 'messages.{index}.name'"),
    ],
    examples=[body({**ASK, "name": "Ada.Lovelace"})],
    counterexamples=[body({**ASK, "name": "Ada Lovelace"}), body({**ASK, "name": "<ada>"})],
)
def speakers_have_plain_names(request: Request) -> Iterator[Finding]:
    """The `name` of a message has no white space and none of `<`, `>`, `|`, `/` and the backslash.

    Until 2025, only letters, digits, `_` and `-` were accepted. Fix: replace these characters by `_`, or leave `name`
    out.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        name, place = message.get("name"), f"{pointer}/name"
        if message.get("role") in _SPEAKERS and isinstance(name, str) and name:
            facts = {"path": path(place), "name": name, "index": index}
            fine = _NAMED.fullmatch(name)
            yield (
                met(place)
                if fine
                else broken(place, f"the name {name!r} has white space or special characters", **facts)
            )


@book.rule(
    "STO-017",
    MUST,
    REJECT,
    source=[
        "https://github.com/neuron-core/neuron-ai/issues/32",
        "https://github.com/pydantic/pydantic-ai/pull/2271",
    ],
    refusal=WORDED,
    examples=[body(ASK, response_format=_named("App_Output-1"))],
    counterexamples=[
        body(ASK, response_format=_named("App\\Output")),
        body(ASK, response_format=_named("a sum")),
    ],
)
def formats_have_plain_names(request: Request) -> Iterator[Finding]:
    """The name of a response format has only letters, digits, `_` and `-`.

    Fix: replace other characters of the name by `_`.
    """
    format = object_of(request.body.get("response_format"))
    if format.get("type") == "json_schema":
        name = object_of(format.get("json_schema")).get("name")
        yield from misnamed(name, "/response_format/json_schema/name")


_UNTHINKING = ("gpt-3.5*", "gpt-4*", "!*search*", "!*audio*")

add_feature_rules(
    book,
    [
        UnsupportedFeature(
            "REQ-061",
            "A reasoning effort is sent only to reasoning models.",
            _UNTHINKING,
            refused("Unrecognized request argument supplied: reasoning_effort"),
            (
                "https://github.com/AAswordman/Operit/issues/1048 (gpt-4o)",
                "https://github.com/davidmigloz/langchain_dart/issues/712 (gpt-4o-mini)",
                "https://github.com/formulahendry/wechat-acp/issues/16 (gpt-4.1)",
            ),
            option("reasoning_effort"),
            body(ASK, model="gpt-4o", reasoning_effort=None),
            body(ASK, model="gpt-4o", reasoning_effort="low"),
            fix="leave `reasoning_effort` out for these models.",
        ),
        UnsupportedFeature(
            "REQ-062",
            "The verbosity of a model before GPT-5 is `medium`.",
            ("gpt-4o*", "!*search*", "!*audio*"),
            refused(
                "Unsupported value: 'verbosity' does not support '{value}' with this model. "
                "Supported values are: 'medium'.",
                code="unsupported_value",
                param="verbosity",
            ),
            ("https://github.com/google-deepmind/concordia/issues/164 (gpt-4o)",),
            option("verbosity", "low", "high"),
            body(ASK, model="gpt-4o", verbosity="medium"),
            body(ASK, model="gpt-4o", verbosity="low"),
            fix="leave `verbosity` out for these models.",
        ),
    ],
)
