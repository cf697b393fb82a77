"""Names with restricted characters, and features that some models refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...exchange import Json, Request
from ...readers.json_access import object_of
from ...readers.openai_chat import messages
from ...rule import Finding, Refusal, broken, met
from .._openai.refusals import WORDED, misnamed, path, refused
from .._openai.schemas import CLOSED
from .._refused_features import Lack, enter
from ._features import option
from ._rulebook import ASK, MUST, REJECT, body, book

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

    Until 2025, only letters, digits, `_` and `-` were accepted.
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
    """The name of a response format has only letters, digits, `_` and `-`."""
    format = object_of(request.body.get("response_format"))
    if format.get("type") == "json_schema":
        name = object_of(format.get("json_schema")).get("name")
        yield from misnamed(name, "/response_format/json_schema/name")


_UNTHINKING = ("gpt-3.5*", "gpt-4*", "!*search*", "!*audio*")

enter(
    book,
    [
        Lack(
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
        ),
        Lack(
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
        ),
    ],
)
