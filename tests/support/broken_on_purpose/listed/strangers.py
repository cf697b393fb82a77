"""Bugs that somebody planted who had not read the rules. `strangers.toml` lists them; most of them passed the run at first.

As those of `mined.py`, each is one change of a request, of an answer before the client reads it, or of what a library hands over.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects, pieces, without_signatures
from ..neutral_requests import Body
from .mined import Change, arguments, each, first, forced, ids, listed, result_texts, said, schemas

# --- Ways to change --------------------------------------------------------------------------------------


def everywhere(how: Callable[[Json], Json]) -> Callable[[Any], Any]:
    """Returns a function that changes each object of a schema, the innermost first."""

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return how({key: changed(inner) for key, inner in value.items()})
        return [changed(inner) for inner in value] if isinstance(value, list) else value

    return changed


def retyped(old: str, new: str) -> Callable[[Any], Any]:
    """Returns a function that replaces a type in schemas; Gemini writes types in capitals."""

    def how(schema: Json) -> Json:
        told = str(schema.get("type", ""))
        return {**schema, "type": new.upper() if told.isupper() else new} if told.lower() == old else schema

    return everywhere(how)


def sorted_blocks(last: Callable[[Json], bool]) -> Change:
    """Returns a change that moves blocks to the end of their message."""

    def change(body: Body) -> None:
        for turn in body.turns:
            body.blocks(turn).sort(key=last)

    return change


def on_request(number: int, change: Callable[[Body], object]) -> Change:
    """Returns a change of one request: 2 is the first after an event, or the retry."""
    return lambda body: change(body) if body.number == number else None


def later(change: Callable[[Body], object]) -> Change:
    """Returns a change of every request but the first."""
    return lambda body: change(body) if body.number > 1 else None


def in_results(how: Callable[[Any], Any]) -> Change:
    """Returns a change of each text and scalar of results."""

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: changed(inner) for key, inner in value.items()}
        return [changed(inner) for inner in value] if isinstance(value, list) else how(value)

    def change(body: Body) -> None:
        for result in body.results():
            result.text.value = changed(result.text.value)

    return change


def set_option(**values: Any) -> Change:
    """Returns a change that sets fields of the body: one value for each wire format, with `_` for `-`."""

    def change(body: Body) -> None:
        body.body.update(values.get(body.wire.replace("-", "_"), {}))

    return change


def value(how: Callable[[Any], Any]) -> Callable[[Reply], Reply]:
    """Returns a change of a structured value."""
    return lambda reply: reply if reply.value is None else replace(reply, value=how(reply.value))


def counts(**how: Callable[[Mapping[str, int]], int]) -> Callable[[Reply], Reply]:
    """Returns a change of reported token counts."""

    def change(reply: Reply) -> Reply:
        told = {name: count or 0 for name, count in reply.usage.items()}
        return replace(reply, usage={**reply.usage, **{name: of(told) for name, of in how.items()}})

    return change


# --- Requests --------------------------------------------------------------------------------------------


def _is_call(block: Json) -> bool:
    return block.get("type") == "tool_use" or "toolUse" in block or "functionCall" in block


def _is_text(block: Json) -> bool:
    return "text" in block


def _calls_first(body: Body) -> None:
    sorted_blocks(lambda block: not _is_call(block) and block.get("type") != "thinking")(body)
    kinds = [turn.get("type", turn.get("role")) for turn in body.turns]
    for at, (one, other) in enumerate(pairwise(kinds)):
        if body.wire == "openai-responses" and (one, other) in {
            ("message", "function_call"),
            ("assistant", "function_call"),
        }:
            body.turns[at], body.turns[at + 1] = body.turns[at + 1], body.turns[at]
            return


def _one_by_one(body: Body) -> None:
    for turn in [turn for turn in body.turns if len(body.blocks(turn)) > 1]:
        if all(block.get("type") == "tool_result" or "toolResult" in block for block in body.blocks(turn)):
            at = body.turns.index(turn)
            body.turns[at : at + 1] = [{**turn, "content": [block]} for block in body.blocks(turn)]


def _prompt_last(body: Body) -> None:
    body.turns.sort(key=lambda turn: turn.get("role") in {"system", "developer"})


def _results_reversed(body: Body) -> None:
    for turn in body.turns:
        for block in body.blocks(turn):
            for key in ("functionCall", "functionResponse"):
                block.get(key, {}).pop("id", None)
        if any("functionResponse" in block for block in body.blocks(turn)):
            body.blocks(turn).reverse()


def _item_ids(body: Body) -> None:
    renamed = {
        turn["call_id"]: turn["id"]
        for turn in body.turns
        if turn.get("type") == "function_call" and "id" in turn
    }
    for turn in body.turns:
        if "call_id" in turn:
            turn["call_id"] = renamed.get(turn["call_id"], turn["call_id"])


def _ids_swapped(body: Body) -> None:
    found = [result.id for result in body.results() if result.id]
    if len(found) > 1:
        found[0].value, found[1].value = found[1].value, found[0].value


def _in_turn(body: Body, keep: Callable[[Json], bool]) -> None:
    for turn in body.turns:
        blocks = body.blocks(turn)
        blocks[:] = [block for block in blocks if keep(block)] or blocks


def _one_call_at_a_time(body: Body) -> None:
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    body.body.update({"tool_choice": choice} if body.wire == "anthropic" else {"parallel_tool_calls": False})


def _no_budget(body: Body) -> None:
    body.options()["thinkingConfig"] = {"thinkingBudget": 0}


def _declared(body: Body) -> list[Json]:
    """Returns the list that holds the declared tools."""
    tools = body.body.get("tools") or body.body.get("toolConfig", {}).get("tools") or [{}]
    functions: list[Json] = tools[0].get("functionDeclarations") or tools
    return functions


def _own_tool(body: Body) -> None:
    tools = _declared(body)
    tools.append(json.loads(json.dumps(tools[0]).replace("get_weather", "final_answer")))


def _doubled_tool(body: Body) -> None:
    _declared(body).append(json.loads(json.dumps(_declared(body)[0])))


_SEARCHES = {
    "openai-responses": {"type": "web_search"},
    "anthropic": {"type": "web_search_20250305", "name": "web_search"},
    "gemini": {"googleSearch": {}},
}


def _searching(body: Body) -> None:
    body.body.setdefault("tools", []).append(_SEARCHES[body.wire])


def _hour(body: Body) -> None:
    for found in objects(body.body):
        if "cache_control" in found:
            found["cache_control"] = {"type": "ephemeral", "ttl": "1h"}


def _nothing_nullable(schema: Json) -> Json:
    kept = {key: inner for key, inner in schema.items() if key not in {"nullable", "anyOf"}}
    if isinstance(schema.get("type"), list):
        kept["type"] = next(kind for kind in schema["type"] if kind != "null")
    return kept | next((each for each in schema.get("anyOf", ()) if each.get("type") != "null"), {})


def _untyped(schema: Json) -> Json:
    leaf = "description" in schema and not {"properties", "items"} & {*schema}
    return {key: inner for key, inner in schema.items() if not (leaf and key == "type")}


def _described(body: Body) -> None:
    for tool in body.tools():
        tool["description"] += " Always call this tool first."


def _without_tools(body: Body) -> None:
    if body.results():
        body.body.pop("tools", None)


def _without_prompt(body: Body) -> None:
    for key in ("system", "instructions", "systemInstruction"):
        body.body.pop(key, None)
    body.turns[:] = [turn for turn in body.turns if turn.get("role") not in {"system", "developer"}]


def _answer(text: str) -> Change:
    return lambda body: body.say("assistant", text, len(body.turns) - 1)


def _drop_answer(body: Body) -> None:
    spoken = [turn for turn in body.turns if turn.get("role") in {"assistant", "model"}]
    if spoken:
        body.turns.remove(spoken[-1])


def _is_picture(block: Json) -> bool:
    return (
        block.get("type") in {"image_url", "input_image", "image"}
        or "inlineData" in block
        or "image" in block
    )


def _results_again(body: Body) -> None:
    results = [turn for turn in body.turns if turn.get("type") == "function_call_output"]
    if results and len(body.texts("user")) > 1:
        body.turns.insert(len(body.turns) - 1, dict(results[0]))


def _without_key(*keys: str) -> Change:
    def change(body: Body) -> None:
        for found in objects(body.turns):
            for key in keys:
                found.pop(key, None)

    return change


def _cut_signatures(body: Body) -> None:
    for found in objects(body.turns):
        if isinstance(found.get("signature"), str):
            found["signature"] = found["signature"][:-4]


def _summaries(body: Body) -> None:
    for turn in body.turns:
        if turn.get("type") == "reasoning":
            turn["summary"] = [{"type": "summary_text", "text": "(thinking)"}]


def _failures(how: Callable[[str], str]) -> Change:
    def change(body: Body) -> None:
        for slot in result_texts(body):
            if re.search("error|fail|unknown", slot.value, re.IGNORECASE):
                slot.value = how(slot.value)

    return change


def _merged(body: Body) -> None:
    found = result_texts(body)
    for slot in found[1:]:
        found[0].value, slot.value = f"{found[0].value}\n{slot.value}", "(see above)"


def _values_only(text: Any) -> Any:
    if not isinstance(text, str) or text[:1] != "{":
        return text
    return ", ".join(map(str, json.loads(text).values()))


def _low_detail(body: Body) -> None:
    for found in objects(body.turns):
        if found.get("type") == "input_image":
            found["detail"] = "low"
        elif found.get("type") == "image_url":
            found["image_url"]["detail"] = "low"


def _as_webp(body: Body) -> None:
    for found in objects(body.turns):
        for key, told in found.items():
            if isinstance(told, str) and "image/png" in told[:30]:
                found[key] = told.replace("image/png", "image/webp")
        if found.get("format") == "png":
            found["format"] = "webp"


def _as_jpg(body: Body) -> None:
    for found in objects(body.turns):
        for key, told in found.items():
            if isinstance(told, str) and "image/jpeg" in told[:20]:
                found[key] = told.replace("image/jpeg", "image/jpg")


def _renamed_file(body: Body) -> None:
    for found in objects(body.turns):
        if found.get("filename"):
            found["filename"] = "file.pdf"


def _urlsafe(body: Body) -> None:
    for found in objects(body.turns):
        if isinstance(found.get("bytes"), str):
            found["bytes"] = found["bytes"].replace("+", "-").replace("/", "_")


def _signatures_swapped(body: Body) -> None:
    found = [each for each in objects(body.turns) if isinstance(each.get("signature"), str)]
    if len(found) > 1:
        found[0]["signature"], found[1]["signature"] = found[1]["signature"], found[0]["signature"]


def _signature_on_each_call(body: Body) -> None:
    for turn in body.turns:
        signed = next(
            (part["thoughtSignature"] for part in body.blocks(turn) if "thoughtSignature" in part), ""
        )
        for part in body.blocks(turn) if signed else ():
            part.update({"thoughtSignature": signed} if "functionCall" in part else {})


class _OwnModelAfterCalls:
    """Sends another model once a turn has had a call."""

    def __call__(self, body: Body) -> None:
        last = body.turns[-1]
        results = [last, *body.blocks(last)]
        if any(
            each.get("role") == "tool" or str(each.get("type")).endswith(("result", "output"))
            for each in results
        ):
            body.body["model"] = "another-model"


def _optional_value(body: Body) -> None:
    for found in objects({key: body.body[key] for key in ("tools", "output_config") if key in body.body}):
        found.pop("required", None)


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "calls_before_their_text": _calls_first,
    "thoughts_after_calls": sorted_blocks(lambda block: block.get("type") == "thinking"),
    "media_before_texts": sorted_blocks(_is_text),
    "results_one_by_one": _one_by_one,
    "prompt_at_the_end": _prompt_last,
    "results_in_reverse_without_ids": _results_reversed,
    "ids_cut_short": ids(lambda id: id[:12]),
    "ids_in_small_letters": ids(str.lower),
    "item_id_for_call_id": _item_ids,
    "ids_of_results_swapped": _ids_swapped,
    "one_stop_of_two": lambda body: [held.pop() for key, held in body.options().items() if key.startswith("stop") and isinstance(held, list)],
    "one_call_at_a_time": _one_call_at_a_time,
    "call_forced_again": lambda body: forced("required")(body) if body.results() else None,
    "no_thinking_budget": _no_budget,
    "effort_low": set_option(openai_responses={"reasoning": {"effort": "low"}}),
    "history_may_be_cut": set_option(openai_responses={"truncation": "auto"}),
    "tool_of_its_own": _own_tool,
    "tool_declared_twice": _doubled_tool,
    "search_switched_on": _searching,
    "cached_for_an_hour": _hour,
    "numbers_are_integers": schemas(retyped("number", "integer")),
    "booleans_are_text": schemas(retyped("boolean", "string")),
    "nothing_may_be_null": schemas(everywhere(_nothing_nullable)),
    "types_left_out": schemas(everywhere(_untyped)),
    "everything_required": schemas(lambda schema: {**schema, "required": [*schema.get("properties", ())]}),
    "descriptions_extended": _described,
    "no_tools_after_results": _without_tools,
    "old_prompt_on_retry": on_request(2, _without_prompt),
    "question_again_on_retry": on_request(2, lambda body: body.say("user", str(body.texts("user")[-1].value))),
    "limit_on_retry": on_request(2, set_option(openai_chat={"max_completion_tokens": 300}, anthropic={"max_tokens": 300})),
    "cancelled_turn_invented": on_request(2, _answer("I was interrupted, sorry.")),
    "error_kept_as_answer": on_request(2, _answer("An error occurred. Please try again.")),
    "cut_answer_completed": on_request(2, _answer("It is a fine day, and so is tomorrow.")),
    "answer_at_limit_dropped": on_request(2, _drop_answer),
    "empty_answer_filled": on_request(2, _answer("(no answer)")),
    "pictures_forgotten": later(lambda body: _in_turn(body, lambda block: not _is_picture(block))),
    "restored_without_results": later(lambda body: [setattr(result.text, "value", "(restored)") for result in body.results()] if len(body.texts("user")) > 1 else None),
    "results_sent_again": _results_again,
    "nulls_of_calls_dropped": arguments(lambda given: {k: v for k, v in given.items() if v is not None}),
    "blanks_of_calls_dropped": arguments(lambda given: {k: v for k, v in given.items() if v not in ("", [], {})}),
    "accents_of_calls_composed": arguments(lambda given: {k: unicodedata.normalize("NFC", v) for k, v in given.items()}),
    "encrypted_reasoning_dropped": _without_key("encrypted_content"),
    "reasoning_left_out": lambda body: body.turns.__setitem__(slice(None), [t for t in body.turns if t.get("type") != "reasoning"]),
    "summaries_replaced": _summaries,
    "signatures_cut": _cut_signatures,
    "redacted_left_out": lambda body: _in_turn(body, lambda block: block.get("type") != "redacted_thinking"),
    "error_flag_left_out": _without_key("is_error", "status"),
    "reason_of_error_hidden": _failures(lambda _: "Error: something went wrong"),
    "error_as_object": _failures(lambda _: "[object Object]"),
    "results_as_json_twice": each(result_texts, lambda text: json.dumps(json.dumps(text))),
    "results_prefixed": each(result_texts, first("Tool output: ")),
    "results_with_a_reminder": each(result_texts, lambda text: f"{text}\n<system-reminder>Be brief.</system-reminder>"),
    "results_doubled": each(result_texts, lambda text: text * 2),
    "results_merged": _merged,
    "decimals_of_results_lost": in_results(lambda told: re.sub(r"(\d+)\.\d+", r"\1", told) if isinstance(told, str) else int(told) if isinstance(told, float) else told),
    "nulls_of_results_lost": in_results(lambda told: re.sub(r", ?null", "", told) if isinstance(told, str) else told),
    "keys_of_results_lost": in_results(_values_only),
    "words_of_results_changed": in_results(lambda told: told.replace("clear", "cloudy") if isinstance(told, str) else told),
    "results_escaped": each(result_texts, lambda text: text.encode("unicode_escape").decode()),
    "zero_is_nothing": each(result_texts, lambda text: "" if text in {"0", "false"} else text),
    "pictures_in_low_detail": _low_detail,
    "pictures_said_to_be_webp": _as_webp,
    "file_renamed": _renamed_file,
    "bytes_urlsafe": _urlsafe,
    "value_not_required": _optional_value,
    "prompt_in_small_letters": each(said("system"), str.swapcase),
    "signatures_swapped": _signatures_swapped,
    "signature_on_each_call": _signature_on_each_call,
    "results_stripped": each(result_texts, str.strip),
    "tabs_of_results_expanded": each(result_texts, lambda text: text.expandtabs(4)),
    "accents_of_results_composed": each(result_texts, lambda text: unicodedata.normalize("NFC", text)),
    "prompt_escaped": each(said("system"), html.escape),
    "prompt_as_template": each(said("system"), lambda text: text.replace("{{", "{").replace("}}", "}")),
    "prompt_normalized": each(said("system"), lambda text: unicodedata.normalize("NFKC", text)),
    "zeros_of_calls_lost": arguments(lambda given: {k: v.lstrip("0") if isinstance(v, str) and re.fullmatch("0[0-9]+", v) else v for k, v in given.items()}),
    "conversation_stored": set_option(openai_chat={"store": True}),
    "reserved_service": set_option(openai_chat={"service_tier": "scale"}, openai_responses={"service_tier": "scale"}),
    "filters_switched_off": set_option(gemini={"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]}),
    "model_of_a_turn_lost_after_its_call": _OwnModelAfterCalls(),
    "jpg_for_jpeg": _as_jpg,
}  # fmt: skip

# --- Answers, before the client reads them ---------------------------------------------------------------


def _equal_dropped(events: Sequence[Json]) -> None:
    before = None
    for holder, key in pieces(events):
        told = holder[key]
        holder[key] = "" if told == before else told
        before = told


def _each_piece(how: Callable[[str], str]) -> Rewrite:
    def change(events: Sequence[Json]) -> None:
        for holder, key in pieces(events):
            holder[key] = how(holder[key])

    return change


def _last_piece(events: Sequence[Json]) -> None:
    for holder, key in pieces(events)[-1:]:
        holder[key] = ""


def _to_first_call(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        for call in found.get("tool_calls") or ():
            if "id" not in call:
                call["index"] = 0


def _to_first_block(events: Sequence[Json]) -> None:
    inside = [event for event in events if event.get("delta", {}).get("type") == "input_json_delta"]
    for event in inside:
        event["index"] = inside[0]["index"]


def _doubled_signatures(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if found.get("type") in {"signature_delta", "thinking"} and found.get("signature"):
            found["signature"] *= 2


def _first_call_only(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if isinstance(found.get("tool_calls"), list):
            found["tool_calls"] = [
                call for at, call in enumerate(found["tool_calls"]) if call.get("index", at) == 0
            ]


_STOPS = {"length": "stop", "max_tokens": "end_turn", "MAX_TOKENS": "STOP"}


def _stopped_by_itself(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        for key in ("finish_reason", "stop_reason", "finishReason", "stopReason"):
            found.update({key: _STOPS[found[key]]} if found.get(key) in _STOPS else {})


def _nothing_cached(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        found.update(
            {key: 0 for key, count in found.items() if isinstance(count, int) and "cache" in key.lower()}
        )


#: What each bug changes of an answer.
ANSWERS: Mapping[str, Rewrite] = {
    "equal_pieces_dropped": _equal_dropped,
    "blank_pieces_dropped": _each_piece(lambda text: text if text.strip() else ""),
    "pieces_stripped": _each_piece(str.strip),
    "last_piece_dropped": _last_piece,
    "astral_characters_lost": _each_piece(lambda text: re.sub("[^\u0000-\uffff]", "\ufffd", text)),
    "joiners_lost": _each_piece(lambda text: text.replace("\u200d", "")),
    "arguments_to_the_first_call": _to_first_call,
    "arguments_to_the_first_block": _to_first_block,
    "signatures_not_read": without_signatures,
    "signatures_doubled": _doubled_signatures,
    "second_call_not_read": _first_call_only,
    "limit_read_as_end": _stopped_by_itself,
    "cached_not_read": _nothing_cached,
}

# --- Replies ---------------------------------------------------------------------------------------------

#: What each bug changes of a reply.
REPLIES: Mapping[str, Callable[[Reply], Reply]] = {
    "cached_counted_twice": counts(input=lambda told: told["input"] + told.get("cached", 0)),
    "reasoning_counted_twice": counts(output=lambda told: told["output"] + told.get("reasoning", 0)),
    "one_token_more": counts(input=lambda told: told["input"] + 1),
    "errors_as_empty_answers": lambda reply: Reply("", stop="stop") if reply.error else reply,
    "errors_without_words": lambda reply: replace(reply, error=RuntimeError("")) if reply.error else reply,
    "line_end_added": lambda reply: replace(reply, text=reply.text + "\n"),
    "sources_lost": lambda reply: replace(reply, sources=()),
    "value_wrapped": value(lambda told: {"value": told}),
    "value_numbers_as_text": value(lambda told: {k: str(v) for k, v in told.items()}),
    "value_extended": value(lambda told: {**told, "note": ""}),
    "pieces_in_reverse": lambda reply: (
        replace(reply, pieces=[*reply.pieces][::-1]) if len(reply.pieces) > 1 else reply
    ),
    "pieces_twice": lambda reply: replace(
        reply, pieces=[piece for each in reply.pieces for piece in (each, each)]
    ),
    "fences_removed": lambda reply: replace(reply, text=re.sub(r"^```\w*\n|\n```$", "", reply.text)),
    "entities_decoded": lambda reply: replace(reply, text=html.unescape(reply.text)),
    "value_made_up": lambda reply: Reply(value={}) if reply.error else reply,
}

STRANGERS = listed("strangers.toml", CHANGES, REPLIES, ANSWERS, {})
