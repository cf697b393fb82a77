"""The body of a request: the fields of the protobuf messages for the JSON, which the API names when it refuses others;
objects, contents with parts, and roles.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...observed.exchange import Json, Request
from ...readers import own_path
from ...readers.gemini import contents, declarations, get, key_of, parts, snake
from ...readers.json_access import decoded, words
from ...rule import Finding, broken, met
from ...shapes.facts import root_fields
from .._media import PNG, redacted
from .._samples import ADD
from ._proto import Problem, findings, proto, unknown_field
from ._refusals_and_examples import (
    ASK,
    IMAGE,
    MUST,
    REJECT,
    SIGNED,
    TOOLS,
    answer,
    body,
    book,
    call,
    model,
    refused,
    text,
    user,
)

SDK = "https://github.com/googleapis/python-genai (types)"
SCHEMA: Json = {"type": "OBJECT", "properties": {"x": {"type": "NUMBER"}}}
TOP = frozenset(map(snake, root_fields("gemini") | root_fields("vertex")))
CONFIG = frozenset(
    words(
        "audio_timestamp audio_transcription_config candidate_count enable_affective_dialog enable_enhanced_civic_answers "
        "frequency_penalty image_config logprobs max_output_tokens media_resolution model_config model_selection_config "
        "presence_penalty response_format response_json_schema _response_json_schema response_logprobs "
        "response_mime_type response_modalities response_schema routing_config seed speech_config stop_sequences "
        "temperature thinking_config top_k top_p translation_config"
    )
)
LATER = frozenset({"response_format"})  # fields of generationConfig that were refused before they were known
#: Fields that v1beta alone had, before the SDKs of November 2026 made v1 their default: https://github.com/googleapis/python-genai/releases/tag/v3.0.0
LATER_IN_V1 = frozenset({"system_instruction", "response_mime_type", "response_schema"})
CONTENT = frozenset(words("parts role"))
PART = frozenset(
    words(
        "audio_metadata audio_transcription code_execution_result document_metadata executable_code file_data "
        "function_call function_response inline_data media_processing media_resolution part_metadata speech_metadata "
        "spreadsheet_metadata text thought thought_signature tool_call tool_response video_metadata"
    )
)
CALL = frozenset(words("args id name partial_args will_continue"))
RESPONSE = frozenset(words("id name parts response scheduling will_continue"))
DECLARATION = frozenset(
    words("behavior description name parameters parameters_json_schema response response_json_schema")
)


@book.rule(
    "REQ-004",
    MUST,
    REJECT,
    source=[
        "recorded refusals of `logProbs` and `response_schema`",
        SDK,
        "https://github.com/yym68686/uni-api/issues/47 (v1, 2024)",
        "https://github.com/vercel/ai/pull/2256 (v1, 2024)",
    ],
    refusal=refused("{text}"),
    formerly=[refused("{formerly}")],
    examples=[body(ASK, tools=TOOLS, generationConfig={"maxOutputTokens": 5, "top_k": 5})],
    counterexamples=[
        body(ASK, response_schema={"type": "object"}),
        body(ASK, generationConfig={"response_format": {}}, response_schema={"type": "object"}),
        body(ASK, generationConfig={"logProbs": True}),
        body(user({"type": "text", "text": "Hi"})),
        body({"role": "user", "content": "Hi", "parts": [text("Hi")]}),
        body(ASK, model({"functionCall": {"name": "add", "arguments": {}}}), user(answer())),
        body(ASK, tools=[{"functionDeclarations": [{**ADD, "strict": True}]}]),
    ],
)
def keys_are_known(request: Request) -> Iterator[Finding]:
    """The request has only fields that its protobuf messages define.

    Why: protobuf's JSON accepts only the defined names, in camelCase or snake_case. Version v1 of the Gemini API had
    neither a system instruction nor JSON output until 2026. Fix: build each object from the names of the API's reference; options
    belong into `generationConfig`.
    """
    later = LATER | LATER_IN_V1 if own_path(request.url).startswith("/v1/models/") else LATER
    formerly = "\n".join(each.message for each in _unknown(request.body, later))
    yield from findings(list(_unknown(request.body)), formerly=formerly)


def _unknown(request: Json, later: frozenset[str] = frozenset()) -> Iterator[Problem]:
    """Yields unknown fields in the order of the request. `later` are fields that were unknown at first."""
    for key, value in request.items():
        match snake(key):
            case "generation_config":
                yield from _strange(f"/{key}", value, CONFIG - later)
            case "contents":
                yield from _strange_fields(request)
            case "tools":
                for pointer, declaration in declarations(request):
                    yield from _strange(pointer, declaration, DECLARATION)
            case _:
                yield from _strange("", {key: value}, TOP - later)


def _strange_fields(request: Json) -> Iterator[Problem]:
    for pointer, content in contents(request):
        yield from _strange(pointer, content, CONTENT)
        for place, part in parts(content, pointer):
            yield from _strange(place, part, PART)
            for name, fields in (("functionCall", CALL), ("functionResponse", RESPONSE)):
                yield from _strange(f"{place}/{key_of(part, name)}", get(part, name), fields)


def _strange(pointer: str, message: object, fields: frozenset[str]) -> Iterator[Problem]:
    """Yields a problem for each field that a message does not have."""
    for key in message if isinstance(message, dict) else ():
        if snake(key) not in fields:
            yield Problem(f"{pointer}/{key}", *unknown_field(key, proto(pointer)))


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
    """Inline data is base64 without a `data:` prefix.

    Fix: cut everything up to the comma, and send the media type as `mimeType`.
    """
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
    """The request has `contents`.

    Fix: send the question in `contents`, and not as `messages` or `prompt`.
    """
    fine = bool(request.body.get("contents"))
    yield met("/contents") if fine else broken("", "there are no contents")


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
        fine = bool(content.get("parts")) or content.get("role") == "model"
        yield met(pointer) if fine else broken(pointer, "the content has no parts", index=index)


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

    Fix: make one part for each kind.
    """
    for i, (pointer, content) in enumerate(contents(request.body)):
        for j, (place, part) in enumerate(parts(content, pointer)):
            found = [key for key in part if snake(key) in DATA and part[key] is not None]
            facts = {"content": i, "part": j, "key": found[1] if len(found) > 1 else ""}
            yield met(place) if len(found) < 2 else broken(place, "the part has two kinds of data", **facts)


@book.rule(
    "STO-020",
    MUST,
    REJECT,
    source="https://ai.google.dev/api/generate-content#generationconfig",
    refusal=refused("{reason}"),
    preview=True,  # the page says "must", and no refusal is on record
    examples=[body(ASK, generationConfig={"responseMimeType": "application/json", "responseSchema": SCHEMA})],
    counterexamples=[
        body(ASK, generationConfig={"responseSchema": SCHEMA}),
        body(
            ASK,
            generationConfig={
                "responseMimeType": "application/json",
                "responseSchema": SCHEMA,
                "responseJsonSchema": {},
            },
        ),
    ],
)
def one_schema_has_its_type(request: Request) -> Iterator[Finding]:
    """Structured output has one of `responseSchema` and `responseJsonSchema`, with a `responseMimeType`.

    Why: the documentation requires it. No error text of the API is on record. Fix: send one of the two schemas, with
    `responseMimeType: "application/json"`.
    """
    config, place = get(request.body, "generationConfig"), "/generationConfig"
    keys = [key for key in ("responseSchema", "responseJsonSchema") if get(config, key) is not None]
    if len(keys) > 1:
        problem = "`responseSchema` and `responseJsonSchema` are given"
        yield broken(place, problem, reason=problem)
    elif keys:
        problem = f"`{keys[0]}` without `responseMimeType`"
        yield met(place) if get(config, "responseMimeType") else broken(place, problem, reason=problem)


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
    """A request has at most five stop sequences.

    Fix: raise an error before the request, or send the first five.
    """
    found = get(get(request.body, "generationConfig"), "stopSequences")
    if isinstance(found, list):
        place = "/generationConfig/stopSequences"
        yield met(place) if len(found) <= 5 else broken(place, f"the request has {len(found)} stop sequences")


@book.rule(
    "REQ-005",
    MUST,
    REJECT,
    source="recorded refusal (Vertex AI)",
    refusal=refused("Please use a valid role: user, model."),
    models=["!gemini>=3.6"],
    examples=[body(ASK, model(text("5")), ASK), body({"parts": [text("Hi")]})],
    counterexamples=[body({"role": "assistant", "parts": [text("5")]})],
)
def roles_are_known(request: Request) -> Iterator[Finding]:
    """The role of a content is `user` or `model`.

    Why: `assistant` and `system` are roles of other providers. Fix: send the system prompt as `systemInstruction`.
    """
    # https://github.com/alchaplinsky/regent/blob/d3eb8ae6fa69: accepted from `assistant` in January 2025, but not by Vertex AI
    lenient = request.provider == "google" and "gemini-1.5" in request.model
    for pointer, content in contents(request.body):
        role, place = content.get("role"), f"{pointer}/role"
        if isinstance(role, str):
            fine = role in {"user", "model", "function", "tool", ""} or (lenient and role == "assistant")
            yield met(place) if fine else broken(place, f"{role!r} is not a role")


#: The roles that the refusal names, of which only the first two are documented.
_OF_2026 = {"user", "model", "system", "system_1", "assistant", "developer", "context", "user_context", ""}


@book.rule(
    "REQ-079",
    MUST,
    REJECT,
    source=[
        "https://github.com/blakeblackshear/frigate/pull/24013 (gemini-3.7-flash)",
        "https://github.com/Sylinko/Everywhere/issues/478 (gemini-3.6-flash)",
        "https://github.com/genkit-ai/genkit/pull/5780 (`tool`, gemini-3.6-flash)",
    ],
    refusal=refused(
        "Role '{role}' is not supported. Please use a valid role: SYSTEM, SYSTEM_1, USER, ASSISTANT, DEVELOPER, "
        "CONTEXT, USER_CONTEXT, MODEL, USER."
    ),
    models=["gemini>=3.6"],
    examples=[body(ASK, model(call(**SIGNED)), user(answer()), named="gemini-3.6-flash")],
    counterexamples=[
        body(ASK, model(call(**SIGNED)), {**user(answer()), "role": role}, named="gemini-3.6-flash")
        for role in ("function", "tool")
    ],
)
def results_have_the_role_of_the_user(request: Request) -> Iterator[Finding]:
    """From Gemini 3.6 on, the roles `function` and `tool` are refused.

    Why: older models took the results of functions from these roles. Fix: send them in a content with the role `user`.
    """
    for pointer, content in contents(request.body):
        role, place = content.get("role"), f"{pointer}/role"
        if isinstance(role, str):
            fine = role.lower() in _OF_2026
            yield met(place) if fine else broken(place, f"{role!r} is not a role", role=role)


def _parts(request: Json) -> Iterator[tuple[str, Json]]:
    for pointer, content in contents(request):
        yield from parts(content, pointer)
