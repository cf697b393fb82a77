"""Bugs that trackers reported in 2025 and 2026: values and their schemas, equal turns, denied calls, pieces, thoughts in blocks, counts of caches, waits,
and answers that a filter or an error ended.
`tables/values.toml` lists them.

They were planted before anybody looked whether a rule sees them. As those of `mined.py`, each is one change of a request or of an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, lose_late_reasoning, objects, pieces
from ..neutral_requests import Body, Slot
from .mined import Change, Chunks, arguments, listed, schemas, without
from .strangers import everywhere

# --- Schemas and values ----------------------------------------------------------------------------------


def _later(change: Change) -> Change:
    """Returns a change of every request but the first, as of a schema that was changed in place."""
    return lambda body: change(body) if body.number > 1 else None


def _nullable(schema: Json) -> Json:
    """Writes null as OpenAPI 3.0 does."""
    forms = [each for each in schema.get("anyOf") or () if each.get("type") != "null"]
    if len(forms) < len(schema.get("anyOf") or ()):
        rest = {name: told for name, told in schema.items() if name != "anyOf"}
        return {**rest, **(forms[0] if len(forms) == 1 else {"anyOf": forms}), "nullable": True}
    types = schema.get("type")
    if isinstance(types, list) and "null" in types:
        return {**schema, "type": next(each for each in types if each != "null"), "nullable": True}
    return schema


def _required_twice(schema: Json) -> Json:
    names = schema.get("required") or []
    return {**schema, "required": [*names, *names[:1]]} if names else schema


def _text_for_list(schema: Json) -> Json:
    kept = {name: told for name, told in schema.items() if name != "items"}
    return {**kept, "type": "string"} if str(schema.get("type")).lower() == "array" else schema


def _value_schemas(body: Body) -> Iterator[Slot]:
    """Yields the places of the schema of a value."""
    held = body.body.get("generationConfig") or {}
    yield from (Slot(held, name) for name in ("responseSchema", "responseJsonSchema") if name in held)
    if isinstance(body.body.get("format"), dict):
        yield Slot(body.body, "format")
    for name in ("response_format", "text", "output_config", "output_format"):
        for each in objects(body.body.get(name)):
            if isinstance(each.get("schema"), dict):
                yield Slot(each, "schema")


def _of_values(how: Callable[[Any], Any]) -> Change:
    """Returns a change of the schema of a value."""

    def change(body: Body) -> None:
        for place in [*_value_schemas(body)][:1]:
            place.value = how(place.value)

    return change


_FENCE = re.compile(r"```(?:json)?\s*\n?([^`]*?)\n?\s*```")


def _without_fences(reply: Reply) -> Reply:
    if not isinstance(reply.value, dict):
        return reply
    bare = {n: _FENCE.sub(r"\1", v) if isinstance(v, str) else v for n, v in reply.value.items()}
    return replace(reply, value=bare)


# --- Turns -----------------------------------------------------------------------------------------------


def _words(body: Body, turn: Json) -> str:
    content = turn.get("content")
    return content if isinstance(content, str) else "".join(str(p.get("text", "")) for p in body.blocks(turn))


def _equal_answers_once(body: Body) -> None:
    seen: list[str] = []
    for turn in list(body.turns):
        words = _words(body, turn) if turn.get("role") in {"assistant", "model"} else ""
        if words and not turn.get("tool_calls") and words in seen:
            body.turns.remove(turn)
        seen.append(words)


def _back_to_the_first(body: Body) -> None:
    """Drops a question that was asked before, and the answers that are then the last."""
    asked = [_words(body, turn) for turn in body.turns if turn.get("role") == "user"]
    if body.turns[-1].get("role") == "user" and asked[-1] and asked[-1] in asked[:-1]:
        body.turns.pop()
        while body.turns[-1].get("role") in {"assistant", "model"}:
            body.turns.pop()


def _texts_first(body: Body) -> None:
    """Joins the texts of the user's turns, and puts them before the media."""
    for turn in (each for each in body.turns if each.get("role") == "user"):
        blocks = body.blocks(turn)
        texts = [block for block in blocks if isinstance(block.get("text"), str)]
        media = [block for block in blocks if block not in texts]
        if texts and media and not any("esult" in str(sorted(block)) for block in media):
            texts[0]["text"] = "\n".join(text["text"] for text in texts)
            blocks[:] = [texts[0], *media]


def _thinking_told(body: Body) -> None:
    """Joins thinking and answer to one text."""
    for turn in (each for each in body.turns if each.get("role") == "assistant"):
        content = turn.get("content")
        if isinstance(content, list) and any(part.get("type") == "thinking" for part in content):
            turn["content"] = "".join(map(_told, content))
        elif isinstance(turn.get("thinking"), str):
            turn["content"] = turn.pop("thinking") + (turn.get("content") or "")


def _told(part: Json) -> str:
    thinking = part.get("thinking", part.get("text", ""))
    return thinking if isinstance(thinking, str) else "".join(str(each.get("text", "")) for each in thinking)


def _calls_told(body: Body) -> None:
    """Says calls as text, too."""
    for turn in body.turns:
        if turn.get("tool_calls"):
            turn["content"] = json.dumps([call["function"] for call in turn["tool_calls"]])


_DENIED = re.compile("den(ied|y)|declin|reject|not approv", re.IGNORECASE)


def _denials_done(body: Body) -> None:
    for result in body.results():
        if isinstance(result.text.value, str) and _DENIED.search(result.text.value):
            result.text.value = "done"


def _hours_after_minutes(body: Body) -> None:
    if any("cache_control" in each for each in objects(body.body.get("system"))):
        last = body.turns[-1]
        said = last["content"]
        last["content"] = blocks = [{"type": "text", "text": said}] if isinstance(said, str) else said
        blocks[-1]["cache_control"] = {"type": "ephemeral", "ttl": "1h"}


# --- Thoughts, names and references ------------------------------------------------------------------------


def _thoughts_in_one(body: Body) -> None:
    """Joins thoughts that follow one another, and keeps the last signature."""
    for turn in body.turns:
        blocks = body.blocks(turn)
        for at in range(len(blocks) - 1, 0, -1):
            first, second = blocks[at - 1], blocks[at]
            if first.get("type") == second.get("type") == "thinking":
                blocks[at - 1 : at + 1] = [{**second, "thinking": first["thinking"] + second["thinking"]}]


def _thoughts_first(body: Body) -> None:
    for turn in body.turns:
        if turn.get("role") == "assistant":
            body.blocks(turn).sort(
                key=lambda b: "reasoningContent" not in b and "thinking" not in str(b.get("type"))
            )


def _cached_after_thoughts(body: Body) -> None:
    for turn in body.turns:
        blocks = body.blocks(turn)
        for at in [at for at, block in enumerate(blocks) if "reasoningContent" in block][::-1]:
            blocks.insert(at + 1, {"cachePoint": {"type": "default"}})


def _states_of_thoughts(body: Body) -> None:
    for turn in body.turns:
        if turn.get("type") == "reasoning":
            turn["status"] = None


def _plain_names(body: Body) -> None:
    for tool in body.tools():
        tool["name"] = tool["name"].replace("-", "_")[:48]
    for call in body.calls():
        call.name.value = call.name.value.replace("-", "_")[:48]


def _bare_references(schema: Json) -> Json:
    return {"$ref": schema["$ref"]} if "$ref" in schema else schema


def _images_told(body: Body) -> None:
    """Takes what looks like an image in a result for one."""
    for result in body.results():
        if isinstance(result.text.value, str):
            result.text.value = re.sub(r"\[IMAGE:[^\]]*\]", "", result.text.value)


def _no_tools_beside_schemas(body: Body) -> None:
    if [*_value_schemas(body)]:
        for key in ("tools", "toolConfig", "tool_choice"):
            body.body.pop(key, None)


def _answers_in_two(body: Body) -> None:
    """Sends the text of an answer and its calls as two messages."""
    for at in range(len(body.turns) - 1, -1, -1):
        turn, blocks = body.turns[at], body.blocks(body.turns[at])
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        rest = [block for block in blocks if block not in calls]
        if turn.get("role") == "assistant" and calls and rest:
            body.turns[at : at + 1] = [{**turn, "content": rest}, {**turn, "content": calls}]


def _first_stop(body: Body) -> None:
    for held in (body.body, body.options()):
        for name in ("stop", "stop_sequences", "stopSequences"):
            if isinstance(held.get(name), list):
                held[name] = held[name][:1]


def _stop_of_anthropic(body: Body) -> None:
    if "stop" in body.body:
        body.body["stop_sequences"] = body.body.pop("stop")


def _limits_of_streams_lost(body: Body) -> None:
    for name in ("temperature", "max_tokens", "max_completion_tokens", "maxOutputTokens", "maxTokens"):
        body.options().pop(name, None)


_FAILED = re.compile("error", re.IGNORECASE)


def _failures_without_ids(body: Body) -> None:
    for result in body.results():
        if result.id is not None and _FAILED.search(str(result.text.value)):
            result.id.value = ""


def _failures_for_all(body: Body) -> None:
    """Reports every call of a turn as failed if one is."""
    told = [result for result in body.results() if isinstance(result.text.value, str)]
    failed = [result for result in told if _FAILED.search(result.text.value)]
    for result in told if failed else ():
        if result not in failed:
            result.text.value = "not run: another call failed"


def _older_results_stripped(body: Body) -> None:
    for result in body.results() if body.texts("assistant") else ():
        if isinstance(result.text.value, str):
            result.text.value = result.text.value.strip()


def _nulls_are_blank(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _nulls_are_blank(inner) for key, inner in value.items()}
    return "" if value is None else value


_BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern")


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "thoughts_in_one_block": _thoughts_in_one,
    "thoughts_before_all": _thoughts_first,
    "cached_after_thoughts": _cached_after_thoughts,
    "states_of_thoughts_sent": _states_of_thoughts,
    "names_without_hyphens": _plain_names,
    "references_without_words": schemas(everywhere(_bare_references)),
    "values_without_bounds": _of_values(without(*_BOUNDS)),
    "images_in_results_found": _images_told,
    "no_tools_beside_a_value": _no_tools_beside_schemas,
    "answers_in_two_messages": _answers_in_two,
    "first_stop_alone": _first_stop,
    "stop_of_anthropic": _stop_of_anthropic,
    "limits_of_streams_lost": _limits_of_streams_lost,
    "failures_without_their_ids": _failures_without_ids,
    "failures_for_all_calls": _failures_for_all,
    "older_results_stripped": _older_results_stripped,
    "nulls_of_calls_are_blank": arguments(_nulls_are_blank),
    "defaults_lost_later": _later(schemas(without("default", "examples", "pattern"))),
    "definitions_lost_later": _later(schemas(lambda s: {k: v for k, v in s.items() if k != "$defs"})),
    "nullable_in_json_schema": _later(schemas(everywhere(_nullable))),
    "required_names_repeated": schemas(everywhere(_required_twice)),
    "lists_of_values_are_texts": _of_values(everywhere(_text_for_list)),
    "descriptions_of_values_lost": _of_values(without("description")),
    "equal_answers_once": _equal_answers_once,
    "back_to_the_first_of_equal_questions": _back_to_the_first,
    "texts_joined_before_images": _texts_first,
    "thinking_told_as_the_answer": _thinking_told,
    "calls_told_as_text_too": _calls_told,
    "denials_told_as_done": _denials_done,
    "hours_after_minutes": _hours_after_minutes,
}

# --- Answers ---------------------------------------------------------------------------------------------


def _no_overlaps(events: Sequence[Json]) -> None:
    """Drops of each piece what the text before it ends with."""
    said = ""
    for holder, name in pieces(events) if len(events) > 1 else ():
        piece = holder[name]
        shared = next((n for n in range(len(piece), 0, -1) if said.endswith(piece[:n])), 0)
        holder[name] = piece[shared:]
        said += holder[name]


def _blocked_is_empty(events: Sequence[Json]) -> None:
    for event in events:
        if event.pop("promptFeedback", None):
            event["candidates"] = [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]


def _errors_are_complete(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        if each.get("finish_reason") in {"ERROR", "TIMEOUT"}:
            each["finish_reason"] = "COMPLETE"


def _without_cache_writes(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        for name in ("cache_creation_input_tokens", "cacheWriteInputTokens"):
            if name in each:
                each[name] = 0


def _cache_writes_twice(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        if "input_tokens" in each:
            each["input_tokens"] += each.get("cache_creation_input_tokens") or 0


def _reasons(told: str, *others: str) -> Rewrite:
    """Returns a change of stop reasons: one for all others."""

    def change(events: Sequence[Json]) -> None:
        for each in objects(list(events)):
            for name in ("finishReason", "stopReason"):
                if each.get(name) in others:
                    each[name] = told

    return change


def _failed_is_complete(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        if each.get("status") == "failed" and "output" in each:
            each |= {"status": "completed", "error": None}


def _until_the_first_reason(events: Sequence[Json]) -> None:
    ended = False
    for each in objects(list(events)):
        if ended and "content" in each:
            each["content"] = {"role": "model", "parts": []}
        ended = ended or "finishReason" in each


def _calls_of_one_chunk(events: Sequence[Json]) -> None:
    called: list[int] = []
    for at, event in enumerate(events):
        for part in objects(event):
            if "functionCall" in part:
                called.append(at)
                if called[0] != at:
                    del part["functionCall"]
                    part["text"] = ""


def _text_beside_the_reason_lost(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        if each.get("finish_reason") and isinstance(each.get("delta"), dict) and each["delta"].get("content"):
            each["delta"]["content"] = ""


#: What each bug changes of an answer before the client reads it.
ANSWERS: Mapping[str, Rewrite] = {
    "late_thoughts_lost": lose_late_reasoning,
    "cache_writes_uncounted": _without_cache_writes,
    "cache_writes_twice": _cache_writes_twice,
    "other_filters_are_stops": _reasons("STOP", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
    "malformed_output_is_an_end": _reasons("end_turn", "malformed_model_output", "malformed_tool_use"),
    "failed_is_complete": _failed_is_complete,
    "until_the_first_reason": _until_the_first_reason,
    "calls_of_one_chunk": _calls_of_one_chunk,
    "text_beside_the_reason_lost": _text_beside_the_reason_lost,
    "overlaps_removed": _no_overlaps,
    "blocked_prompts_are_empty_answers": _blocked_is_empty,
    "errors_of_cohere_are_complete": _errors_are_complete,
}

#: What each bug changes of a reply.
REPLIES = {"fences_within_values_removed": _without_fences}


def _without_exceptions(chunks: list[bytes]) -> list[bytes]:
    """Drops the exceptions of an event stream."""
    return [frame for frame in _frames(b"".join(chunks)) if b":exception-type" not in frame]


def _frames(stream: bytes) -> Iterator[bytes]:
    """Yields the frames of an event stream, each of which begins with its length."""
    while stream:
        length = int.from_bytes(stream[:4], "big")
        yield stream[:length]
        stream = stream[length:]


def _without_waits(chunks: list[bytes]) -> list[bytes]:
    """Reads no wait in the body of an error."""
    return [re.sub(rb'"retryDelay": ?"[^"]*"', b'"retryDelay": ""', b"".join(chunks))]


#: How each bug reads the bytes of an answer.
CHUNKS: Mapping[str, Chunks] = {
    "exceptions_in_streams_ignored": _without_exceptions,
    "waits_in_bodies_ignored": _without_waits,
}

VALUES = listed("values.toml", CHANGES, REPLIES, ANSWERS, CHUNKS)
