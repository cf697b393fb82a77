"""What the examples of rules share: one function that adds two numbers, in JSON Schema, and conversations as messages of Chat
Completions and similar APIs.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence

from ...scenarios.messages import Image, Part, Text, ToolCall, ToolResult, Turn
from ..observed.exchange import Json

#: The arguments of the function.
NUMBERS: Json = {
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
    "required": ["x", "y"],
}
ADD: Json = {"name": "add", "description": "Adds two numbers", "parameters": NUMBERS}
#: A tool, as Chat Completions and similar APIs declare it.
FUNCTION: Json = {"type": "function", "function": ADD}
#: The question, as a message.
QUESTION: Json = {"role": "user", "content": "What is 2 + 3?"}


def messages_of(
    turns: Sequence[Turn],
    call: Callable[..., Json],
    result: Callable[[str, str], Json],
    said: Callable[[str, Sequence[Text | Image]], Sequence[Json]],
) -> list[Json]:
    """Returns a conversation in neutral terms as messages: of each turn its calls, its results, and what else it says.

    Args:
        turns: The turns.
        call: A function that makes the message with calls from their ids.
        result: A function that makes the message with a result from its id and value.
        said: A function that makes the messages with texts and images from the role and these parts.
    """
    messages: list[Json] = []
    for turn in turns:
        calls = [part.id for part in turn.parts if isinstance(part, ToolCall)]
        messages += [call(*calls)] if calls else []
        messages += [result(part.id, part.value) for part in turn.parts if isinstance(part, ToolResult)]
        parts = [part for part in turn.parts if isinstance(part, Text | Image)]
        messages += said(turn.role, parts) if parts else ()
    return messages


def said_in_parts(role: str, parts: Sequence[Part]) -> list[Json]:
    """Returns the message with texts and images as Chat Completions has them."""
    return [{"role": role, "content": [_part(part) for part in parts]}]


def _part(part: Part) -> Json:
    if isinstance(part, Image):
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    assert isinstance(part, Text), part
    return {"type": "text", "text": part.text}


def data_url(image: Image) -> str:
    """Returns an image as a data URL."""
    return f"data:{image.type};base64,{b64encode(image.data).decode()}"
