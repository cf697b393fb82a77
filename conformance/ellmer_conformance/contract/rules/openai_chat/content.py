"""The content of messages and its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...exchange import Request
from ...readers.json_access import items_of, object_of
from ...readers.openai_chat import all_parts, messages
from ...rule import Finding, broken, met
from .._openai.refusals import WORDED, listed, mistyped, path, refused
from ._rulebook import ASK, MUST, REJECT, body, book

PARTS = ("text", "image_url", "input_audio", "refusal", "audio", "file")


@book.rule(
    "REQ-007",
    MUST,
    REJECT,
    source=[
        "recorded refusals: an object as content (gpt-4.1-nano), null as image URL (gpt-4o-mini)",
        "an image's URL as a string: recorded as accepted in 2023 (gpt-4-vision-preview)",
    ],
    refusal=WORDED,
    examples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}]})],
    counterexamples=[
        body({"role": "user", "content": {"type": "text", "text": "Hi"}}),
        body({"role": "user", "content": 5}),
        body({"role": "developer", "content": None}, ASK),
        body({"role": "user", "content": [{"type": "text", "text": None}]}),
        body(ASK, {"role": "assistant", "content": "5", "tool_calls": "add"}, ASK),
        body({"role": "user", "content": [{"type": "image_url", "image_url": "https://example.com/a.png"}]}),
        body({"role": "user", "content": [{"type": "image_url", "image_url": {"url": None}}]}),
    ],
)
def fields_have_their_types(request: Request) -> Iterator[Finding]:
    """`content` is a string or a list of objects, `text` is a string, and `image_url` is an object with a `url`.

    Fix: put a single part into a list, and write `{"type": "image_url", "image_url": {"url": …}}`.
    """
    for pointer, message in messages(request.body):
        content, place = message.get("content", ""), f"{pointer}/content"
        calls = message.get("tool_calls")
        if message.get("role") == "assistant" and not isinstance(calls, list | None):
            yield mistyped(f"{pointer}/tool_calls", "an array of objects", calls)
        absent = content is None and message.get("role") != "developer"
        if not absent and not isinstance(content, str | list):
            yield mistyped(place, "one of a string or array of objects", content)
            continue
        yield met(place)
        for i, part in enumerate(items_of(content)):
            former = "vision" in request.model and isinstance(object_of(part).get("image_url"), str)
            yield from () if former else _part(part, f"{place}/{i}")


@book.rule(
    "REQ-009",
    MUST,
    REJECT,
    source="recorded refusal of a part of type `pdf` (gpt-4o-mini)",
    refusal=refused(
        f"Invalid value: '{{type}}'. Supported values are: {listed(PARTS)}.",
        code="invalid_value",
        param="{path}",
    ),
    examples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}]})],
    counterexamples=[
        body({"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}),
        body({"role": "user", "content": [{"type": "image", "source": {}}]}),
    ],
)
def parts_are_known(request: Request) -> Iterator[Finding]:
    """The type of a content part is text, image URL, audio, refusal or file.

    Why: the API refuses the type names of the Responses API (`input_text`) and of other providers (`image`).
    """
    for pointer, part in all_parts(request.body):
        kind, place = part.get("type"), f"{pointer}/type"
        if isinstance(kind, str):
            problem = f"{kind!r} is not a type of content part"
            yield met(place) if kind in PARTS else broken(place, problem, type=kind, path=path(place))


@book.rule(
    "REQ-011",
    MUST,
    REJECT,
    source="recorded refusal of `file.data` (gpt-4o)",
    refusal=refused("Unknown parameter: '{path}'.", code="unknown_parameter", param="{path}"),
    examples=[body({"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1"}}]})],
    counterexamples=[body({"role": "user", "content": [{"type": "file", "file": {"data": "JVBERi0="}}]})],
)
def file_keys_are_known(request: Request) -> Iterator[Finding]:
    """A file part has `file_data` or `file_id`, may have a `filename`, and has no other field."""
    for pointer, part in all_parts(request.body):
        file = part.get("file")
        for key in file if isinstance(file, dict) else ():
            place, known = f"{pointer}/file/{key}", key in {"file_data", "file_id", "filename"}
            yield (
                met(place)
                if known
                else broken(place, f"a file part does not have the field `{key}`", path=path(place))
            )


@book.rule(
    "REQ-045",
    MUST,
    REJECT,
    source="recorded refusals",
    refusal=refused("Unknown parameter: '{path}'.", code="unknown_parameter", param="{path}"),
    models=["gpt-5*", "!gpt-5.6*"],  # which accept it: braintrustdata/lingua has recordings
    examples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}, model="gpt-5")],
    counterexamples=[
        body(
            {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {}}]}, model="gpt-5"
        )
    ],
)
def parts_have_no_fields_of_others(request: Request) -> Iterator[Finding]:
    """A content part has no `cache_control`, which is a field of Anthropic.

    Fix: leave it out. Caching is automatic here.
    """
    for pointer, part in all_parts(request.body):
        place, marked = f"{pointer}/cache_control", "cache_control" in part
        problem = "there is no `cache_control` here"
        yield broken(place, problem, path=path(place)) if marked else met(pointer)


def _part(part: Any, pointer: str) -> Iterator[Finding]:
    if not isinstance(part, dict):
        yield mistyped(pointer, "an object", part)
    elif part.get("type") == "text" and not isinstance(part.get("text", ""), str):
        yield mistyped(f"{pointer}/text", "a string", part["text"])
    elif part.get("type") == "image_url" and "image_url" in part:
        image, place = part["image_url"], f"{pointer}/image_url"
        if not isinstance(image, dict):
            yield mistyped(place, "an object", image)
        elif not isinstance(image.get("url", ""), str):
            yield mistyped(f"{place}/url", "a base64-encoded data URL", image["url"])
        else:
            yield met(place)
