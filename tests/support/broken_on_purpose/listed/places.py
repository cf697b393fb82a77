"""Bugs of clients that trackers reported in 2026: a field stands in a place or under a name of another API. `places.toml` lists them.

They were planted before anybody looked whether a rule sees them. As those of `mined.py`, each is one change of a request or of an answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

from ellmer_conformance.contract.observed.exchange import Json

from ..answer_events import Rewrite, objects
from ..neutral_requests import Body
from .mined import Change, Chunks, listed, on_each

_CACHED: Json = {"cachePoint": {"type": "default"}}

# --- Options ---------------------------------------------------------------------------------------------


def _limit_of_another_format(body: Body) -> None:
    """Sends the limit under the name that another format has."""
    options = body.options()
    if "maxTokens" in options:
        options["maxOutputTokens"] = options.pop("maxTokens")


def _options_at_the_top(body: Body) -> None:
    """Sends Ollama's options beside the messages, where it does not read them."""
    body.body.update(body.body.pop("options", {}))


# --- Messages and their parts ----------------------------------------------------------------------------


def _blocks(body: Body) -> Iterator[list[Json]]:
    return (body.blocks(turn) for turn in body.turns)


def _documents_of_one_name(body: Body) -> None:
    for found in objects(body.turns):
        if isinstance(found.get("document"), dict):
            found["document"]["name"] = "document"


def _documents_by_content(body: Body) -> None:
    for found in objects(body.turns):
        if isinstance(found.get("document"), dict):
            found["document"]["name"] = str(crc32(json.dumps(found["document"]["source"]).encode()))


def _numbered_messages(body: Body) -> None:
    """Gives each answer the id that a counter of the client had once."""
    for turn in body.turns:
        if turn.get("role") == "assistant":
            turn.update(type="message", id="msg_4", status="completed")


def _only_the_media(body: Body) -> None:
    """Drops the texts beside the media of a result."""
    for found in objects(body.turns):
        if "functionResponse" in found:
            found["functionResponse"]["response"] = {"output": "[see below]"}


def _references(times: int) -> Change:
    """Returns a change that names an earlier answer in place of sending it."""

    def change(body: Body) -> None:
        for turn in [turn for turn in body.turns if turn.get("type") == "message" and turn.get("id")]:
            at = body.turns.index(turn)
            body.turns[at : at + 1] = [{"type": "item_reference", "id": turn["id"]}] * times

    return change


def _only_a_cache_point(body: Body) -> None:
    """Sends a message that has a cache point and nothing else."""
    if body.results():
        body.turns.append({"role": "assistant", "content": [dict(_CACHED)]})


def _cache_point_after_reasoning(body: Body) -> None:
    for blocks in _blocks(body):
        at = next((at for at, block in enumerate(blocks) if "reasoningContent" in block), None)
        if at is not None:
            blocks.insert(at + 1, dict(_CACHED))


def _cache_point_in_tools(body: Body) -> None:
    for tool in (body.body.get("toolConfig") or {}).get("tools", ()):
        tool.update(_CACHED)


def _no_cache_points(body: Body) -> None:
    for blocks in (*_blocks(body), body.body.get("system") or []):
        blocks[:] = [block for block in blocks if "cachePoint" not in block]


def _marked_thinking(body: Body) -> None:
    for blocks in _blocks(body):
        for block in blocks:
            if block.get("type") == "thinking":
                block["cache_control"] = {"type": "ephemeral"}


def _reasoning_under_another_name(body: Body) -> None:
    for blocks in _blocks(body):
        for block in blocks:
            if "reasoningContent" in block:
                block["reasoning_content"] = block.pop("reasoningContent")


def _no_given(body: Body) -> None:
    """Leaves the arguments of calls out that have none."""
    for call in body.calls():
        if call.given.value in ("{}", "", {}):
            del call.given.holder[call.given.key]


def _null_given(body: Body) -> None:
    for call in body.calls():
        call.given.value = call.given.value or None


def _empty_item_ids(body: Body) -> None:
    for turn in body.turns:
        if turn.get("type") == "function_call":
            turn["id"] = ""


def _numbered_calls(body: Body) -> None:
    for turn in body.turns:
        for number, call in enumerate(turn.get("tool_calls") or ()):
            call["index"] = number


def _named(before: str) -> Change:
    """Returns a change of the names of tools, in their declarations and in calls."""

    def change(body: Body) -> None:
        for tool in body.tools():
            tool["name"] = before + str(tool["name"])
        for call in body.calls():
            call.name.value = before + str(call.name.value)

    return change


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "limit_of_another_format": _limit_of_another_format,
    "options_at_the_top": _options_at_the_top,
    "model_unloaded": lambda body: body.body.update(keep_alive=0),
    "store_where_there_is_none": lambda body: body.body.update(store=False),
    "documents_of_one_name": _documents_of_one_name,
    "documents_named_by_content": _documents_by_content,
    "messages_numbered_alike": _numbered_messages,
    "texts_beside_media_lost": _only_the_media,
    "cache_point_in_tools": _cache_point_in_tools,
    "references_repeated": _references(3),
    "references_to_nothing": _references(1),
    "only_a_cache_point": _only_a_cache_point,
    "cache_point_first": lambda body: body.blocks(body.turns[-1]).insert(0, dict(_CACHED)),
    "cache_point_after_reasoning": _cache_point_after_reasoning,
    "cache_points_dropped": _no_cache_points,
    "cache_mark_on_thinking": _marked_thinking,
    "reasoning_under_another_name": _reasoning_under_another_name,
    "arguments_left_out": _no_given,
    "arguments_null_where_none": _null_given,
    "ids_of_items_empty": _empty_item_ids,
    "calls_numbered": _numbered_calls,
    "strict_where_unknown": on_each(lambda body: body.tools(), lambda tool: tool.update(strict=True)),
    "names_with_dots": _named("weather."),
}

# --- Answers ---------------------------------------------------------------------------------------------


def _calls_by_id(found: Callable[[Any], bool]) -> Rewrite:
    """Returns a change that begins a new call at each piece whose id is one."""

    def change(events: Sequence[Json]) -> None:
        count = -1
        for each in objects(list(events)):
            if "function" in each and "index" in each:
                count += found(each.get("id"))
                each["index"] = max(count, 0)
                each["id"] = each.get("id") or f"call_{count}"

    return change


def _without_reasoning(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        found.pop("reasoning_content", None)


def _billed(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if "billed_units" in found:
            found["tokens"] = found["billed_units"]


#: What each bug changes of an answer before the client reads it.
ANSWERS: Mapping[str, Rewrite] = {
    "each_id_a_call": _calls_by_id(bool),
    "empty_ids_are_calls": _calls_by_id(lambda id: id is not None),
    "reasoning_of_answers_unread": _without_reasoning,
    "billed_units_for_tokens": _billed,
}


def _no_error_lines(chunks: list[bytes]) -> list[bytes]:
    lines = b"".join(chunks).splitlines(keepends=True)
    return [line for line in lines if not line.startswith(b'{"error"')]


CHUNKS: Mapping[str, Chunks] = {"error_lines_skipped": _no_error_lines}

PLACES = listed("places.toml", CHANGES, {}, ANSWERS, CHUNKS)
