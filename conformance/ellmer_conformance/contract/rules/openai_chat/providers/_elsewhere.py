"""The rules of OpenAI for other providers, and what the modules of providers share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....observed.exchange import Request
from ....readers.json_access import object_of
from ....readers.openai_chat import calls_of, messages
from ....rule import Finding, broken, met
from ....rulebook import NO_IMAGES, ErrorBody, RuleBook, UnsupportedFeature
from ..._openai.refusals import refused
from ..._shape_faults import IDS as RULES_OF_SHAPES
from ..._shape_faults import UNRECORDED
from .._refusals_and_examples import ASK, IMAGE, body, book
from ..features import a_part

# Rules about OpenAI's own parameters and models, which do not apply to other providers.
_OWN = (
    "REQ-001",
    "REQ-004",
    "REQ-012",
    "REQ-024",
    "REQ-031",
    "REQ-060",
    "REQ-061",
    "REQ-062",
    "REQ-144",
    "SCH-003",
    "STO-008",
    "STO-017",
    "IMG-008",
    "TRM-003",
    "TRM-015",
    *RULES_OF_SHAPES,
    # what others are recorded to accept: longer ids, parts and formats of other types, no tools
    "PAIR-007",
    "REQ-009",
    "REQ-010",
    "SCH-008",
)


def elsewhere(
    provider: str,
    *,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    error_body: ErrorBody | None = None,
    **changed: Any,
) -> RuleBook:
    """Returns OpenAI's rules for another provider. They are previews, except rules that are known to hold there
    (`only`).
    """
    own = [id for id in _OWN if id not in only]
    return book.extend(provider, only=only, without=[*own, *without], error_body=error_body, **changed)


def compact(value: object) -> tuple[Mapping[str, str], bytes]:
    """Returns an error body as JSON without spaces."""
    return {"content-type": "application/json"}, json.dumps(value, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )


def refuses_images(*models: str, example: str, source: str) -> UnsupportedFeature:
    """Returns the rule for models that are documented to refuse images, where no refusal is recorded."""
    return UnsupportedFeature(
        "REQ-059",
        "Images are sent only to models that are documented to accept them.",
        models,
        refused(f"The model {{model}} does not accept images.{UNRECORDED}"),
        source,
        a_part("image_url"),
        body(ASK, model=example),
        body({"role": "user", "content": [IMAGE]}, model=example),
        preview=True,
        fix=NO_IMAGES,
    )


def arguments_are_json(request: Request) -> Iterator[Finding]:
    """The arguments of a call are JSON, because the server parses them for its templates.

    Fix: send `{}` if the model wrote anything else.
    """
    for pointer, message in messages(request.body):
        for index, tool_call in enumerate(calls_of(message)):
            arguments = object_of(tool_call.get("function")).get("arguments")
            if isinstance(arguments, str) and arguments:
                place = f"{pointer}/tool_calls/{index}/function/arguments"
                error = _unparsed(arguments)
                yield (
                    broken(place, "it is not JSON", text=error, id=tool_call.get("id"))
                    if error
                    else met(place)
                )


def _unparsed(text: str) -> str:
    """Returns the error of Python's JSON decoder for a text, or an empty string if the text is JSON."""
    try:
        json.loads(text)
    except ValueError as error:
        return str(error)
    return ""
