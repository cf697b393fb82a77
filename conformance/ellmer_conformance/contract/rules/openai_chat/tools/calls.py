"""The fields of tool calls in the history."""

from __future__ import annotations

from collections.abc import Iterator

from ....exchange import Json, Request
from ....readers.openai_chat import messages
from ....rule import Finding, broken, met
from ..._openai.refusals import TOO_LONG, path, refused, too_long, type_name
from .._pairing import calls_of
from .._rulebook import ASK, MUST, REJECT, body, book, call, result

SAYS: Json = {"role": "user", "content": "Never mind."}


@book.rule(
    "EMP-006",
    MUST,
    REJECT,
    source=[
        "https://github.com/home-assistant/core/issues/118577",
        "https://github.com/openai/openai-python/issues/2061",
    ],
    refusal=refused(
        "Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        code="empty_array",
        param="{path}",
    ),
    examples=[body(ASK, {"role": "assistant", "content": "5"}, SAYS, call("a"), result("a"))],
    counterexamples=[body(ASK, {"role": "assistant", "content": "5", "tool_calls": []}, SAYS)],
)
def no_calls_is_no_list(request: Request) -> Iterator[Finding]:
    """An assistant message without tool calls has no `tool_calls` field.

    Why: an empty list is refused even where there is content. Fix: leave out the key.
    """
    for pointer, message in messages(request.body):
        if message.get("role") == "assistant" and isinstance(message.get("tool_calls"), list):
            place = f"{pointer}/tool_calls"
            empty = not message["tool_calls"]
            yield broken(place, "the list of calls is empty", path=path(place)) if empty else met(place)


@book.rule(
    "PAIR-007",
    MUST,
    REJECT,
    source=["https://github.com/vercel/ai/issues/5171", "https://github.com/vercel/ai/issues/8132"],
    refusal=TOO_LONG,
    examples=[body(ASK, call("c" * 40), result("c" * 40))],
    counterexamples=[body(ASK, call("c" * 41), result("c" * 41))],
)
def ids_are_short(request: Request) -> Iterator[Finding]:
    """The id of a tool call has at most 40 characters.

    Why: ids from other providers can be longer. Fix: map the id to a shorter one, in the call and in its result.
    """
    for pointer, message in messages(request.body):
        for i, made in enumerate(calls_of(message)):
            yield from too_long(made.get("id"), f"{pointer}/tool_calls/{i}/id", 40)


@book.rule(
    "PAIR-009",
    MUST,
    REJECT,
    source="https://github.com/openai/openai-openapi (ChatCompletionMessageToolCall)",
    refusal=refused(
        "Invalid type for '{path}': expected a string, but got {got} instead.",
        code="invalid_type",
        param="{path}",
    ),
    examples=[body(ASK, call("call_1"), result("call_1"))],
    counterexamples=[
        body(
            ASK,
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "add", "arguments": {"x": 2}}}
                ],
            },
            result("a"),
        )
    ],
)
def arguments_are_text(request: Request) -> Iterator[Finding]:
    """The arguments of a call are sent back as the JSON text that the model wrote, not as an object."""
    for pointer, message in messages(request.body):
        for i, made in enumerate(calls_of(message)):
            function = made.get("function")
            if isinstance(function, dict) and "arguments" in function:
                place, value = f"{pointer}/tool_calls/{i}/function/arguments", function["arguments"]
                got = type_name(value)
                text = isinstance(value, str)
                yield met(place) if text else broken(place, f"{got}, not text", path=path(place), got=got)
