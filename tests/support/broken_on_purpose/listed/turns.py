"""Bugs that trackers reported in 2026: what is lost between the requests of a turn, and within an answer. `tables/turns.toml` lists them.

They were planted before anybody looked whether a rule sees them. As those of `mined.py`, each is one change of a request or of an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects, pieces
from ..neutral_requests import Body
from .mined import Change, listed, schemas
from .strangers import everywhere

# --- Requests --------------------------------------------------------------------------------------------


def _after_results(change: Change) -> Change:
    """Returns a change of the requests that have results."""
    return lambda body: change(body) if body.results() else None


def _no_thinking(body: Body) -> None:
    for holder in objects(body.body):
        for name in ("thinking", "reasoning", "reasoning_effort", "output_config"):
            holder.pop(name, None)


def _no_schema(body: Body) -> None:
    for name in ("response_format", "text", "output_config", "output_format"):
        body.body.pop(name, None)
    for name in ("responseSchema", "responseJsonSchema", "responseMimeType"):
        body.body.get("generationConfig", {}).pop(name, None)


def _kind(block: Json) -> int:
    """Returns the place of a block's kind: thoughts, texts, and all others."""
    return 0 if "thinking" in block or "reasoningContent" in block else 1 if "text" in block else 2


def _sorted_by_kind(body: Body) -> None:
    for turn in body.turns:
        if turn.get("role") == "assistant":
            body.blocks(turn).sort(key=_kind)


def _no_text_after_calls(body: Body) -> None:
    for turn in body.turns:
        blocks = body.blocks(turn)
        calls = [at for at, block in enumerate(blocks) if _kind(block) == 2]
        if calls and turn.get("role") == "assistant":
            blocks[:] = [block for at, block in enumerate(blocks) if at <= calls[0] or _kind(block) == 2]


def _no_union(schema: Json) -> Json:
    """Keeps nothing but the description of what has several types."""
    several = isinstance(schema.get("type"), list)
    return {name: told for name, told in schema.items() if not several or name == "description"}


def _no_enum_of_numbers(schema: Json) -> Json:
    of_numbers = any(isinstance(each, int) for each in schema.get("enum") or ())
    return {name: told for name, told in schema.items() if not of_numbers or name != "enum"}


def _data_urls(body: Body) -> None:
    """Writes raw base64 as data URLs."""
    for found in objects(body.turns):
        for name in ("data", "bytes"):
            if isinstance(found.get(name), str):
                found[name] = f"data:application/octet-stream;base64,{found[name]}"


def _blank_block_of_the_prompt(body: Body) -> None:
    """Joins the blocks of the prompt by blank ones."""
    prompt = body.body.get("system")
    if prompt:
        blocks = prompt if isinstance(prompt, list) else [{"type": "text", "text": prompt}]
        body.body["system"] = [*blocks, {"type": "text", "text": "\n\n"}]


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "thinking_lost_after_results": _after_results(_no_thinking),
    "schema_lost_after_results": _after_results(_no_schema),
    "blocks_sorted_by_kind": _sorted_by_kind,
    "texts_after_calls_lost": _no_text_after_calls,
    "unions_emptied": schemas(everywhere(_no_union)),
    "enums_of_numbers_dropped": schemas(everywhere(_no_enum_of_numbers)),
    "bytes_as_data_urls": _data_urls,
    "blank_block_of_the_prompt": _blank_block_of_the_prompt,
}

# --- Answers ---------------------------------------------------------------------------------------------


def _calls_beside_stop(events: Sequence[Json]) -> None:
    """Drops the calls of an answer whose stop reason is `stop`."""
    if any(found.get("finish_reason") == "stop" for found in objects(list(events))):
        for found in objects(list(events)):
            found.pop("tool_calls", None)


def _signed_texts(events: Sequence[Json]) -> None:
    for part in objects(list(events)):
        if part.get("text") and "thoughtSignature" in part:
            part["thought"] = True


def _no_cached_input_of_the_start(events: Sequence[Json]) -> None:
    for event in events:
        if event.get("type") == "message_start":
            event["message"]["usage"].pop("cache_read_input_tokens", None)


def _no_later_usage(events: Sequence[Json]) -> None:
    """Drops all counts but the first."""
    counted = [event for event in events if event.get("usage")]
    for event in counted[1:]:
        event["usage"] = None


def _two_thoughts(events: Sequence[Json]) -> None:
    """Drops all pieces of thinking but the first two."""
    for found in [each for each in objects(list(events)) if "thinking" in each][2:]:
        found["thinking"] = ""


def _pauses_are_ends(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if found.get("stop_reason") == "pause_turn":
            found["stop_reason"] = "end_turn"


def _first_deltas_lost(events: Sequence[Json]) -> None:
    """Drops the first piece of each block but the first."""
    last: Any = 0
    for event in events:
        if event.get("type") == "content_block_delta":
            for name in ("text", "partial_json") if event["index"] != last else ():
                event["delta"].update({name: ""} if name in event["delta"] else {})
            last = event["index"]


def _only_the_last(events: Sequence[Json]) -> None:
    for holder, name in [each for each in pieces(events) if each[0][each[1]]][:-1]:
        holder[name] = ""


#: What each bug changes of an answer before the client reads it.
ANSWERS: Mapping[str, Rewrite] = {
    "calls_beside_a_stop_ignored": _calls_beside_stop,
    "signed_texts_hidden": _signed_texts,
    "cached_input_of_the_start_unread": _no_cached_input_of_the_start,
    "later_counts_unread": _no_later_usage,
    "later_thinking_unread": _two_thoughts,
    "pauses_are_ends": _pauses_are_ends,
    "first_deltas_of_blocks_lost": _first_deltas_lost,
    "last_delta_only": _only_the_last,
}


def _last_piece_again(reply: Reply) -> Reply:
    return replace(reply, pieces=[*reply.pieces, *reply.pieces[-1:]])


#: What each bug changes of a reply.
REPLIES = {"last_piece_with_the_counts": _last_piece_again}

TURNS = listed("turns.toml", CHANGES, REPLIES, ANSWERS)
