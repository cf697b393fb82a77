"""Bugs of kinds that no earlier list had: null where a field is missing, lines of a megabyte, pieces without text, audio, betas, forms that
another model or another API has, a call of one named tool, thinking that is switched off. `tables/forms.toml` lists them.

They were planted before anybody looked whether a rule sees them. As those of `mined.py`, each is one change of a request, of its headers,
of an answer before the client reads it, or of what a library hands over.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.contract.readers.json_access import object_of
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects
from ..base import is_media
from ..neutral_requests import Body
from .mined import Change, Chunks, Heads, arguments, each, listed, result_texts, said, schemas, without

# --- Options and fields ----------------------------------------------------------------------------------


def _dropped(name: str) -> Change:
    return lambda body: body.body.pop(name, None)


def _limit_under_its_old_name(body: Body) -> None:
    if "max_completion_tokens" in body.body:
        body.body["max_tokens"] = body.body.pop("max_completion_tokens")


def _format_of_chat(body: Body) -> None:
    told = object_of(body.body.get("text")).pop("format", None)
    if told:
        named = {name: told[name] for name in ("name", "schema", "strict")}
        body.body["response_format"] = {"type": "json_schema", "json_schema": named}


def _format_as_text(body: Body) -> None:
    if isinstance(body.body.get("format"), dict):
        body.body["format"] = json.dumps(body.body["format"])


def _in_config(**more: Any) -> Change:
    """Returns a change of Gemini's configuration of thinking."""

    def change(body: Body) -> None:
        config = object_of(object_of(body.body.get("generationConfig")).get("thinkingConfig"))
        config.update(more if config else {})

    return change


def _level_for_a_budget(body: Body) -> None:
    config = object_of(object_of(body.body.get("generationConfig")).get("thinkingConfig"))
    if config.pop("thinkingBudget", None):
        config["thinkingLevel"] = "THINKING_LEVEL_UNSPECIFIED"


def _tools_among_options(body: Body) -> None:
    if "tools" in body.body:
        body.body.setdefault("options", {})["tools"] = body.body.pop("tools")


def _any_for_a_choice(body: Body) -> None:
    if "tool_choice" in body.body:
        body.body["tool_choice"] = "any"


def _any_tool(body: Body) -> None:
    """Forces any call in place of that of one tool."""
    choices = {"mistral": "any"}
    if isinstance(body.body.get("tool_choice"), dict):
        body.body["tool_choice"] = choices.get(body.wire, "required")


def _no_names(body: Body) -> None:
    object_of(object_of(body.body.get("toolConfig")).get("functionCallingConfig")).pop(
        "allowedFunctionNames", None
    )


def _freely(body: Body) -> None:
    """Leaves a call to the model that the caller forces by a tool's name."""
    if isinstance(body.body.get("tool_choice"), dict):
        del body.body["tool_choice"]


def _thinks_anyway(body: Body) -> None:
    """Asks for thinking that the caller switched off."""
    wanted: Mapping[str, Json] = {
        "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        "bedrock": {
            "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        },
        "gemini": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 2048}}},
        "openai-responses": {"reasoning": {"effort": "medium"}},
        "ollama": {"think": True},
        "mistral": {"reasoning_effort": "high"},
        "cohere": {"thinking": {"type": "enabled"}},
    }
    body.body |= wanted[body.wire]


def _false_is_nothing(body: Body) -> None:
    """Drops the options that are false, zero or empty."""
    for name in ("think", "thinking", "generationConfig", "reasoning"):
        if name in body.body:
            del body.body[name]


# --- Calls, results and media ----------------------------------------------------------------------------


def _edited(given: Json) -> Json:
    return {**given, "copies": 10} if "copies" in given else given


def _union_at_the_root(schema: Json) -> Json:
    return {**schema, "anyOf": [{"required": schema.get("required", [])}]}


def _required_as_flags(schema: Json) -> Json:
    required = schema.get("required", [])
    properties = {
        name: {**inner, "required": True} if name in required else inner
        for name, inner in schema.get("properties", {}).items()
    }
    return {**without("required")(schema), "properties": properties}


def _by_a_function(body: Body) -> None:
    names = {call.id.value: call.name.value for call in body.calls() if call.id}
    for turn in body.turns:
        if turn.get("role") == "tool":
            turn |= {"role": "function", "name": names.get(turn.pop("tool_call_id"))}


def _by_the_model(body: Body) -> None:
    for turn in body.turns:
        if any("functionResponse" in part for part in body.blocks(turn)):
            turn["role"] = "model"


def _lists_of_blocks(body: Body) -> Iterator[list[Json]]:
    """Yields the blocks of each message, and those of each result."""
    for turn in body.turns:
        yield body.blocks(turn)
        held = [turn.get("output"), *(part.get("content") for part in body.blocks(turn))]
        yield from (inner for inner in held if isinstance(inner, list))


def _first_image(body: Body) -> None:
    for blocks in _lists_of_blocks(body):
        for picture in [block for block in blocks if is_media(block)][1:]:
            blocks.remove(picture)


def _unsupported_images(body: Body) -> None:
    source = {"type": "base64", "media_type": "image/bmp", "data": "Qk0eAAAAAAAAABoAAAAMAAAAAQABAAEAGAAAAP8A"}
    for blocks in map(body.blocks, body.turns):
        if any(block.get("type") == "tool_result" for block in blocks):
            blocks.append({"type": "image", "source": source})


def _maps_of_numbers(body: Body) -> None:
    for found in objects(body.turns):
        if isinstance(found.get("bytes"), str):
            found["bytes"] = {str(at): byte for at, byte in enumerate(b64decode(found["bytes"]))}


def _audio_as_a_data_url(body: Body) -> None:
    for found in objects(body.turns):
        if "input_audio" in found:
            found["input_audio"]["data"] = f"data:audio/wav;base64,{found['input_audio']['data']}"


def _audio_only_once(body: Body) -> None:
    for blocks in map(body.blocks, body.turns[:-1]):
        blocks[:] = [block for block in blocks if not {"input_audio", "inlineData"} & {*block}]


def _goes_on(body: Body) -> None:
    if body.turns[-1]["role"] == "assistant":
        body.say("user", "Continue.")


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "counts_not_asked_for": _dropped("stream_options"),
    "limit_under_its_old_name": _limit_under_its_old_name,
    "format_of_chat_at_responses": _format_of_chat,
    "format_as_text": _format_as_text,
    "level_and_budget": _in_config(thinkingBudget=4096),
    "level_unspecified": _level_for_a_budget,
    "tools_among_options": _tools_among_options,
    "any_at_cohere": _any_for_a_choice,
    "any_for_one_tool": _any_tool,
    "allowed_names_lost": _no_names,
    "named_call_left_open": _freely,
    "thinking_in_spite_of_off": _thinks_anyway,
    "off_is_nothing": _false_is_nothing,
    "stream_left_out": lambda body: (
        body.body.pop("stream", None) if body.body.get("stream") is False else None
    ),
    "edited_arguments_in_history": arguments(_edited),
    "supplied_result_lost": each(result_texts, lambda _: "Tool result missing from saved history"),
    "union_at_the_root": schemas(_union_at_the_root),
    "required_as_flags": schemas(_required_as_flags),
    "root_type_lost": schemas(lambda schema: {key: value for key, value in schema.items() if key != "type"}),
    "results_by_a_function": _by_a_function,
    "results_said_by_the_model": _by_the_model,
    "first_image_of_results": _first_image,
    "unsupported_images_sent": _unsupported_images,
    "images_as_maps_of_numbers": _maps_of_numbers,
    "audio_as_a_data_url": _audio_as_a_data_url,
    "audio_only_once": _audio_only_once,
    "pause_answered_by_the_user": _goes_on,
    "halves_escaped": each(said("user"), lambda text: text.replace("\ufffd", "\ud83d")),
}

# --- Answers ---------------------------------------------------------------------------------------------


def _fails(event: Json) -> None:
    event["error"] = {"message": "'NoneType' object has no attribute 'content'"}


def _without_choices(events: Sequence[Json]) -> None:
    for event in events:
        if event.get("choices") == [] and not event.get("usage"):
            _fails(event)


def _null_deltas(events: Sequence[Json]) -> None:
    for event in events:
        if any(
            choice.get("delta") is None and "message" not in choice for choice in event.get("choices") or ()
        ):
            _fails(event)


def _text_beside_null(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if "content" in found and found.get("tool_calls", ()) is None:
            found["content"] = ""


def _blank_reasons(events: Sequence[Json]) -> None:
    over = False
    for choice in [choice for event in events for choice in event.get("choices") or ()]:
        if over:
            choice["delta"] = {}
        over = over or choice.get("finish_reason") == ""


def _null_parts(events: Sequence[Json]) -> None:
    for event in events:
        if object_of(event.get("usage")).get("prompt_tokens_details", ()) is None:
            _fails(event)


def _counts_added(events: Sequence[Json]) -> None:
    totals: dict[str, int] = {}
    for event in events:
        for name, count in object_of(event.get("usageMetadata")).items():
            if isinstance(count, int):
                totals[name] = totals.get(name, 0) + count
                event["usageMetadata"][name] = totals[name]


def _full_context(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        for name in ("stop_reason", "stopReason"):
            if found.get(name) == "model_context_window_exceeded":
                found[name] = "end_turn"


def _thoughts_for_texts(events: Sequence[Json]) -> None:
    for message in (object_of(event.get("message")) for event in events):
        if message.get("thinking") and not message.get("content"):
            message["content"] = message["thinking"]


#: What each bug changes of an answer before the client reads it.
ANSWERS: Mapping[str, Rewrite] = {
    "chunks_without_choices_fail": _without_choices,
    "null_deltas_fail": _null_deltas,
    "text_beside_null_lost": _text_beside_null,
    "blank_reason_is_the_end": _blank_reasons,
    "null_parts_fail": _null_parts,
    "counts_of_gemini_added": _counts_added,
    "full_context_is_the_end": _full_context,
    "thoughts_for_empty_texts": _thoughts_for_texts,
}


def _failing(pattern: bytes) -> Chunks:
    """Returns a reader that fails where the body has a pattern."""

    def read(chunks: list[bytes]) -> list[bytes]:
        if re.search(pattern, b"".join(chunks), re.MULTILINE):
            raise httpx.RemoteProtocolError("unexpected data")
        return chunks

    return read


def _until_message_stop(chunks: list[bytes]) -> list[bytes]:
    """Ends an event stream of AWS before its last event, which has the counts."""
    body, ends, at = b"".join(chunks), [0], 0
    while body[:1] == b"\0" and at < len(body):
        at += int.from_bytes(body[at : at + 4], "big")
        ends.append(at)
    return [body[: ends[-2]] if len(ends) > 1 else body]


#: How each bug reads the bytes of an answer.
CHUNKS: Mapping[str, Chunks] = {
    "null_events_fail": _failing(rb"^data: ?null"),
    "lines_over_64_kb_fail": _failing(rb"^.{65537}"),
    "metadata_not_read": _until_message_stop,
}


def _none(reply: Reply) -> Reply:
    return replace(reply, text=reply.text or "None")


def _too_many(reply: Reply) -> Reply:
    return replace(reply, error=RuntimeError("Rate limit exceeded.")) if reply.error else reply


#: What each bug changes of a reply.
REPLIES: Mapping[str, Callable[[Reply], Reply]] = {
    "none_for_empty_answers": _none,
    "overflow_is_a_rate_limit": _too_many,
}


def _stale_beta(headers: httpx.Headers) -> None:
    if "anthropic-version" in headers:
        headers["anthropic-beta"] = "interleaved-thinking-2025-04-14"


def _no_beta_of_files(headers: httpx.Headers) -> None:
    if "anthropic-version" in headers and headers.get("content-type") == "application/json":
        headers["anthropic-version"] = "2023-06-01"
        headers.pop("anthropic-beta", None)


def _no_dates(headers: httpx.Headers) -> None:
    if not headers.get("retry-after", "1").isdecimal():
        del headers["retry-after"]


#: What each bug changes of the headers.
HEADERS: Mapping[str, Heads] = {
    "stale_beta": _stale_beta,
    "beta_of_files_lost": _no_beta_of_files,
    "dates_of_waits_ignored": _no_dates,
}

FORMS = listed("forms.toml", CHANGES, REPLIES, ANSWERS, CHUNKS, headers=HEADERS)
