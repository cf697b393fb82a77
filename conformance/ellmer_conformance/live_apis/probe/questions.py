"""The requests to a server in neutral terms. Each is a run in the report, streamed or not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...contract.exchange import Json

__all__ = ["MALFORMED", "QUESTIONS", "SCHEMA", "TOOL", "Question"]

TOOL = ("get_weather", "Current weather in a city.")
SCHEMA: Json = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "The city."}},
    "required": ["city"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Question:
    """One request. `needs` is a feature that the server must have, which earlier answers show; `after` is the earlier
    request that it continues.

    `told` is the answered call: its id, its name and its arguments.
    """

    name: str
    text: str = "Say hello in French, in one short sentence."
    stream: bool = False
    tool: bool = False
    image: bool = False
    schema: bool = False
    needs: str = ""
    after: str = ""
    told: tuple[str, str, Json] | None = None


_WEATHER = "What is the weather in Paris? Use the tool."
_PLAIN = (
    Question("text"),
    Question("text_again"),
    Question("tool_call", _WEATHER, tool=True, needs="tools"),
    Question("tool_result", _WEATHER, tool=True, needs="tools", after="tool_call"),
    Question("image", "Which colour is this? One word.", image=True, needs="images"),
    Question("structured", "Name the capital of France.", schema=True, needs="structured output"),
)
#: In the order in which they are asked.
QUESTIONS = tuple(
    replace(question, stream=stream)
    for question in _PLAIN
    for stream in (False, True)
    if not (stream and question.name == "text_again")
)

#: Requests that no API takes, by name, with what is done to the body of a plain one.
MALFORMED = ("no_json", "no_conversation", "wrong_type", "unknown_model", "wrong_key")
