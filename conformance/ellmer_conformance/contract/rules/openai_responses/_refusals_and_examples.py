"""The book of OpenAI Responses (the body of its errors is in `_openai/refusals.py`), and helpers for the bodies of its examples."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from ....scenarios.messages import Image, Part, Text, ToolCall, ToolResult, Turn
from ...observed.exchange import Json
from ...rule import Kind, Level
from ...rulebook import RuleBook
from .._media import PNG
from .._openai.refusals import error_body
from .._samples import ADD, QUESTION
from .._shape_faults import IDS as RULES_OF_SHAPES

MUST, SHOULD = Level.MUST, Level.SHOULD
REJECT, LOSS = Kind.REJECT, Kind.LOSS

SPEC = "https://github.com/openai/openai-openapi (CreateResponse)"

book = RuleBook("openai-responses", "openai", error_body(2))

# Rules about OpenAI's own parameters, ids and models, which do not apply to other providers.
OWN = (
    "REQ-004",
    "REQ-018",
    "REQ-046",
    "SCH-003",
    "STO-008",
    "REQ-144",
    "PAIR-006",
    "PAIR-019",
    *RULES_OF_SHAPES,
)

ASK = QUESTION
TOOL: Json = {"type": "function", **ADD}
IMAGE: Json = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}


def body(*items: Any, **more: Any) -> Json:
    """Returns a request with these input items."""
    return {"model": "gpt-4.1-mini", "input": list(items), **more}


def call(id: str, /, **more: Any) -> Json:
    """Returns a call of `add`."""
    return {"type": "function_call", "call_id": id, "name": "add", "arguments": '{"x": 2, "y": 3}', **more}


def output(id: str, value: Any = "5", /, **more: Any) -> Json:
    """Returns the client's output for a call."""
    return {"type": "function_call_output", "call_id": id, "output": value, **more}


def conversation(turns: Sequence[Turn]) -> Json:
    """Returns a request with a conversation in neutral terms."""
    items: list[Json] = []
    for turn in turns:
        items += [call(part.id) for part in turn.parts if isinstance(part, ToolCall)]
        items += [output(part.id, part.value) for part in turn.parts if isinstance(part, ToolResult)]
        parts = [_part(part) for part in turn.parts if isinstance(part, Text | Image)]
        items += [{"role": turn.role, "content": parts}] if parts else []
    return body(*items)


def _part(part: Part) -> Json:
    if isinstance(part, Image):
        url = f"data:{part.type};base64,{b64encode(part.data).decode()}"
        return {"type": "input_image", "image_url": url}
    assert isinstance(part, Text), part
    return {"type": "input_text", "text": part.text}
