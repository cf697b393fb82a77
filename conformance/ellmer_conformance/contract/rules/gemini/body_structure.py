"""The shape of a request: objects, contents with parts, and roles."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...exchange import Json, Request
from ...readers.gemini import contents, get, key_of, parts, snake
from ...readers.json_access import decoded, words
from ...rule import Finding, broken, met
from .._media import PNG, redacted
from ._proto import proto
from ._rulebook import ASK, IMAGE, MUST, REJECT, answer, body, book, call, model, refused, text, user

SDK = "https://github.com/googleapis/python-genai (types)"


@book.rule(
    "PAIR-009",
    MUST,
    REJECT,
    source=[SDK, "protobuf's JSON mapping of google.protobuf.Struct"],
    refusal=refused("Invalid value at '{place}' (type.googleapis.com/google.protobuf.Struct), {value}"),
    examples=[body(ASK, model(call()), user(answer()))],
    counterexamples=[
        body(ASK, model({"functionCall": {"name": "add", "args": '{"x": 2}'}}), user(answer())),
        body(ASK, model(call()), user(answer(response="5"))),
    ],
)
def arguments_and_responses_are_objects(request: Request) -> Iterator[Finding]:
    """The `args` of a call and the `response` of a function response are objects.

    Fix: wrap a plain value as `{"output": value}` and a failure as `{"error": text}`.
    """
    for pointer, part in _parts(request.body):
        for key, inner in (("functionCall", "args"), ("functionResponse", "response")):
            value = get(get(part, key), inner)
            if value is not None:
                place = f"{pointer}/{key_of(part, key)}/{inner}"
                facts = {"place": proto(place), "value": json.dumps(value)}
                right = isinstance(value, dict)
                yield met(place) if right else broken(place, f"`{inner}` is not an object", **facts)


@book.rule(
    "IMG-012",
    MUST,
    REJECT,
    source="protobuf's JSON mapping of bytes",
    refusal=refused("Invalid value at '{place}' (TYPE_BYTES), Base64 decoding failed for \"{value}\""),
    examples=[body(user(IMAGE))],
    counterexamples=[
        body(user({"inlineData": {"mimeType": "image/png", "data": f"data:image/png;base64,{PNG}"}}))
    ],
)
def inline_data_is_base64(request: Request) -> Iterator[Finding]:
    """Inline data is base64 without a `data:` prefix."""
    for pointer, part in _parts(request.body):
        blob = get(part, "inlineData")
        data = get(blob, "data")
        if isinstance(data, str) and not redacted(data):
            place = f"{pointer}/{key_of(part, 'inlineData')}/data"
            facts = {"place": proto(place), "value": data}
            yield met(place) if decoded(data) is not None else broken(place, "it is not base64", **facts)


@book.rule(
    "REQ-002",
    MUST,
    REJECT,
    source="https://github.com/langchain-ai/langchain-google/issues/1393",
    refusal=refused("* GenerateContentRequest.contents: contents is not specified\n"),
    examples=[body(ASK)],
    counterexamples=[body(), {"messages": [{"role": "user", "content": "Hi"}]}],
)
def contents_are_there(request: Request) -> Iterator[Finding]:
    """The request has `contents`."""
    given = bool(request.body.get("contents"))
    yield met("/contents") if given else broken("", "there are no contents")


@book.rule(
    "EMP-004",
    MUST,
    REJECT,
    source=[
        "https://github.com/egoist/chatwise-releases/issues/250",
        "https://github.com/vercel/ai/issues/3775",
    ],
    refusal=refused("* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.\n"),
    examples=[body(user(text("")))],
    counterexamples=[body(user())],
)
def contents_have_parts(request: Request) -> Iterator[Finding]:
    """A content of the user has at least one part. A turn of the model may have none.

    Why: the client sent an empty message. Fix: leave the content out, or send `{"text": ""}`, which is accepted.
    """
    for index, (pointer, content) in enumerate(contents(request.body)):
        given = bool(content.get("parts")) or content.get("role") == "model"
        yield met(pointer) if given else broken(pointer, "the content has no parts", index=index)


@book.rule(
    "EMP-006",
    MUST,
    REJECT,
    source="https://github.com/boldsoftware/sketch/issues/68",
    refusal=refused(
        "* GenerateContentRequest.contents[{content}].parts[{part}].data: "
        "required oneof field 'data' must have one initialized field\n"
    ),
    examples=[body(user(text("")))],
    counterexamples=[body(user({}))],
)
def parts_hold_something(request: Request) -> Iterator[Finding]:
    """A part is not empty.

    Fix: leave the part out, or send an empty text as `{"text": ""}`.
    """
    for i, (pointer, content) in enumerate(contents(request.body)):
        for j, (place, part) in enumerate(parts(content, pointer)):
            yield met(place) if part else broken(place, "the part is empty", content=i, part=j)


@book.rule(
    "EMP-011",
    MUST,
    REJECT,
    source="https://github.com/router-for-me/CLIProxyAPI/issues/1293 (contents)",
    refusal=refused(
        "* GenerateContentRequest.system_instruction.parts[{part}].data: "
        "required oneof field 'data' must have one initialized field\n"
    ),
    examples=[body(ASK, systemInstruction={"parts": [text("Be brief.")]})],
    counterexamples=[body(ASK, systemInstruction={"parts": [{}]})],
)
def the_system_prompt_has_text(request: Request) -> Iterator[Finding]:
    """A part of `systemInstruction` is not empty.

    Fix: leave the part out.
    """
    prompt = get(request.body, "systemInstruction")
    for index, (place, part) in enumerate(parts(prompt, f"/{key_of(request.body, 'systemInstruction')}")):
        yield met(place) if part else broken(place, "the part is empty", part=index)


#: The fields of a part of which it has one.
DATA = frozenset(
    words("text inline_data function_call function_response file_data executable_code code_execution_result")
)


@book.rule(
    "REQ-077",
    MUST,
    REJECT,
    source="https://protobuf.dev/programming-guides/json/ (a oneof)",
    refusal=refused(
        "Invalid value at 'contents[{content}].parts[{part}]' (oneof), oneof field 'data' is already set. Cannot set "
        "'{key}'"
    ),
    examples=[body(user(text("Hi"), IMAGE))],
    counterexamples=[body(user({**text("Hi"), **IMAGE}))],
)
def parts_hold_one_thing(request: Request) -> Iterator[Finding]:
    """A part has one kind of data: text, a file, a call or a result.

    Fix: make a part for each.
    """
    for i, (pointer, content) in enumerate(contents(request.body)):
        for j, (place, part) in enumerate(parts(content, pointer)):
            found = [key for key in part if snake(key) in DATA and part[key] is not None]
            facts = {"content": i, "part": j, "key": found[1] if len(found) > 1 else ""}
            yield met(place) if len(found) < 2 else broken(place, "two kinds of data", **facts)


@book.rule(
    "REQ-078",
    MUST,
    REJECT,
    source=[
        "https://github.com/continuedev/continue/issues/7849 (Vertex AI)",
        "https://github.com/continuedev/continue/issues/2702",
    ],
    refusal=refused(
        "* GenerateContentRequest.generation_config.stop_sequences: the number of stop_sequences must not exceed 5\n"
    ),
    examples=[body(ASK, generationConfig={"stopSequences": [".", "!"]})],
    counterexamples=[body(ASK, generationConfig={"stopSequences": [".", "!", "?", ";", ":", ","]})],
)
def few_sequences_stop(request: Request) -> Iterator[Finding]:
    """A request has at most five stop sequences."""
    found = get(get(request.body, "generationConfig"), "stopSequences")
    if isinstance(found, list):
        place = "/generationConfig/stopSequences"
        yield met(place) if len(found) <= 5 else broken(place, f"{len(found)} stop sequences")


@book.rule(
    "REQ-005",
    MUST,
    REJECT,
    source="recorded refusal (Vertex AI)",
    refusal=refused("Please use a valid role: user, model."),
    examples=[body(ASK, model(text("5")), ASK), body({"parts": [text("Hi")]})],
    counterexamples=[body({"role": "assistant", "parts": [text("5")]})],
)
def roles_are_known(request: Request) -> Iterator[Finding]:
    """The role of a content is `user` or `model`.

    Why: `assistant` and `system` are roles of other providers. Fix: send the system prompt as `systemInstruction`.
    """
    for pointer, content in contents(request.body):
        role, place = content.get("role"), f"{pointer}/role"
        if isinstance(role, str):
            known = role in {"user", "model", "function", "tool", ""}
            yield met(place) if known else broken(place, f"{role!r} is not a role")


def _parts(request: Json) -> Iterator[tuple[str, Json]]:
    for pointer, content in contents(request):
        yield from parts(content, pointer)
