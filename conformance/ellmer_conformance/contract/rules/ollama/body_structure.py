"""Requests that the server refuses because values do not fit its Go types.

The server does not pair calls and results: it accepts results without a call, repeated results, unknown ids and any
order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date

from ...observed.exchange import Json, Request
from ...readers.json_access import elements
from ...readers.ollama import messages
from ...rule import Finding, Refusal, broken, met
from .._media import PNG, redacted
from ._refusals_and_examples import ASK, MUST, REJECT, SERVER, body, book, call, result, shown

#: The day on which it was proposed that each model has its own levels of `think`. The release that brought it has no
#: known day; its documentation and SDK are of the same month.
LEVELS_OF_MODELS = date(2026, 9, 15)

_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/\r\n]")


def images(request: Json) -> Iterator[tuple[str, str]]:
    """Yields the pointer and the base64 of each image."""
    for pointer, message in messages(request):
        found = message.get("images")
        for i, picture in enumerate(found if isinstance(found, list) else []):
            if isinstance(picture, str) and not redacted(picture):
                yield f"{pointer}/images/{i}", picture


def illegal(text: str) -> int | None:
    """Returns the position where Go's decoder stops, or `None`."""
    bare = text.rstrip("=\r\n")
    found = _NOT_BASE64.search(bare)
    if found:
        return found.start()
    letters = len(re.sub(r"[\r\n]", "", text))
    return len(bare) if letters % 4 else None


_GO = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}


@book.rule(
    "REQ-002",
    MUST,
    REJECT,
    source=[
        "https://github.com/ollama/ollama/issues/10255",
        "https://github.com/BerriAI/litellm/issues/11273",
    ],
    refusal=Refusal("json: cannot unmarshal {got} into Go struct field ChatRequest.{field} of type {type}"),
    examples=[body(ASK), body()],
    counterexamples=[
        body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}),
        body("Hi"),
        {"model": "qwen3:4b", "messages": "Hi"},
    ],
)
def messages_are_text(request: Request) -> Iterator[Finding]:
    """`messages` is a list of objects whose `content` is a string, not a list of parts.

    Fix: join the texts, and put images into `images` of the same message.
    """
    found = request.body.get("messages")
    if found is not None and not isinstance(found, list):
        yield _mistyped("/messages", found, "messages", "[]api.Message")
        return
    for i, message in enumerate(found or []):
        if not isinstance(message, dict):
            yield _mistyped(f"/messages/{i}", message, "messages", "api.Message")
        elif not isinstance(message.get("content", ""), str | None):
            yield _mistyped(f"/messages/{i}/content", message["content"], "messages.content", "string")
        else:
            yield met(f"/messages/{i}")


#: What the server answers to arguments that are text, and to a list.
_UNCLOSED = "Value looks like object, but can't find closing '}' symbol"
_A_LIST = "json: cannot unmarshal array into Go value of type api.ToolCallFunctionArguments"


@book.rule(
    "PAIR-009",
    MUST,
    REJECT,
    source=[
        "https://github.com/openclaw/openclaw/pull/50749",
        "https://github.com/ollama/ollama/issues/12794 (until 2025: `json: cannot unmarshal string …`)",
        "https://github.com/langchain-ai/langchain/issues/34790 (a list)",
    ],
    refusal=Refusal("{text}"),
    formerly=[
        Refusal(
            "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type "
            "api.ToolCallFunctionArguments"
        ),
        Refusal(
            "json: cannot unmarshal string into Go struct field ChatRequest.messages of type api.ToolCallFunctionArguments"
        ),
    ],
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[
        body(
            ASK, {"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": '{"x": 2}'}}]}
        ),
        body(ASK, {"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": [2]}}]}),
    ],
)
def arguments_are_objects(request: Request) -> Iterator[Finding]:
    """A call's arguments are sent back as an object, not as JSON text or a list.

    Fix: parse the JSON text before you send the call back.
    """
    for place, function in _calls(request.body):
        if "arguments" in function:
            arguments, where = function["arguments"], f"{place}/arguments"
            wrong = isinstance(arguments, str | list)
            text = _UNCLOSED if isinstance(arguments, str) else _A_LIST
            yield broken(where, "the arguments are no object", text=text) if wrong else met(where)


@book.rule(
    "IMG-011",
    MUST,
    REJECT,
    source=[
        "https://github.com/BerriAI/litellm/issues/18338",
        "https://github.com/BerriAI/litellm/issues/30313",
        "https://github.com/ollama/ollama-js/issues/68",
    ],
    refusal=Refusal("illegal base64 data at input byte {byte}"),
    examples=[body(shown(PNG)), body(ASK, call("a"), result("a", images=[PNG]))],
    counterexamples=[body(shown(f"data:image/png;base64,{PNG}")), body(shown("https://example.com/a.png"))],
)
def images_are_bare_base64(request: Request) -> Iterator[Finding]:
    """An image is plain base64 in the standard alphabet, without a `data:` prefix and not a URL.

    Why: the server does not fetch URLs. Fix: download the image, and remove the prefix.
    """
    for place, picture in images(request.body):
        wrong = illegal(picture)
        problem = f"the character at {wrong} is not base64"
        yield met(place) if wrong is None else broken(place, problem, byte=wrong)


@book.rule(
    "REQ-001",
    MUST,
    REJECT,
    source=SERVER,
    refusal=Refusal("model is required"),
    examples=[body(ASK)],
    counterexamples=[{"messages": [ASK]}],
)
def a_model_is_named(request: Request) -> Iterator[Finding]:
    """The request names a model.

    Fix: set `model` in every request.
    """
    yield met("/model") if request.model else broken("", "`model` is missing")


@book.rule(
    "REQ-013",
    MUST,
    REJECT,
    source=SERVER,
    refusal=Refusal("top_logprobs must be between 0 and 20"),
    examples=[body(ASK, logprobs=True, top_logprobs=20)],
    counterexamples=[body(ASK, logprobs=True, top_logprobs=21)],
)
def few_logprobs_are_asked_for(request: Request) -> Iterator[Finding]:
    """`top_logprobs` is between 0 and 20.

    Fix: check the caller's value before the request.
    """
    count = request.body.get("top_logprobs")
    if isinstance(count, int):
        yield met("/top_logprobs") if 0 <= count <= 20 else broken("/top_logprobs", f"it is {count}")


@book.rule(
    "REQ-080",
    MUST,
    REJECT,
    source=[
        "https://github.com/ollama/ollama/issues/17837",
        "https://github.com/ollama/ollama/pull/18473 (it ended)",
        "https://docs.ollama.com/capabilities/thinking",
    ],
    refusal=Refusal(
        'invalid think value: "{value}" (must be "high", "medium", "low", "max", true, or false)'
    ),
    formerly=[Refusal('invalid think value: "{value}" (must be "high", "medium", "low", true, or false)')],
    until=LEVELS_OF_MODELS,
    examples=[body(ASK, think="high"), body(ASK, think=False)],
    counterexamples=[body(ASK, think="loud"), body(ASK, think="true")],
)
def thinking_has_a_known_effort(request: Request) -> Iterator[Finding]:
    """`think` is a boolean, or one of `high`, `medium`, `low` and `max`.

    The rule ended in September 2026: since then each model has its own levels, which `/api/show` lists. Any other text
    selects the model's default. Older servers still refuse other texts. Fix: map your own levels to these.
    """
    value = request.body.get("think")
    if isinstance(value, str):
        fine = value in {"", "high", "medium", "low", "max"}
        yield met("/think") if fine else broken("/think", f"{value!r} is not an effort", value=value)


@book.rule(
    "REQ-134",
    MUST,
    REJECT,
    source="https://github.com/ollama/ollama/pull/18473",
    refusal=Refusal("think must be a boolean or string"),
    formerly=[
        Refusal('think must be a boolean or string ("high", "medium", "low", "max", true, or false)'),
        Refusal('think must be a boolean or string ("high", "medium", "low", true, or false)'),
    ],
    examples=[body(ASK, think=True), body(ASK, think="xhigh"), body(ASK, think=None)],
    counterexamples=[body(ASK, think=2), body(ASK, think=["low"]), body(ASK, think={"effort": "low"})],
)
def thinking_is_a_boolean_or_a_text(request: Request) -> Iterator[Finding]:
    """`think` is a boolean, a text, or null.

    Fix: send the effort as a text, and not in an object.
    """
    if "think" in request.body:
        value = request.body["think"]
        fine = value is None or isinstance(value, bool | str)
        yield met("/think") if fine else broken("/think", f"{value!r} is neither a boolean nor a text")


@book.rule(
    "REQ-081",
    MUST,
    REJECT,
    source="https://github.com/jakubburkiewicz/node-red-contrib-ollama/issues/22",
    refusal=Refusal('invalid format: "{value}"; expected "json" or a valid JSON Schema object'),
    formerly=[Refusal('invalid format: expected "json" or a JSON schema')],
    examples=[body(ASK, format="json"), body(ASK, format={"type": "object"})],
    counterexamples=[body(ASK, format="xml"), body(ASK, format=[{"type": "object"}])],
)
def the_format_is_known(request: Request) -> Iterator[Finding]:
    """`format` is `json` or a JSON Schema.

    Fix: send the schema itself, without the `json_schema` around it.
    """
    value = request.body.get("format")
    if isinstance(value, str | list):
        shown = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        fine = value in ("", "json")
        yield met("/format") if fine else broken("/format", f"{shown} is not a format", value=shown)


def _calls(request: Json) -> Iterator[tuple[str, Json]]:
    for pointer, message in messages(request):
        for place, tool_call in elements(message.get("tool_calls"), f"{pointer}/tool_calls"):
            if isinstance(tool_call.get("function"), dict):
                yield f"{place}/function", tool_call["function"]


def _mistyped(pointer: str, value: object, field: str, type: str) -> Finding:
    got = _GO.get(value.__class__, "null")
    return broken(pointer, f"{got} is sent, and {type} is expected", got=got, field=field, type=type)
