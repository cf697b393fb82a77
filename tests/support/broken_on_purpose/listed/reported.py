"""Bugs that users reported in public trackers of 2025 and 2026. `reported.toml` lists them, each with its thread.

Unlike `mined.py`, which has many variants of a few faults, each of these is another fault of another client, told as its thread
tells it. As there, a bug is one change of a request, of an answer before the client reads it, or of what a library hands over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects
from ..base import is_media, is_result
from ..neutral_requests import Body, Result
from .mined import (
    Change,
    Chunks,
    arguments,
    each,
    forced,
    ids,
    listed,
    options,
    result_texts,
    said,
    schemas,
    usage_times,
    without,
)
from .strangers import everywhere, later

# --- Ways to change --------------------------------------------------------------------------------------


def in_turns(keep: Callable[[Json], bool]) -> Change:
    """Returns a change that leaves out blocks, and messages of which nothing is left."""

    def change(body: Body) -> None:
        for turn in list(body.turns):
            blocks = body.blocks(turn)
            kept = [block for block in blocks if keep(block)]
            if blocks and not kept:
                body.turns.remove(turn)
            blocks[:] = kept

    return change


def beside_tools(change: Change) -> Change:
    """Returns a change of requests that offer tools."""
    return lambda body: change(body) if body.tools() else None


def all_results(how: Callable[[Sequence[Result]], object], at_least: int = 2) -> Change:
    """Returns a change of the results of a request that has several of them."""
    return lambda body: how(body.results()) if len(body.results()) >= at_least else None


# --- Media -----------------------------------------------------------------------------------------------


def _after_results(body: Body) -> list[Json]:
    """Returns the messages that follow the first result, with the message that holds it."""
    for at, turn in enumerate(body.turns):
        if is_result(turn) or any(is_result(b) or "toolResult" in b for b in body.blocks(turn)):
            return body.turns[at:]
    return []


def _holders(turns: Sequence[Any]) -> list[list[Any]]:
    """Returns the lists of blocks that have media, at any depth."""
    found = [value for each_one in objects(list(turns)) for value in each_one.values()]
    return [value for value in found if isinstance(value, list) and any(map(is_media, value))]


def _media_of_results(new: Callable[[Body, Json], Json | None]) -> Change:
    """Returns a change of the media that tools returned: another block in place of each, or none."""

    def change(body: Body) -> None:
        for blocks in _holders(_after_results(body)):
            changed = [new(body, block) if is_media(block) else block for block in blocks]
            blocks[:] = [block for block in changed if block is not None]

    return change


def _noted(body: Body, _: Json) -> Json:
    text = "This tool result included an image that was omitted."
    kind = {"openai-responses": "input_text", "gemini": "", "bedrock": ""}.get(body.wire, "text")
    return {"type": kind, "text": text} if kind else {"text": text}


def _said_as_json(_: Body, block: Json) -> Json:
    return {"text": json.dumps(block)}


def _as_jpeg(body: Body) -> None:
    for found in objects(_after_results(body)):
        for key, told in found.items():
            if isinstance(told, str) and "image/png" in told[:30]:
                found[key] = told.replace("image/png", "image/jpeg")
        if found.get("format") == "png":
            found["format"] = "jpeg"


def _is_image(block: Json) -> bool:
    return (
        block.get("type") in {"image_url", "input_image", "image"}
        or "image" in block
        or str(block.get("inlineData", {}).get("mimeType", "")).startswith("image/")
    )


def _is_document(block: Json) -> bool:
    return is_media(block) and not _is_image(block)


# --- Prompts and questions -------------------------------------------------------------------------------


def _without_prompt(body: Body) -> None:
    for key in ("system", "instructions", "systemInstruction"):
        body.body.pop(key, None)
    body.turns[:] = [turn for turn in body.turns if turn.get("role") not in {"system", "developer"}]


def _flattened(body: Body) -> None:
    """Tells the earlier turns as a text before the newest question."""
    spoken = [turn for turn in body.turns if turn.get("role") not in {"system", "developer"}]
    if len(body.texts("user")) < 2 or not body.texts("assistant"):
        return
    told = "\n".join(str(slot.value) for slot in (*body.texts("user")[:-1], *body.texts("assistant")))
    body.texts("user")[-1].value = f"Earlier:\n{told}\n\n{body.texts('user')[-1].value}"
    for turn in spoken[:-1]:
        body.turns.remove(turn)


# --- Calls and results -----------------------------------------------------------------------------------


def _has_call(turn: Json) -> bool:
    return bool(turn.get("tool_calls")) or turn.get("type") == "function_call" or "functionCall" in turn


def _is_call(block: Json) -> bool:
    return block.get("type") == "tool_use" or "toolUse" in block or "functionCall" in block


def _text_beside_calls(body: Body) -> None:
    for turn in body.turns:
        if turn.get("tool_calls"):
            turn["content"] = None
        blocks = body.blocks(turn)
        if any(map(_is_call, blocks)):
            blocks[:] = [block for block in blocks if "text" not in block or "thought" in block]
    kinds = [turn.get("type", turn.get("role")) for turn in body.turns]
    if body.wire == "openai-responses" and "function_call" in kinds:
        before = body.turns[: kinds.index("function_call")]
        body.turns[: len(before)] = [turn for turn in before if turn.get("role") != "assistant"]


def _without_calls(body: Body) -> None:
    body.turns[:] = [turn for turn in body.turns if turn.get("type") != "function_call"]
    for turn in body.turns:
        if turn.pop("tool_calls", None):
            turn["content"] = turn["content"] or "."
    in_turns(lambda block: not _is_call(block))(body)


def _without_tool_messages(body: Body) -> None:
    if len(body.texts("user")) < 2:  # only once the conversation goes on
        return
    body.turns[:] = [turn for turn in body.turns if not is_result(turn) and not _has_call(turn)]
    in_turns(lambda block: not (_is_call(block) or is_result(block) or "toolResult" in block))(body)


def _first_call_of_each(body: Body) -> None:
    """Erases all calls of an answer but the first, with their results."""
    for turn in list(body.turns):
        for blocks in (turn.get("tool_calls") or [], body.blocks(turn)):
            calls = [b for b in blocks if _is_call(b) or "function" in b]
            results = [b for b in blocks if is_result(b) or "toolResult" in b]
            blocks[:] = [b for b in blocks if b not in (*calls[1:], *results[1:])]
    for kind in ("function_call", "function_call_output", "tool"):
        found = [turn for turn in body.turns if kind in {turn.get("type"), turn.get("role")}]
        for turn in found[1:]:
            body.turns.remove(turn)


def _unavailable(results: Sequence[Result]) -> None:
    for result in results:
        result.text.value = "[Result unavailable]"


def _one_of_several(results: Sequence[Result]) -> None:
    for result in results[1:]:
        result.text.value = "[Tool result missing due to internal error]"


def _nothing_for_empty(text: str) -> str:
    return "" if text in {"[]", "{}"} else text


def _orphans(body: Body) -> None:
    """Drops the first message with a call once the conversation goes on, and leaves its result."""
    if len(body.calls()) < 2:
        return
    for turn in body.turns:
        blocks = body.blocks(turn)
        if _has_call(turn) or any(map(_is_call, blocks)):
            body.turns.remove(turn)
            return


# --- Thoughts --------------------------------------------------------------------------------------------


def _thoughts(how: Callable[[Json], Json]) -> Change:
    """Returns a change of thoughts that the API was asked to show."""

    def change(body: Body) -> None:
        body.body["thinking"] = {"type": "adaptive", "display": "summarized"}
        for turn in body.turns:
            blocks = body.blocks(turn)
            blocks[:] = [how(block) if block.get("type") == "thinking" else block for block in blocks]

    return change


# --- Tools and options -----------------------------------------------------------------------------------


def _array_as_string(schema: Json) -> Json:
    if str(schema.get("type", "")).lower() != "array":
        return schema
    return {"type": "string", **{k: v for k, v in schema.items() if k not in {"type", "items"}}}


def _any_items(schema: Json) -> Json:
    return {**schema, "items": {}} if "items" in schema else schema


def _nullable_tools(body: Body) -> None:
    text = json.dumps([slot.value for slot in body.schemas()])
    if '"null"' in text or "nullable" in text:
        _drop_tools(body)


def _drop_tools(body: Body) -> None:
    body.body.pop("tools", None)
    body.body.pop("toolConfig", None) if body.wire == "bedrock" else None


def _schema_replaces_tools(body: Body) -> None:
    if _asks_for_json(body):
        _drop_tools(body)


def _asks_for_json(body: Body) -> bool:
    held = body.options()
    return bool(
        {"response_format", "output_config", "outputConfig", "text", "responseJsonSchema"}
        & {*body.body, *held}
    )


def _no_schema(body: Body) -> None:
    for key in ("response_format", "output_config", "outputConfig", "text"):
        body.body.pop(key, None)
    for key in ("responseJsonSchema", "responseMimeType", "responseSchema"):
        body.options().pop(key, None)


def _without_marks(body: Body) -> None:
    for found in objects(body.body):
        found.pop("cache_control", None)


class _FirstModel:
    """Sends the model of the first request with every later one."""

    def __init__(self) -> None:
        self.model = ""

    def __call__(self, body: Body) -> None:
        self.model = body.body["model"] if body.number == 1 else self.model
        body.body["model"] = self.model


class _NamesItsLastAnswer:
    """Sends `store: false`, and the id of the answer before."""

    def __init__(self) -> None:
        self.answer = ""

    def read(self, events: Sequence[Json]) -> None:
        for found in objects(list(events)):
            if found.get("object") == "response":
                self.answer = found["id"]

    def __call__(self, body: Body) -> None:
        body.body["store"] = False
        if body.number > 1:
            body.body["previous_response_id"] = self.answer


_naming = _NamesItsLastAnswer()


def _is_a_result(block: Json) -> bool:
    return is_result(block) or "toolResult" in block or block.get("role") == "tool"


def _first_result_only(body: Body) -> None:
    for turn in [turn for turn in body.turns if _is_a_result(turn)][1:]:
        body.turns.remove(turn)
    for turn in body.turns:
        blocks = body.blocks(turn)
        results = [block for block in blocks if _is_a_result(block)]
        blocks[:] = [block for block in blocks if block not in results[1:]]


def _last_result_twice(body: Body) -> None:
    for turn in body.turns[::-1]:
        if _is_a_result(turn):
            body.turns.insert(body.turns.index(turn) + 1, dict(turn))
            return
        if any(map(_is_a_result, body.blocks(turn))):
            body.blocks(turn).append(dict(body.blocks(turn)[-1]))
            return


def _later_calls(arguments: Callable[[Body], Json]) -> Change:
    """Returns a change of the arguments of all calls but the first."""

    def change(body: Body) -> None:
        for call in body.calls()[1:]:
            call.arguments = arguments(body)

    return change


def _encoded_twice(body: Body) -> None:
    for call in body.calls():
        call.given.value = json.dumps(call.given.value)


def _numbers(given: Json) -> Json:
    return {k: int(v) if isinstance(v, str) and v.isdigit() else v for k, v in given.items()}


def _unflagged(body: Body) -> None:
    for found in objects(body.turns):
        if found.get("is_error") or found.get("status") == "error":
            found.pop("is_error", None)
            found.pop("status", None)


def _counted_errors(body: Body) -> None:
    for result in body.results():
        if "errors" in str(result.text.value):
            result.mark(True)


def _short_descriptions(body: Body) -> None:
    for tool in body.tools():
        tool["description"] = tool["description"][:1024]


def _required_only(schema: Json) -> Json:
    named = schema.get("required", ())
    return {**schema, "properties": {k: v for k, v in schema.get("properties", {}).items() if k in named}}


def _one_tool(body: Body) -> None:
    held = body.body.get("tools") or body.body["toolConfig"]["tools"]
    declared = held[0].get("functionDeclarations") or held
    del declared[1:]


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "unstored_answer_named": _naming,
    "first_result_of_several": _first_result_only,
    "call_forced_on_every_request": lambda body: forced("required")(body) if body.results() else None,
    "later_calls_without_arguments": _later_calls(lambda _: {}),
    "arguments_go_to_an_earlier_call": _later_calls(lambda body: body.calls()[0].arguments),
    "error_flag_never_set": _unflagged,
    "text_as_numbers": arguments(_numbers),
    "arguments_encoded_twice": _encoded_twice,
    "second_result_twice": _last_result_twice,
    "leading_space_stripped": each(said("user"), lambda text: re.sub("(?m)^[ \t]+", "", text)),
    "characters_lost_on_recovery": each(said("user"), lambda text: text.encode("ascii", "ignore").decode()),
    "limit_of_every_turn": options(limit=1024),
    "limit_of_agents": options(limit=1024, with_tools=True),
    "enum_dropped_for_a_router": schemas(without("enum")),
    "only_required_parameters": schemas(_required_only),
    "count_of_errors_is_an_error": _counted_errors,
    "tool_descriptions_shortened": _short_descriptions,
    "most_tools_missing": _one_tool,
    "images_of_results_lost": _media_of_results(lambda *_: None),
    "images_of_results_as_json": _media_of_results(_said_as_json),
    "images_of_results_omitted": _media_of_results(_noted),
    "images_of_results_as_jpeg": _as_jpeg,
    "images_not_forwarded": in_turns(lambda block: not _is_image(block)),
    "documents_not_forwarded": in_turns(lambda block: not _is_document(block)),
    "prompt_lost_with_tools": beside_tools(_without_prompt),
    "prompt_replaced_by_notice": later(each(said("system"), lambda _: "Earlier messages were summarized.")),
    "history_flattened": _flattened,
    "text_beside_calls_stripped": _text_beside_calls,
    "calls_lost_results_kept": _without_calls,
    "tool_messages_lost_on_reload": _without_tool_messages,
    "later_calls_erased": _first_call_of_each,
    "results_of_a_batch_unavailable": all_results(_unavailable, 4),
    "one_result_of_several": all_results(_one_of_several, 3),
    "empty_collections_are_nothing": each(result_texts, _nothing_for_empty),
    "ids_of_nine_letters": ids(lambda id: re.sub("[^A-Za-z0-9]", "", id)[:9]),
    "ids_with_a_suffix": ids(lambda id: f"{id}:6f1c2a34-9d70-4f6e-8a51-0b7d9c2e4f10"),
    "calls_dropped_by_a_reducer": _orphans,
    "thinking_as_text": _thoughts(lambda block: {"type": "text", "text": block["thinking"]}),
    "thinking_emptied": _thoughts(lambda block: {**block, "thinking": ""}),
    "thinking_unsigned": _thoughts(lambda block: {k: v for k, v in block.items() if k != "signature"}),
    "thoughts_in_answers": each(said("assistant"), lambda text: f"<think>Let me see.</think>{text}"),
    "arrays_are_strings": schemas(everywhere(_array_as_string)),
    "items_of_any_kind": schemas(everywhere(_any_items)),
    "nullable_tool_dropped": _nullable_tools,
    "schema_replaces_tools": _schema_replaces_tools,
    "no_schema_beside_tools": beside_tools(_no_schema),
    "cache_marks_stripped": _without_marks,
    "model_of_a_turn_ignored": _FirstModel(),
}

# --- Answers, before the client reads them ---------------------------------------------------------------


def _calls_of(events: Sequence[Json]) -> list[Json]:
    """Returns the deltas of calls in a stream of Chat Completions."""
    return [call for found in objects(list(events)) for call in found.get("tool_calls") or ()]


def _to_no_call(events: Sequence[Json]) -> None:
    """Drops the argument deltas of every call but the first."""
    for call in _calls_of(events):
        if "id" not in call and call.get("index"):
            call["function"]["arguments"] = ""


def _new_ids(events: Sequence[Json]) -> None:
    """Takes each delta without an id for a call of its own, which has no name."""
    for call in _calls_of(events):
        if "id" not in call:
            call["function"]["arguments"] = ""


def _same_place(events: Sequence[Json]) -> None:
    """Replaces an earlier call by a later one, because both are the first part of their chunk."""
    found = [
        part for event in objects(list(events)) for part in event.get("parts") or () if "functionCall" in part
    ]
    for part in found[:-1]:
        part.pop("functionCall")
        part["text"] = ""


def _call_instead_of_text(events: Sequence[Json]) -> None:
    """Puts the arguments of the first call in the place of the text, and makes no call."""
    for found in objects(list(events)):
        if isinstance(found.get("tool_calls"), list):
            calls = found.pop("tool_calls")
            found["content"] = "".join(call["function"]["arguments"] for call in calls)
        elif found.get("finish_reason") == "tool_calls":
            found["finish_reason"] = "stop"


_ENDS = {"length": "tool_calls", "max_tokens": "tool_use"}


def _cut_call(events: Sequence[Json]) -> None:
    """Takes a call that was cut for a whole one, and completes its arguments."""
    cut = False
    for found in objects(list(events)):
        for key in ("finish_reason", "stop_reason"):
            cut = cut or found.get(key) in _ENDS
            found.update({key: _ENDS[found[key]]} if found.get(key) in _ENDS else {})
    if cut:
        _mend(events, '{"city": "Pa"}')


def _mend(events: Sequence[Json], arguments: str) -> None:
    """Replaces the pieces of a call's arguments, wherever they are."""
    places = [(found, key) for found in objects(list(events)) for key in ("arguments", "partial_json") if isinstance(found.get(key), str)]  # fmt: skip
    for holder, key in places:
        holder[key] = ""
    for holder, key in places[-1:]:
        holder[key] = arguments
    for found in objects(list(events)):
        if found.get("type") == "tool_use" and not places:
            found["input"] = json.loads(arguments)


_FILTERS = {"content_filter": "stop", "refusal": "end_turn", "SAFETY": "STOP"}


def _filter_not_read(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        for key in ("finish_reason", "stop_reason", "finishReason"):
            found.update({key: _FILTERS[found[key]]} if found.get(key) in _FILTERS else {})


def _stop_beside_text(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if found.get("finish_reason") and any((found.get("delta") or {}).values()):
            found["finish_reason"] = None


#: What each bug changes of an answer.
ANSWERS: Mapping[str, Rewrite] = {
    "unstored_answer_named": _naming.read,
    "stop_beside_text_not_read": _stop_beside_text,
    "fragments_of_later_calls_lost": _to_no_call,
    "fragments_without_id_are_calls": _new_ids,
    "calls_in_one_place_collide": _same_place,
    "arguments_replace_the_text": _call_instead_of_text,
    "cut_call_repaired": _cut_call,
    "filter_not_read": _filter_not_read,
}


def _decoded(chunks: list[bytes]) -> list[bytes]:
    return [chunk.decode("utf-8", "replace").encode() for chunk in chunks]


def _ends_at_comment(chunks: list[bytes]) -> list[bytes]:
    return [re.split(rb"^:", b"".join(chunks), maxsplit=1, flags=re.MULTILINE)[0]]


def _fails_at_comment(chunks: list[bytes]) -> list[bytes]:
    if re.search(rb"^:", b"".join(chunks), re.MULTILINE):
        raise httpx.RemoteProtocolError("stream chunk improperly formatted")
    return chunks


def _poisoned(chunks: list[bytes]) -> list[bytes]:
    """Prepends a comment to the data after it, so that neither is read."""
    return [re.sub(rb"^:[^\n]*\n+(event:[^\n]*\n)?data:", b"ignored:", b"".join(chunks), flags=re.MULTILINE)]


def _needs_arguments(chunks: list[bytes]) -> list[bytes]:
    told = re.findall(rb'"arguments": ?"((?:[^"\\]|\\.)*)"', b"".join(chunks))
    if told and not b"".join(told):
        raise httpx.RemoteProtocolError("the tool call has empty arguments")
    return chunks


#: How each bug reads the chunks of an answer.
CHUNKS: Mapping[str, Chunks] = {
    "characters_cut_by_chunks": _decoded,
    "comment_ends_the_stream": _ends_at_comment,
    "comment_is_an_error": _fails_at_comment,
    "comment_hides_the_next_event": _poisoned,
    "blank_arguments_are_fatal": _needs_arguments,
}

# --- Replies ---------------------------------------------------------------------------------------------


def _as_success(reply: Reply) -> Reply:
    return replace(reply, error=None, complete=True, stop="stop") if reply.error else reply


def _untyped(reply: Reply) -> Reply:
    return replace(reply, error=ValueError("bad response code, expected 200")) if reply.error else reply


#: What each bug changes of a reply.
REPLIES: Mapping[str, Callable[[Reply], Reply]] = {
    "chunks_shown_twice": lambda reply: replace(reply, pieces=[part for each in reply.pieces for part in (each, each)]),
    "deltas_and_whole_text_shown": lambda reply: replace(reply, pieces=[*reply.pieces, reply.text]),
    "error_event_is_skipped": _as_success,
    "error_without_nesting_is_not_seen": _as_success,
    "error_event_without_its_words": _untyped,
    "cut_value_is_completed": lambda reply: Reply(value={"name": "Ada Lo", "age": 0}) if reply.error else reply,
    "counts_of_two_events_added": usage_times(2, "input", "cached"),
    "code_taken_for_a_tag": lambda reply: replace(reply, text=re.sub(r"\n +\S+\n", "\n", reply.text)),
}  # fmt: skip

REPORTED = listed("reported.toml", CHANGES, REPLIES, ANSWERS, CHUNKS)
