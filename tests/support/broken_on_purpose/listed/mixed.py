"""Bugs of clients from threads of 2026 that no earlier list had: signatures in places of their own, schemas that are rewritten,
denied calls, counts of thoughts, sources in streams, waits. `tables/mixed.toml` lists them.

They were planted before anybody looked whether a rule sees them. As those of `mined.py`, each is one change of a request, of its headers,
of an answer before the client reads it, or of what a library hands over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.contract.readers.json_access import object_of
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects
from ..base import is_media, is_result
from ..neutral_requests import Body
from .mined import Change, Chunks, Heads, each, listed, result_texts, schemas


def _all_blocks(body: Body) -> Iterator[list[Json]]:
    """Yields the blocks of each message, and those of each result."""
    for turn in body.turns:
        yield body.blocks(turn)
        held = [turn.get("output"), *(part.get("content") for part in body.blocks(turn))]
        yield from (inner for inner in held if isinstance(inner, list))


def _text(body: Body, text: str) -> Json:
    """Returns a text of the user in a block."""
    kinds = {"openai-chat": "text", "openai-responses": "input_text", "anthropic": "text"}
    return {"type": kinds[body.wire], "text": text} if body.wire in kinds else {"text": text}


# --- Signatures and thoughts -----------------------------------------------------------------------------


def _texts_unsigned(body: Body) -> None:
    for part in (part for turn in body.turns for part in body.blocks(turn) if "text" in part):
        part.pop("thoughtSignature", None)


def _validator_skipped(body: Body) -> None:
    for found in objects(body.turns):
        if "functionCall" in found and "thoughtSignature" in found:
            found["thoughtSignature"] = "skip_thought_signature_validator"


def _untold_thoughts_lost(body: Body) -> None:
    for blocks in map(body.blocks, body.turns):
        blocks[:] = [p for p in blocks if p.get("type") != "thinking" or p.get("thinking")]


def _reasoning_nameless(body: Body) -> None:
    for item in body.turns:
        if item.get("type") == "reasoning":
            item.pop("id", None)


def _redacted_as_blank(body: Body) -> None:
    for found in objects(body.turns):
        if "redactedContent" in object_of(found.get("reasoningContent")):
            found["reasoningContent"] = {"reasoningText": {"text": ""}}


def _reasoning_kept_back(body: Body) -> None:
    for turn in body.turns:
        turn.pop("reasoning_content", None)


def _budget_is_the_limit(body: Body) -> None:
    thinking = object_of(body.body.get("thinking"))
    if "budget_tokens" in thinking:
        thinking["budget_tokens"] = body.body["max_tokens"]


def _temperature_beside_thinking(body: Body) -> None:
    if "thinking" in body.body:
        body.body["temperature"] = 0.7


# --- Calls and results -----------------------------------------------------------------------------------


def _id_of_the_call(body: Body) -> None:
    for item in body.turns:
        if item.get("type") == "function_call":
            item["id"] = item["call_id"]


def _blank_text_beside_calls(body: Body) -> None:
    for blocks in map(body.blocks, body.turns):
        if any(part.get("type") == "tool_use" or "toolUse" in part for part in blocks):
            blocks.insert(0, {"text": "", **({"type": "text"} if body.wire == "anthropic" else {})})


def _results_as_objects(body: Body) -> None:
    for found in objects(body.turns):
        response = object_of(found.get("functionResponse"))
        for value in list(object_of(response.get("response")).values()):
            if isinstance(value, str) and value.startswith("{"):
                response["response"] = json.loads(value)


_DENIED = re.compile("denied|rejected|not approved", re.IGNORECASE)


def _is_denied(part: Json) -> bool:
    return (is_result(part) or "toolResult" in part) and bool(_DENIED.search(json.dumps(part)))


def _denied_without_result(body: Body) -> None:
    for holder in (body.turns, *map(body.blocks, body.turns)):
        holder[:] = [part for part in holder if not _is_denied(part)]


def _denied_forgotten(body: Body) -> None:
    denied = [
        result.id.value for result in body.results() if result.id and _DENIED.search(str(result.text.value))
    ]
    _denied_without_result(body)
    for turn in list(body.turns):
        if turn.get("call_id") in denied:
            body.turns.remove(turn)
        turn.get("tool_calls", [])[:] = [c for c in turn.get("tool_calls", []) if c["id"] not in denied]
        blocks = body.blocks(turn)
        blocks[:] = [
            p
            for p in blocks
            if object_of(p.get("toolUse", {"toolUseId": p.get("id")}))["toolUseId"] not in denied
        ]


def _skipped_after_a_failure(body: Body) -> None:
    failed = False
    for result in body.results():
        told, failed_before = str(result.text.value), failed
        failed = failed or "error" in told.lower()
        if failed_before:
            result.text.value = "Skipped, because an earlier call failed."


# --- Media -----------------------------------------------------------------------------------------------


def _images_as_json(body: Body) -> None:
    for blocks in _all_blocks(body):
        blocks[:] = [_text(body, json.dumps(part)) if is_media(part) else part for part in blocks]


def _old_images_pruned(body: Body) -> None:
    for blocks in map(body.blocks, body.turns[:-1]):
        blocks[:] = [_text(body, "[image omitted]") if is_media(part) else part for part in blocks]


def _media_between_results(body: Body) -> None:
    results = [place for place, turn in enumerate(body.turns) if turn.get("role") == "tool"]
    if len(results) > 1 and body.turns[-1]["role"] == "user":
        body.turns.insert(results[-1], body.turns.pop())


def _data_urls(body: Body) -> None:
    for found in objects(body.turns):
        source = object_of(found.get("source"))
        if found.get("type") == "image" and source.get("type") == "base64":
            found["source"] = {"type": "url", "url": f"data:{source['media_type']};base64,{source['data']}"}


def _names_of_files(body: Body) -> None:
    for found in objects(body.turns):
        if "name" in object_of(found.get("document")):
            found["document"]["name"] = "slack-file://F0123.pdf"


def _remote_images_dropped(body: Body) -> None:
    for blocks in map(body.blocks, body.turns):
        blocks[:] = [
            part for part in blocks if is_result(part) or "example.com/cat.png" not in json.dumps(part)
        ]


# --- Schemas, options and the prompt ---------------------------------------------------------------------


def _everywhere(change: Callable[[Json], Json]) -> Change:
    """Returns a change of every object in every tool's schema, innermost first."""

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(item) for item in value]
        return (
            change({key: changed(inner) for key, inner in value.items()})
            if isinstance(value, dict)
            else value
        )

    return schemas(changed)


def _all_required(schema: Json) -> Json:
    named = schema.get("properties")
    closed = {"required": [*named], "additionalProperties": False} if isinstance(named, dict) else {}
    return {**schema, **closed}


def _without_keywords(schema: Json) -> Json:
    return {
        key: value for key, value in schema.items() if key not in {"title", "default", "format", "examples"}
    }


def _first_of_a_union(schema: Json) -> Json:
    union = schema.get("anyOf")
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**rest, **union[0]} if isinstance(union, list) else schema


def _marked_messages(body: Body) -> None:
    body.turns[-1]["cache_control"] = {"type": "ephemeral"}


def _marks_never_removed(body: Body) -> None:
    for part in (part for turn in body.turns for part in body.blocks(turn) if part.get("type") == "text"):
        part["cache_control"] = {"type": "ephemeral"}


def _reasoner_warmed(body: Body) -> None:
    if str(body.body.get("model")).startswith("gpt-5"):
        body.body["temperature"] = 0.7


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "text_signature_lost": _texts_unsigned,
    "validator_always_skipped": _validator_skipped,
    "untold_thoughts_lost": _untold_thoughts_lost,
    "ids_of_reasoning_stripped": _reasoning_nameless,
    "redacted_as_blank_text": _redacted_as_blank,
    "reasoning_kept_back": _reasoning_kept_back,
    "budget_is_the_limit": _budget_is_the_limit,
    "temperature_beside_thinking": _temperature_beside_thinking,
    "call_id_as_item_id": _id_of_the_call,
    "blank_text_beside_calls": _blank_text_beside_calls,
    "schemas_in_results_as_objects": _results_as_objects,
    "coroutines_not_awaited": each(
        result_texts, lambda _: "<coroutine object get_weather at 0x7f2c1c0d5e40>"
    ),
    "denied_without_result": _denied_without_result,
    "denied_calls_forgotten": _denied_forgotten,
    "skipped_after_a_failure": _skipped_after_a_failure,
    "images_as_json_text": _images_as_json,
    "old_images_pruned": _old_images_pruned,
    "media_between_results": _media_between_results,
    "data_urls_as_urls": _data_urls,
    "names_of_files_as_they_are": _names_of_files,
    "remote_images_dropped": _remote_images_dropped,
    "all_became_required": _everywhere(_all_required),
    "names_like_keywords_lost": _everywhere(_without_keywords),
    "first_of_a_union": _everywhere(_first_of_a_union),
    "cache_mark_on_a_message": _marked_messages,
    "cache_marks_never_removed": _marks_never_removed,
    "empty_tool_config": lambda body: body.body.setdefault("toolConfig", {}),
    "temperature_of_a_reasoner": _reasoner_warmed,
}


def _filter_as_the_end(reply: Reply) -> Reply:
    return replace(reply, stop="stop") if reply.stop == "filter" else reply


#: What each bug changes of a reply.
REPLIES: Mapping[str, Callable[[Reply], Reply]] = {
    "refusal_read_as_the_end": _filter_as_the_end,
    "tag_of_thoughts_closed": lambda reply: replace(reply, text=f"{reply.text}</think>"),
    "first_stop_reason_kept": lambda reply: replace(reply, stop="tool"),
}

# --- Answers ---------------------------------------------------------------------------------------------


def _carriers_rejected(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if isinstance(found.get("parts"), list):
            found["parts"][:] = [
                p for p in found["parts"] if p.get("text") != "" or "thoughtSignature" not in p
            ]


def _no_details(events: Sequence[Json]) -> None:
    for event in events:
        object_of(event.get("error")).pop("details", None)


def _counts(change: Callable[[Json, int], object]) -> Rewrite:
    """Returns a change of Gemini's token counts, which gets the number of tokens of thoughts."""

    def rewrite(events: Sequence[Json]) -> None:
        for found in objects(list(events)):
            usage = object_of(found.get("usageMetadata"))
            if usage.get("thoughtsTokenCount"):
                change(usage, usage["thoughtsTokenCount"])

    return rewrite


def _subtracted(usage: Json, thoughts: int) -> None:
    usage["candidatesTokenCount"] = max(0, usage.get("candidatesTokenCount", 0) - thoughts)


def _as_input(usage: Json, thoughts: int) -> None:
    usage["promptTokenCount"] += thoughts
    del usage["thoughtsTokenCount"]


def _annotations_unread(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if found.get("annotations"):
            found["annotations"] = []
        if found.get("type") == "response.output_text.annotation.added":
            found["type"] = "response.ignored"


def _citations_unread(events: Sequence[Json]) -> None:
    for event in events:
        if object_of(event.get("delta")).get("type") == "citations_delta":
            event.clear()
            event["type"] = "ping"


def _wordless(events: Sequence[Json]) -> None:
    for error in (event.get("error", event) for event in events):
        if isinstance(error, dict) and "message" in error and error.get("type") != "message":
            error["message"] = "request failed"


#: What each bug changes of an answer before the client reads it.
ANSWERS: Mapping[str, Rewrite] = {
    "signature_carriers_rejected": _carriers_rejected,
    "delay_in_the_body_ignored": _no_details,
    "thoughts_subtracted": _counts(_subtracted),
    "thoughts_counted_as_input": _counts(_as_input),
    "thoughts_not_counted": _counts(lambda usage, _: usage.pop("thoughtsTokenCount")),
    "annotations_of_streams_lost": _annotations_unread,
    "citation_deltas_lost": _citations_unread,
    "words_of_errors_lost": _wordless,
}


def _is_utf8(chunk: bytes) -> bool:
    return chunk.decode("utf-8", "ignore").encode() == chunk


def _last_lines_of_data(chunks: list[bytes]) -> list[bytes]:
    body = b"".join(chunks)
    return [re.sub(rb"(?:^data:.*\r?\n)+(?=data:)", b"", body, flags=re.MULTILINE)]


#: How each bug reads the chunks of an answer.
CHUNKS: Mapping[str, Chunks] = {
    "undecodable_chunks_dropped": lambda chunks: [each for each in chunks if _is_utf8(each)],
    "chunks_with_pings_dropped": lambda chunks: [each for each in chunks if b"ping" not in each],
    "last_line_of_data_kept": _last_lines_of_data,
    "bodies_read_as_latin1": lambda chunks: [b"".join(chunks).decode("latin-1").encode()],
}


def _no_retry_unread(headers: httpx.Headers) -> None:
    headers.pop("x-should-retry", None)


#: What each bug changes of the headers.
HEADERS: Mapping[str, Heads] = {"told_not_to_retry_ignored": _no_retry_unread}

MIXED = listed("mixed.toml", CHANGES, REPLIES, ANSWERS, CHUNKS, headers=HEADERS)
