"""Bugs that trackers reported in 2026, most of them of one wire format. `trackers.toml` lists them.

As those of `mined.py`, each is one change of a request, of an answer before the client reads it, or of what a library hands over.
They were planted before anybody looked whether a rule sees them, and are spread over all eight wire formats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects
from ..base import is_result
from ..neutral_requests import Body
from .mined import Change, Chunks, listed, schemas
from .strangers import counts, everywhere, set_option

# --- What the provider made ------------------------------------------------------------------------------


def _fields(*names: str) -> Change:
    """Returns a change that drops fields of the model's turns, wherever they are."""

    def change(body: Body) -> None:
        for found in objects([turn for turn in body.turns if turn.get("role") != "user"]):
            for name in names:
                found.pop(name, None)

    return change


def _blocks(keep: Callable[[Json], object]) -> Change:
    """Returns a change that keeps some blocks of messages, and drops messages that are then empty."""

    def change(body: Body) -> None:
        for turn in body.turns:
            blocks = body.blocks(turn)
            blocks[:] = [block for block in blocks if keep(block)]
        body.turns[:] = [t for t in body.turns if not isinstance(t.get("content"), list) or t["content"]]

    return change


def _items(keep: Callable[[Json], object]) -> Change:
    """Returns a change that keeps some messages or items."""

    def change(body: Body) -> None:
        body.turns[:] = [turn for turn in body.turns if keep(turn)]

    return change


def _citations_as_text(body: Body) -> None:
    """Sends the words of cited answers, and nothing of their sources."""
    _fields("citations", "annotations")(body)
    for turn in body.turns:
        body.blocks(turn)[:] = [
            text
            for block in body.blocks(turn)
            for text in (block.get("citationsContent") or {}).get("content", [block])
        ]


def _reasoning_in_tags(body: Body) -> None:
    for turn in body.turns:
        blocks = body.blocks(turn)
        blocks[:] = [
            {"text": f"<think>{_reasoned(block)}</think>"} if "reasoningContent" in block else block
            for block in blocks
        ]


def _reasoned(block: Json) -> str:
    return str(block["reasoningContent"].get("reasoningText", {}).get("text", ""))


def _asked_to_think(change: Change) -> Change:
    """Returns a change of a request to Claude that asks for thoughts, which Converse has only then."""

    def thinking(body: Body) -> None:
        body.body.setdefault("additionalModelRequestFields", {})["thinking"] = {"type": "adaptive"}
        change(body)

    return thinking


def _unsigned_reasoning(body: Body) -> None:
    """Puts reasoning of its own, which nobody signed, before the calls of Converse."""
    for turn in body.turns:
        if any("toolUse" in block for block in body.blocks(turn)):
            reasoning = {"reasoningText": {"text": "I should look it up."}}
            body.blocks(turn).insert(0, {"reasoningContent": reasoning})


def _thoughts_of_texts(body: Body) -> None:
    for part in objects(body.turns):
        if "text" in part and "thoughtSignature" in part:
            part["thought"] = True


def _unsigned_texts(body: Body) -> None:
    for part in objects(body.turns):
        if "text" in part:
            part.pop("thoughtSignature", None)


def _one_signature_on_all(body: Body) -> None:
    signed = [part["thoughtSignature"] for part in objects(body.turns) if "thoughtSignature" in part]
    for part in objects(body.turns) if signed else ():
        if "text" in part:
            part["thoughtSignature"] = signed[0]


def _ids_of_reasoning_lost(body: Body) -> None:
    for turn in body.turns:
        if turn.get("type") == "reasoning":
            turn.pop("id", None)


def _reasoning_beside_answers(body: Body) -> None:
    for turn in body.turns:
        if turn.get("role") == "assistant":
            turn["reasoning_content"] = "The user wants to know."


# --- Calls and results -----------------------------------------------------------------------------------


def _empty_turns(body: Body) -> None:
    """Keeps a turn of the model without content before each later question."""
    role = "model" if body.wire == "gemini" else "assistant"
    for at in range(len(body.turns) - 1, 0, -1):
        if body.turns[at].get("role") == "user" and body.turns[at - 1].get("role") == "user":
            empty = "" if isinstance(body.turns[at].get("content"), str) else []
            body.turns.insert(at, {"role": role, "content": empty})


def _results_of_the_user(body: Body) -> None:
    for turn in body.turns:
        if turn.get("role") == "tool":
            content = json.dumps(turn["content"])
            turn.clear()
            turn.update({"role": "user", "content": content})


def _results_as_orphans(body: Body) -> None:
    """Sends results as texts of the user, and no calls."""
    for turn in body.turns:
        if is_result(turn):
            text = f"[orphaned tool result] {turn.get('content', turn.get('output'))}"
            turn.clear()
            turn.update({"role": "user", "content": text})
        turn.pop("tool_calls", None)
    _items(lambda turn: turn.get("type") != "function_call")(body)


def _calls_under_another_name(body: Body) -> None:
    for turn in body.turns:
        if "tool_calls" in turn:
            turn["toolCalls"] = [call["function"] for call in turn.pop("tool_calls")]


def _arguments_as_text(body: Body) -> None:
    for turn in body.turns:
        for call in turn.get("tool_calls") or ():
            call["function"]["arguments"] = json.dumps(call["function"]["arguments"])


def _one_response_for_each_name(body: Body) -> None:
    for turn in body.turns:
        seen = set[str]()
        kept = list[Json]()
        for part in body.blocks(turn):
            name = part.get("functionResponse", {}).get("name", "")
            if not name or name not in seen:
                kept.append(part)
            seen.add(name)
        body.blocks(turn)[:] = kept


def _ids_from_names(body: Body) -> None:
    names = dict[str, str]()
    for call in body.calls():
        if call.id:
            names[call.id.value] = call.id.value = f"call-{call.name.value}"
    for result in body.results():
        if result.id:
            result.id.value = next(iter(names.values()), result.id.value)


def _nameless_responses(body: Body) -> None:
    for part in objects(body.turns):
        if "functionResponse" in part:
            part["functionResponse"]["name"] = ""


def _all_succeeded(body: Body) -> None:
    for found in objects(body.turns):
        if "toolUseId" in found and "content" in found:
            found["status"] = "success"


def _no_tools_once_called(body: Body) -> None:
    if body.results():
        body.body.pop("toolConfig", None)


def _remarks_lost(body: Body) -> None:
    """Drops what the user says beside results."""
    turns = body.turns
    turns[:] = [
        turn
        for at, turn in enumerate(turns)
        if turn.get("role") != "user" or not at or turns[at - 1].get("role") != "tool"
    ]


def _null_callers(body: Body) -> None:
    for block in objects(body.turns):
        if block.get("type") == "tool_use":
            block["caller"] = None


# --- Prompts, media, tools and options -------------------------------------------------------------------


def _nested_prompt(body: Body) -> None:
    if body.body.get("system"):
        body.body["system"] = [{"text": body.body["system"]}]


def _note_for_a_prompt(body: Body) -> None:
    for slot in body.texts("system"):
        slot.value = "Note: the session was restored."


def _global_cache(body: Body) -> None:
    for found in objects(body.body):
        if isinstance(found.get("cache_control"), dict):
            found["cache_control"]["scope"] = "global"


def _name_of_documents(name: str) -> Change:
    def change(body: Body) -> None:
        for found in objects(body.turns):
            if isinstance(found.get("document"), dict):
                found["document"]["name"] = name

    return change


def _images_at_the_top(body: Body) -> None:
    for turn in body.turns:
        if turn.get("images"):
            body.body.setdefault("images", []).extend(turn.pop("images"))


def _lists_of_parts(body: Body) -> None:
    for turn in body.turns:
        images = [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{image}"}}
            for image in turn.pop("images", ())
        ]
        if images:
            turn["content"] = [{"type": "text", "text": turn["content"]}, *images]


def _images_as_urls(body: Body) -> None:
    for turn in body.turns:
        turn.update(
            {"images": [f"data:image/png;base64,{i}" for i in turn["images"]]} if "images" in turn else {}
        )


def _titles_still_required(schema: Json) -> Json:
    fields = {name: field for name, field in (schema.get("properties") or {}).items() if name != "title"}
    return {**schema, "properties": fields} if "properties" in schema else schema


def _both_samplings(body: Body) -> None:
    body.options().update({"temperature": 0.7, "topP": 1.0})


def _not_strict(body: Body) -> None:
    """Sends schemas as the caller wrote them, with arguments that may be left out, and says nothing of strictness."""
    for tool in body.tools():
        tool.pop("strict", None)
    schemas(everywhere(_optional_again))(body)


def _optional_again(schema: Json) -> Json:
    fields = schema.get("properties") or {}
    nullable = {name for name, field in fields.items() if "null" in json.dumps(field)}
    required = [name for name in schema.get("required", ()) if name not in nullable]
    return {**schema, "required": required} if nullable else schema


def _values_not_strict(body: Body) -> None:
    for found in objects(body.body):
        if found.get("type") == "json_schema":
            (found.get("json_schema") or found).pop("strict", None)


def _null_as_a_flag(schema: Json) -> Json:
    told = schema.get("type")
    if not isinstance(told, list) or "null" not in told:
        return schema
    return {**schema, "type": next(kind for kind in told if kind != "null"), "nullable": True}


def _titles_lost(schema: Json) -> Json:
    """Drops properties called title, and their names from the required list."""
    if "title" not in schema.get("properties", {}):
        return schema
    properties = {name: field for name, field in schema["properties"].items() if name != "title"}
    required = [name for name in schema.get("required", ()) if name != "title"]
    return {**schema, "properties": properties, "required": required}


def _choice_lost(body: Body) -> None:
    body.body.pop("tool_choice", None)


def _forced_beside_a_format(body: Body) -> None:
    if body.body.get("response_format") and body.tools():
        body.body["tool_choice"] = "any"


def _top_p(body: Body) -> None:
    name = {"gemini": "topP", "bedrock": "topP", "cohere": "p"}.get(body.wire, "top_p")
    held = body.body.setdefault("options", {}) if body.wire == "ollama" else body.options()
    held[name] = 1.0


def _limit_of(tokens: int) -> Change:
    def change(body: Body) -> None:
        name = {"gemini": "maxOutputTokens", "ollama": "num_predict"}.get(body.wire, "max_tokens")
        held = body.body.setdefault("options", {}) if body.wire == "ollama" else body.options()
        held[name] = tokens

    return change


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "citations_dropped": _citations_as_text,
    "server_blocks_dropped": _blocks(
        lambda b: b.get("type") not in {"server_tool_use", "web_search_tool_result"}
    ),
    "searches_dropped": _items(lambda turn: turn.get("type") != "web_search_call"),
    "phases_dropped": _fields("phase"),
    "commentary_dropped": _items(lambda turn: turn.get("phase") != "commentary"),
    "reasoning_in_tags": _asked_to_think(_reasoning_in_tags),
    "reasoning_without_its_signature": _asked_to_think(_fields("signature")),
    "reasoning_of_calls_dropped": _asked_to_think(_blocks(lambda block: "reasoningContent" not in block)),
    "unsigned_reasoning_added": _unsigned_reasoning,
    "signed_texts_are_thoughts": _thoughts_of_texts,
    "one_signature_on_all_texts": _one_signature_on_all,
    "ids_of_reasoning_dropped": _ids_of_reasoning_lost,
    "reasoning_of_another_provider": _reasoning_beside_answers,
    "results_said_by_the_user": _results_of_the_user,
    "results_as_orphans": _results_as_orphans,
    "calls_under_another_name": _calls_under_another_name,
    "arguments_as_text": _arguments_as_text,
    "one_response_for_each_name": _one_response_for_each_name,
    "ids_from_names": _ids_from_names,
    "nameless_responses": _nameless_responses,
    "failures_succeeded": _all_succeeded,
    "no_tool_config_once_called": _no_tools_once_called,
    "remarks_beside_results_lost": _remarks_lost,
    "prompt_nested_in_a_text": _nested_prompt,
    "note_for_a_prompt": _note_for_a_prompt,
    "cached_for_everybody": _global_cache,
    "documents_named_with_a_dot": _name_of_documents("report.pdf"),
    "documents_named_with_an_apostrophe": _name_of_documents("John's report"),
    "images_beside_messages": _images_at_the_top,
    "lists_of_parts": _lists_of_parts,
    "strictness_left_out": _not_strict,
    "titles_not_required_either": schemas(everywhere(_titles_lost)),
    "named_choice_lost": _choice_lost,
    "top_p_of_one": _top_p,
    "limit_of_thirty": _limit_of(30),
    "limit_overwritten": _limit_of(120),
    "metadata_of_a_proxy": set_option(openai_responses={"metadata": {"user_api_key_hash": "7f3a"}}),
    "thinking_switched_off": set_option(ollama={"think": False}),
    "most_thinking_by_default": set_option(
        anthropic={"output_config": {"effort": "max"}},
        openai_responses={"reasoning": {"effort": "xhigh"}},
        openai_chat={"reasoning_effort": "xhigh"},
    ),
    "empty_turns_kept": _empty_turns,
    "images_as_data_urls": _images_as_urls,
    "titles_still_required": schemas(everywhere(_titles_still_required)),
    "temperature_beside_top_p": _both_samplings,
    "budget_of_older_models": set_option(anthropic={"thinking": {"type": "enabled", "budget_tokens": 8000}}),
    "limit_left_out": lambda body: body.body.pop("max_tokens", None),
    "effort_of_none": set_option(mistral={"reasoning_effort": "none"}),
    "stream_options_everywhere": lambda body: body.body.update(
        {"stream_options": {"include_usage": True}} if body.body.get("stream") else {}
    ),
}

# --- Answers, before the client reads them ---------------------------------------------------------------


def _dropped(*names: str) -> Rewrite:
    """Returns a change of an answer that drops fields."""

    def change(events: Sequence[Json]) -> None:
        for found in objects(list(events)):
            for name in names:
                found.pop(name, None)

    return change


def _replaced(name: str, old: Any, new: Any) -> Rewrite:
    def change(events: Sequence[Json]) -> None:
        for found in objects(list(events)):
            if found.get(name) == old:
                found[name] = new

    return change


def _failures_are_complete(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if found.get("finish_reason") == "ERROR":
            found["finish_reason"] = "COMPLETE"
            found.pop("error", None)


def _usage_beside_choices(events: Sequence[Json]) -> None:
    for event in events:
        if event.get("choices") and event.get("object") == "chat.completion.chunk":
            event.pop("usage", None)


def _index_of_the_last(events: Sequence[Json]) -> None:
    """Adds pieces of a call that have no id to the call that was named last."""
    last = 0
    for event in events:
        for call in [c for c in objects(event) if "function" in c and "index" in c]:
            if call.get("id"):
                last = call["index"]
            call["index"] = last


def _commentary_not_read(events: Sequence[Json]) -> None:
    silent = {
        item.get("id")
        for item in objects(list(events))
        if item.get("phase") == "commentary" and item.get("type") == "message"
    }
    for found in objects(list(events)):
        if found.get("phase") == "commentary" and "content" in found:
            found["content"] = []
        if found.get("item_id") in silent and found.get("type") == "response.output_text.delta":
            found["delta"] = ""


def _no_arguments(events: Sequence[Json]) -> None:
    for event in events:
        if event.get("type") == "tool-call-delta":
            for call in [c for c in objects(event) if "arguments" in c]:
                call["arguments"] = ""


def _calls_of_streams_not_read(events: Sequence[Json]) -> None:
    for event in events:
        if str(event.get("type")).startswith("tool-call"):
            event["type"] = "ignored"
        for found in objects(event):
            if found.get("finish_reason") == "TOOL_CALL":
                found["finish_reason"] = "COMPLETE"


#: What each bug changes of an answer.
ANSWERS: Mapping[str, Rewrite] = {
    "refusals_not_read": _dropped("refusal"),
    "malformed_calls_are_a_stop": _replaced("finishReason", "MALFORMED_FUNCTION_CALL", "STOP"),
    "failures_are_complete": _failures_are_complete,
    "usage_beside_choices_not_read": _usage_beside_choices,
    "pieces_to_the_last_call": _index_of_the_last,
    "commentary_not_read": _commentary_not_read,
    "argument_pieces_not_read": _no_arguments,
    "calls_of_streams_not_read": _calls_of_streams_not_read,
}

# --- Bytes of streams ------------------------------------------------------------------------------------


def _events(chunks: list[bytes], separator: bytes = b"\n\n") -> list[bytes]:
    return b"".join(chunks).split(separator)


def _only_line_feeds(chunks: list[bytes]) -> list[bytes]:
    """Reads only events that end with two line feeds."""
    body = b"".join(chunks)
    return chunks if body[:1] == b"{" else [b"\n\n".join(e for e in body.split(b"\n\n") if b"\r" not in e)]


def _with_a_space(chunks: list[bytes]) -> list[bytes]:
    """Ignores data that has no space after the colon."""
    return [re.sub(rb"(?m)^data:(?! ).*$", b"", b"".join(chunks))]


def _each_line_alone(chunks: list[bytes]) -> list[bytes]:
    """Takes each line of data for an event."""
    return [re.sub(rb"(?m)^(data:.*)$", rb"\1\n", b"".join(chunks))]


def _split_at_separators(chunks: list[bytes]) -> list[bytes]:
    """Splits lines where Python does, also at U+2028 and U+0085."""
    return ["\n".join(b"".join(chunks).decode().splitlines()).encode() + b"\n\n"]


def _returns_by_chunk(chunks: list[bytes]) -> list[bytes]:
    """Takes a carriage return at the end of a chunk for a line end."""
    return [re.sub(rb"\r\n|\r", b"\n", chunk) for chunk in chunks]


def _ends_at_usage(chunks: list[bytes]) -> list[bytes]:
    """Takes the first event with token counts for the last."""
    found = _events(chunks)
    for at, event in enumerate(found):
        if b'"usage":{' in event.replace(b" ", b""):
            return [b"\n\n".join([*found[: at + 1], b"data: [DONE]", b""])]
    return chunks


#: What each bug reads of the bytes of an answer.
CHUNKS: Mapping[str, Chunks] = {
    "events_with_returns_lost": _only_line_feeds,
    "data_without_a_space_lost": _with_a_space,
    "each_line_of_data_alone": _each_line_alone,
    "lines_split_at_separators": _split_at_separators,
    "returns_read_by_chunk": _returns_by_chunk,
    "stream_ends_at_usage": _ends_at_usage,
}

#: What each bug changes of a reply.
REPLIES: Mapping[str, Callable[[Reply], Reply]] = {
    "cached_counted_as_output": counts(
        output=lambda told: told.get("output", 0) + told.get("cached", 0),
        input=lambda told: told.get("input", 0) - told.get("cached", 0),
    ),
}

TRACKERS = listed("trackers.toml", CHANGES, REPLIES, ANSWERS, CHUNKS)
