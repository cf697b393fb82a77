"""Requests that the schema check refuses with 422: unknown fields, wrong types and unknown tags."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from ...observed.exchange import Json, Request
from ...readers.json_access import elements, words
from ...readers.mistral import messages
from ...rule import Finding, met
from ._refusals_and_examples import (
    ASK,
    IMAGE,
    INVALID,
    MUST,
    ONCE_INVALID,
    REJECT,
    TOOL,
    body,
    book,
    invalid,
    says,
    user,
)

SDK = "https://github.com/mistralai/client-python (types)"
GENAI = "https://github.com/maruel/genai (Mistral's request type)"

#: Fields of others that are not Mistral's.
FOREIGN = frozenset(words("seed user logit_bias max_completion_tokens store keep_alive"))
#: All fields of a message of each role.
FIELDS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "prefix"},
    "tool": {"role", "content", "tool_call_id", "name"},
}
CHUNKS = (
    "text",
    "image_url",
    "document_url",
    "reference",
    "bbox",
    "file_url",
    "input_audio",
    "file",
    "thinking",
)  # as the refusals list them
NEWER = ("resource", "resource_link")
OWN_TOOLS = ("image_generation", "document_library", "connector")
_TAGS = ", ".join(f"<ChunkTypes.{tag}: '{tag}'>" for tag in CHUNKS)
_UNION = (
    "list[tagged-union[TextChunk,ImageURLChunk,DocumentURLChunk,ReferenceChunk,BBoxChunk,FileURLChunk,AudioChunk,"
    "FileChunk,ThinkChunk]]"
)
#: https://github.com/crmne/ruby_llm/blob/09b192bebf7946af5718752c6e3c84f90671d220/spec/fixtures/vcr_cassettes/chat_real_error_scenarios_mistral_mistral-small-latest_handles_invalid_message_format_errors.yml
_FIRST_UNION = _UNION.replace(",FileChunk,ThinkChunk", "")
_ROLES = ("system", "user", "assistant", "tool")


def _union(request: Request) -> str:
    """Returns the types of parts, as an error listed them on the day of the request: thinking came in June 2025."""
    first = request.when is not None and request.when < date(2025, 6, 10)
    return _FIRST_UNION if first else _UNION


@book.rule(
    "REQ-001",
    MUST,
    REJECT,
    source=SDK,
    refusal=INVALID,
    examples=[body(ASK)],
    counterexamples=[{"messages": [ASK]}, {"model": "mistral-small-latest"}],
)
def required_fields_are_there(request: Request) -> Iterator[Finding]:
    """The request has a `model` and `messages`.

    Fix: set `model` and `messages` in every request.
    """
    for key in ("model", "messages"):
        if key in request.body:
            yield met(f"/{key}")
        else:
            error = {"type": "missing", "loc": ["body", key], "msg": "Field required", "input": request.body}
            yield invalid("", f"`{key}` is missing", error)


@book.rule(
    "REQ-004",
    MUST,
    REJECT,
    source=GENAI,
    refusal=INVALID,
    formerly=[ONCE_INVALID],
    examples=[body(ASK, random_seed=1, max_tokens=5)],
    counterexamples=[
        body(ASK, seed=1),
        body(ASK, max_completion_tokens=5),
        body(ASK, user="someone"),
        body(ASK, store=False),
    ],
)
def fields_are_mistrals(request: Request) -> Iterator[Finding]:
    """The request has no fields of other providers that Mistral does not define.

    Fix: send `random_seed` instead of `seed` and `max_tokens` instead of `max_completion_tokens`, and leave
    out the others.
    """
    foreign = [key for key in request.body if key in FOREIGN]
    errors = [_extra(["body", key], request.body[key]) for key in foreign]
    for key in foreign:
        yield invalid(f"/{key}", f"Mistral has no field `{key}`", *errors)
    if not foreign:
        yield met("")


@book.rule(
    "REQ-011",
    MUST,
    REJECT,
    source=[
        "https://github.com/charmbracelet/crush/issues/1590 (reasoning_content)",
        "https://github.com/BerriAI/litellm/issues/30882 (metadata)",
        "https://github.com/nomtek/mistralai_client_dart/issues/44 (name and tool_calls of a user)",
        SDK,
    ],
    refusal=INVALID,
    formerly=[ONCE_INVALID],
    examples=[body(ASK, says("5", prefix=False), ASK)],
    counterexamples=[body({**ASK, "name": "alice"}), body(ASK, says("5", reasoning_content="2 + 3 …"), ASK)],
)
def messages_have_no_fields_of_others(request: Request) -> Iterator[Finding]:
    """A message has only the fields of its role; another field is refused even if it is null.

    Why: Mistral checks messages against a closed schema. Fix: send only the fields of the format, and do not
    send whole answers back.
    """
    found = [
        (f"{pointer}/{key}", _extra(["body", "messages", index, message.get("role"), key], message[key]))
        for index, (pointer, message) in enumerate(messages(request.body))
        for key in message
        if key not in FIELDS.get(str(message.get("role")), message)
    ]
    for place, _ in found:
        yield invalid(place, "the message has no such field", *(error for _, error in found))
    if not found:
        yield met("/messages")


@book.rule(
    "REQ-005",
    MUST,
    REJECT,
    source=["recorded refusals of other tags (ministral-3b)", SDK],
    refusal=INVALID,
    examples=[body({"role": "system", "content": "Be brief."}, ASK)],
    counterexamples=[body({"role": "developer", "content": "Be brief."}, ASK)],
)
def roles_are_known(request: Request) -> Iterator[Finding]:
    """The role of a message is one of `system`, `user`, `assistant`, `tool`.

    Fix: send the role `system` instead of `developer`.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        role, place = message.get("role"), f"{pointer}/role"
        if isinstance(role, str):
            error = _untagged(
                ["body", "messages", index], "role", role, message, ", ".join(map(repr, _ROLES))
            )
            yield met(place) if role in _ROLES else invalid(place, f"{role!r} is not a role", error)


@book.rule(
    "REQ-009",
    MUST,
    REJECT,
    source="recorded refusal of a part of type `audio_url` (ministral-3b)",
    refusal=INVALID,
    examples=[
        body(user({"type": "text", "text": "What is this?"}, IMAGE)),
        body(user({"type": "resource_link", "uri": "https://example.com/a"})),
    ],
    counterexamples=[
        body(user({"type": "audio_url", "audio_url": {"url": "https://example.com/a.aac"}})),
        body(user({"type": "input_text", "text": "Hi"})),
    ],
)
def parts_are_known(request: Request) -> Iterator[Finding]:
    """A part of a user message is text, an image or document URL, audio, a file or a reference.

    Fix: map your own parts to these when you build the request.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        parts = message.get("content")
        if message.get("role") != "user" or not isinstance(parts, list):
            continue
        at: list[str | int] = ["body", "messages", index, "user", "content"]
        for i, (place, part) in enumerate(elements(parts, f"{pointer}/content")):
            kind = part.get("type")
            if not isinstance(kind, str) or kind in (*CHUNKS, *NEWER):
                yield met(place)
                continue
            text = {
                "type": "string_type",
                "loc": [*at, "str"],
                "msg": "Input should be a valid string",
                "input": parts,
            }
            error = _untagged([*at, _UNION, i], "type", kind, part, _TAGS)
            yield invalid(place, f"{kind!r} is not a type of content part", text, error)


@book.rule(
    "REQ-012",
    MUST,
    REJECT,
    source=[
        "recorded refusals of `web_search` (ministral-3b)",
        SDK,
        "https://github.com/vercel/ai/issues/14312 (searches are for agents and conversations)",
    ],
    refusal=INVALID,
    examples=[body(ASK, tools=[TOOL, {"type": "image_generation"}])],
    counterexamples=[body(ASK, tools=[{"type": kind}]) for kind in ("web_search", "code_interpreter")],
)
def tools_are_functions(request: Request) -> Iterator[Finding]:
    """A tool is a function, or one of Mistral's own tools that are not limited to agents.

    Fix: declare your tools as functions, and use agents for the other ones.
    """
    for i, (place, tool) in enumerate(elements(request.body.get("tools"), "/tools")):
        kind = tool.get("type", "function")
        fine = kind in OWN_TOOLS or (kind == "function" and isinstance(tool.get("function"), dict))
        yield met(place) if fine else invalid(place, "the tool is not a function", *_no_function(i, tool))


@book.rule(
    "REQ-007",
    MUST,
    REJECT,
    source=SDK,
    refusal=INVALID,
    examples=[body(ASK, says("5"), ASK)],
    counterexamples=[body({"role": "user", "content": {"type": "text", "text": "Hi"}})],
)
def content_is_text_or_a_list(request: Request) -> Iterator[Finding]:
    """Content is a string or a list of parts.

    Fix: wrap a single part in a list.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        content, place = message.get("content"), f"{pointer}/content"
        at = ["body", "messages", index, message.get("role"), "content"]
        text = {
            "type": "string_type",
            "loc": [*at, "str"],
            "msg": "Input should be a valid string",
            "input": content,
        }
        listed = {
            "type": "list_type",
            "loc": [*at, _union(request)],
            "msg": "Input should be a valid list",
            "input": content,
        }
        right = content is None or isinstance(content, str | list)
        problem = "the content is neither a string nor a list"
        yield met(place) if right else invalid(place, problem, text, listed)


def _no_function(index: int, tool: Json) -> Iterator[Json]:
    at: list[str | int] = ["body", "tools", "list[Tool]", index]
    kind = tool.get("type", "function")
    if kind != "function":
        error = {"type": "enum", "loc": [*at, "type"], "msg": "Input should be 'function'", "input": kind}
        yield {**error, "ctx": {"expected": "'function'"}}
    if not isinstance(tool.get("function"), dict):
        yield {"type": "missing", "loc": [*at, "function"], "msg": "Field required", "input": tool}
    at = ["body", "tools", "list[str]", index]
    yield {"type": "string_type", "loc": at, "msg": "Input should be a valid string", "input": tool}


def _extra(at: list[Any], value: Any) -> Json:
    """Returns pydantic's error for a field that a model does not have."""
    return {"type": "extra_forbidden", "loc": at, "msg": "Extra inputs are not permitted", "input": value}


def _untagged(at: list[str | int], key: str, tag: str, value: Json, expected: str) -> Json:
    """Returns pydantic's error for a tag that no member of a union has."""
    return {
        "type": "union_tag_invalid",
        "loc": at,
        "msg": f"Input tag '{tag}' found using '{key}' does not match any of the expected tags: {expected}",
        "input": value,
        "ctx": {"discriminator": f"'{key}'", "tag": tag, "expected_tags": expected},
    }
