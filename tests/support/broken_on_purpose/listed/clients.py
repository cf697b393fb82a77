"""Bugs of clients that trackers reported in 2026, each on the wire formats that its thread is about. `clients.toml` lists them.

As those of `trackers.py`, they were planted before anybody looked whether a rule sees them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects
from ..base import is_result
from ..neutral_requests import Body
from .mined import Change, Chunks, ids, listed, marks, schemas, without
from .strangers import counts, everywhere

# --- What the model said ---------------------------------------------------------------------------------


def _without_fields(*names: str) -> Change:
    """Returns a change that drops fields of the model's turns."""

    def change(body: Body) -> None:
        for found in objects([turn for turn in body.turns if turn.get("role") != "user"]):
            for name in names:
                found.pop(name, None)

    return change


def _without_blocks(drop: Callable[[Json], object]) -> Change:
    """Returns a change that drops some blocks of messages."""

    def change(body: Body) -> None:
        for turn in body.turns:
            blocks = body.blocks(turn)
            blocks[:] = [block for block in blocks if not drop(block)]

    return change


def _on_reasoning(do: Callable[[Json], object]) -> Change:
    """Returns a change of each reasoning item of Responses."""

    def change(body: Body) -> None:
        for turn in body.turns:
            if turn.get("type") == "reasoning":
                do(turn)

    return change


def _no_reasoning_items(body: Body) -> None:
    body.turns[:] = [turn for turn in body.turns if turn.get("type") != "reasoning"]


def _calls_before_thoughts(body: Body) -> None:
    for turn in body.turns:
        body.blocks(turn).sort(key=lambda block: block.get("type") != "tool_use")


def _sentinels(body: Body) -> None:
    """Puts the sentinel for foreign calls on each call that has no signature."""
    for part in objects(body.turns):
        if "functionCall" in part:
            part.setdefault("thoughtSignature", "skip_thought_signature_validator")


def _fragments_as_blocks(body: Body) -> None:
    for turn in body.turns:
        if any(block.get("type") == "tool_use" for block in body.blocks(turn)):
            body.blocks(turn).append({"type": "input_json_delta", "partial_json": "{}"})


def _empty_text_before_calls(body: Body) -> None:
    for turn in body.turns:
        if any("toolUse" in block for block in body.blocks(turn)):
            body.blocks(turn).insert(0, {"text": ""})


# --- Results ---------------------------------------------------------------------------------------------


def _results_apart(body: Body) -> None:
    """Sends each result of parallel calls in a turn of its own."""
    turns = list[Json]()
    for turn in body.turns:
        parts = body.blocks(turn)
        if sum("functionResponse" in part for part in parts) > 1:
            turns += [{**turn, "parts": [part]} for part in parts]
        else:
            turns.append(turn)
    body.turns[:] = turns


def _calls_apart(body: Body) -> None:
    """Sends parallel calls as if they had been made one after the other."""
    turns, waiting = list[Json](), list[Json]()
    for turn in body.turns:
        parts = body.blocks(turn)
        if sum("functionCall" in part for part in parts) > 1:
            waiting = parts
        elif waiting and all("functionResponse" in part for part in parts):
            for call, result in zip(waiting, parts, strict=True):
                turns += [{"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}]
            waiting = []
        else:
            turns.append(turn)
    body.turns[:] = turns


def _blank_line_after_results(body: Body) -> None:
    blocks = body.blocks(body.turns[-1])
    if blocks and "toolResult" in blocks[-1]:
        blocks.append({"text": "\n"})


def _moved_images(how: Callable[[Json], list[Json]]) -> Change:
    """Returns a change of the images of results, which stand behind the results."""

    def change(body: Body) -> None:
        for turn in body.turns if body.results() else ():
            parts = body.blocks(turn)
            parts[:] = [
                part for old in parts for part in (how(old) if old["type"] == "input_image" else [old])
            ]

    return change


def _image_as_text(part: Json) -> list[Json]:
    return [{"type": "input_text", "text": part["image_url"].partition(",")[2]}]


def _bridge(body: Body) -> None:
    """Puts an empty answer between a result and what the user says."""
    for at in range(len(body.turns) - 1, 0, -1):
        if body.turns[at].get("role") == "user" and body.turns[at - 1].get("role") == "tool":
            body.turns.insert(at, {"role": "assistant", "content": ""})


# --- Marks, tools and options ----------------------------------------------------------------------------


def _fifth_mark(body: Body) -> None:
    """Marks the last five messages for the cache."""
    for turn in body.turns[-5:] if len(body.turns) > 5 else ():
        if isinstance(turn["content"], str):
            turn["content"] = [{"type": "text", "text": turn["content"]}]
        turn["content"][-1]["cache_control"] = {"type": "ephemeral"}


def _as_parameters(how: Callable[[Any], Any]) -> Change:
    """Returns a change that sends schemas in the older field of Gemini, which takes a part of OpenAPI."""

    def change(body: Body) -> None:
        for tool in body.tools():
            schema = tool.pop("parametersJsonSchema", None) or tool.get("parameters")
            if schema:
                tool["parameters"] = how(schema)

    return change


def _type_lists(schema: Json) -> Json:
    """Makes each text nullable with a list of types."""
    told = schema.get("type")
    return (
        {**schema, "type": [told.lower(), "null"]}
        if isinstance(told, str) and told.lower() == "string"
        else schema
    )


def _closed(schema: Json) -> Json:
    return {**schema, "additionalProperties": False} if "properties" in schema else schema


def _typeless_choice(body: Body) -> None:
    if body.tools():
        fields = body.body.setdefault("additionalModelRequestFields", {})
        fields["tool_choice"] = {"disable_parallel_tool_use": True}


def _two_choices(body: Body) -> None:
    if body.tools():
        body.body["toolConfig"]["toolChoice"] = {"auto": {}}
        fields = body.body.setdefault("additionalModelRequestFields", {})
        fields["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": False}


def _parallel_allowed(body: Body) -> None:
    choice = body.body.get("tool_choice")
    if isinstance(choice, dict):
        choice.pop("disable_parallel_tool_use", None)


def _each_result_apart(key: str) -> Change:
    """Returns a change that sends each result of a message in a message of its own."""

    def change(body: Body) -> None:
        turns = list[Json]()
        for turn in body.turns:
            blocks = body.blocks(turn)
            several = sum(is_result(block) or key in block for block in blocks) > 1
            turns += [{**turn, "content": [block]} for block in blocks] if several else [turn]
        body.turns[:] = turns

    return change


def _ids_for_names(body: Body) -> None:
    for turn in body.turns:
        if turn.get("role") == "tool":
            name = "tool_name" if body.wire == "ollama" else "name"
            turn[name] = turn["tool_call_id"]


def _last_result_for_all(body: Body) -> None:
    """Keeps results by the name of their tool, so that a later one replaces an earlier one."""
    by_name = {turn.get("tool_name"): turn["content"] for turn in body.turns if turn.get("role") == "tool"}
    for turn in body.turns:
        if turn.get("role") == "tool":
            turn["content"] = by_name[turn.get("tool_name")]


def _ids_of_items(body: Body) -> None:
    """Answers each call under the id of its item."""
    ids = {turn["call_id"]: turn["id"] for turn in body.turns if turn.get("type") == "function_call"}
    for turn in body.turns:
        if turn.get("type") == "function_call_output":
            turn["call_id"] = ids[turn["call_id"]]


def _outputs_twice(body: Body) -> None:
    body.turns[:] = [
        again for turn in body.turns for again in [turn] * (1 + (turn.get("type") == "function_call_output"))
    ]


def _responses(how: Callable[[Json], Any]) -> Change:
    """Returns a change of what Gemini's functions returned."""

    def change(body: Body) -> None:
        for part in objects(body.turns):
            if isinstance(part.get("functionResponse"), dict):
                part["functionResponse"]["response"] = how(part["functionResponse"]["response"])

    return change


def _of_anthropic(id: str) -> str:
    return f"toolu_01VpEm654HvfMo{id}" if len(id) == 9 else id


def _answers_as_input(body: Body) -> None:
    for part in objects(body.turns):
        if part.get("type") == "output_text":
            part["type"] = "input_text"


def _limit_lost(body: Body) -> None:
    body.body.pop("max_tokens", None)


def _context_beside_messages(body: Body) -> None:
    body.body["options"] = {"num_ctx": 32768}


def _choice_without_tools(body: Body) -> None:
    if not body.tools():
        fields = body.body.setdefault("additionalModelRequestFields", {})
        fields["tool_choice"] = {"disable_parallel_tool_use": True}


def _lists_of_items(schema: Json) -> Json:
    return {**schema, "items": [schema["items"]]} if isinstance(schema.get("items"), dict) else schema


def _items_in_front(schema: Json) -> Json:
    return {**schema, "prefixItems": [schema["items"]]} if isinstance(schema.get("items"), dict) else schema


def _results_lost(lost: Callable[[int, int], bool]) -> Change:
    """Returns a change that drops results of parallel calls by their place and number."""

    def change(body: Body) -> None:
        for turn in body.turns:
            blocks = body.blocks(turn)
            found = [block for block in blocks if "toolResult" in block or "functionResponse" in block]
            for at, block in enumerate(found):
                if lost(at, len(found)):
                    blocks.remove(block)

    return change


def _only_the_first_result(body: Body) -> None:
    """Drops each result that does not stand right behind a call."""
    turns = [turn.get("role") for turn in body.turns]
    body.turns[:] = [
        turn for at, turn in enumerate(body.turns) if not turns[at - 1] == turns[at] == "tool" or not at
    ]


def _signatures_in_calls(body: Body) -> None:
    for part in objects(body.turns):
        if "functionCall" in part and "thoughtSignature" in part:
            part["functionCall"]["thought_signature"] = part.pop("thoughtSignature")


def _without_their_calls(body: Body) -> None:
    body.turns[:] = [turn for turn in body.turns if not turn.get("tool_calls")]


def _strict_format(how: Callable[[Any], Any]) -> Change:
    """Returns a change of the schema of an answer, which is strict."""

    def change(body: Body) -> None:
        told = body.body.get("response_format") or (body.body.get("text") or {}).get("format") or {}
        held = told.get("json_schema") or told
        if "schema" in held:
            held.update(schema=how(held["schema"]), strict=True)

    return change


def _one_not_required(schema: Json) -> Json:
    needed = schema.get("required")
    return {**schema, "required": needed[:-1]} if isinstance(needed, list) and len(needed) > 1 else schema


def _made_up(id: str) -> str:
    return hashlib.sha256(id.encode()).hexdigest()[:9]


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "results_apart": _results_apart,
    "calls_apart": _calls_apart,
    "blank_line_after_results": _blank_line_after_results,
    "thinking_not_sent_back": _without_fields("thinking"),
    "images_behind_results_lost": _moved_images(lambda part: []),
    "images_behind_results_as_text": _moved_images(_image_as_text),
    "fifth_cache_mark": _fifth_mark,
    "empty_bridge": _bridge,
    "encrypted_reasoning_lost": _without_fields("encrypted_content"),
    "reasoning_without_summary": _on_reasoning(lambda item: item.pop("summary", None)),
    "summaries_made_up": _on_reasoning(
        lambda item: item.update(summary=[{"type": "summary_text", "text": "It is about the question."}])
    ),
    "messages_without_their_reasoning": _no_reasoning_items,
    "fragments_as_blocks": _fragments_as_blocks,
    "type_lists_for_gemini": _as_parameters(everywhere(_type_lists)),
    "closed_objects_for_gemini": _as_parameters(everywhere(_closed)),
    "choice_without_a_type": _typeless_choice,
    "two_tool_choices": _two_choices,
    "one_call_at_a_time_ignored": _parallel_allowed,
    "sentinels_on_own_calls": _sentinels,
    "empty_thinking_dropped": _without_blocks(
        lambda block: block.get("type") == "thinking" and not block.get("thinking")
    ),
    "redacted_thinking_dropped": _without_blocks(lambda block: block.get("type") == "redacted_thinking"),
    "calls_before_thinking": _calls_before_thoughts,
    "constants_lost": schemas(without("const")),
    "empty_text_before_calls": _empty_text_before_calls,
    "results_in_messages_of_their_own": _each_result_apart("toolResult"),
    "results_in_turns_of_the_user": _each_result_apart("tool_result"),
    "results_named_by_ids": _ids_for_names,
    "tools_named_by_ids": _ids_for_names,
    "later_result_for_each_name": _last_result_for_all,
    "results_under_ids_of_items": _ids_of_items,
    "outputs_sent_twice": _outputs_twice,
    "responses_are_lists": _responses(lambda response: [response]),
    "responses_are_texts": _responses(lambda response: str(next(iter(response.values())))),
    "ids_of_another_provider": ids(_of_anthropic),
    "answers_as_input": _answers_as_input,
    "limit_of_cohere_lost": _limit_lost,
    "options_of_ollama_everywhere": _context_beside_messages,
    "choice_where_no_tools_are": _choice_without_tools,
    "references_dropped": schemas(without("$ref", "$defs")),
    "items_in_a_list": _as_parameters(everywhere(_lists_of_items)),
    "items_of_a_newer_draft": _as_parameters(everywhere(_items_in_front)),
    "later_results_of_bedrock_lost": _results_lost(lambda at, number: at > 0),
    "last_response_of_several_lost": _results_lost(lambda at, number: number > 1 and at == number - 1),
    "later_results_lost": _only_the_first_result,
    "failures_are_successes": marks(failed=False),
    "signatures_in_calls": _signatures_in_calls,
    "ids_with_a_prefix": ids(lambda id: f"call_{id}"),
    "ids_made_anew": ids(_made_up),
    "results_whose_calls_are_lost": _without_their_calls,
    "strict_with_optional_fields": _strict_format(everywhere(_one_not_required)),
    "strict_with_open_objects": _strict_format(without("additionalProperties")),
    "sentinels_at_vertex": _sentinels,
}

# --- Answers, before the client reads them ---------------------------------------------------------------


def _calls_of_chunks(events: Sequence[Json]) -> list[Json]:
    return [call for event in events for call in objects(event) if "function" in call and "index" in call]


def _only_the_last_call(events: Sequence[Json]) -> None:
    """Reads one call of an answer: the last one."""
    last = max((call["index"] for call in _calls_of_chunks(events)), default=0)
    for found in objects(list(events)):
        if found.get("tool_calls"):
            found["tool_calls"] = [
                {**call, "index": 0} for call in found["tool_calls"] if call["index"] == last
            ]
    parts = [found for found in objects(list(events)) if "functionCall" in found]
    for part in parts[:-1]:
        part.pop("functionCall")
        part.update({"text": ""})


def _one_call_of_several(events: Sequence[Json]) -> None:
    """Adds later calls to the first one, whose arguments are then no JSON, and therefore empty."""
    if len({call["index"] for call in _calls_of_chunks(events)}) < 2:
        return
    for call in _calls_of_chunks(events):
        call["function"]["arguments"] = "{}" if call["function"].get("name") and not call["index"] else ""
    for found in objects(list(events)):
        if found.get("tool_calls"):
            found["tool_calls"] = [call for call in found["tool_calls"] if not call["index"]]


def _lists_not_read(events: Sequence[Json]) -> None:
    """Reads only content that is a string."""
    for event in events:
        for choice in event.get("choices") or ():
            held = choice.get("delta") or choice.get("message") or {}
            if isinstance(held.get("content"), list):
                held["content"] = ""


def _output_of_start_added(events: Sequence[Json]) -> None:
    started = next((e["message"]["usage"]["output_tokens"] for e in events if "message" in e), 0)
    for event in events:
        if event.get("type") == "message_delta":
            event["usage"]["output_tokens"] += started


def _calls_not_read(events: Sequence[Json]) -> None:
    for event in events:
        if isinstance(event.get("output"), list):
            event["output"] = [item for item in event["output"] if item.get("type") != "function_call"]


def _finish(how: Callable[[str], str]) -> Rewrite:
    def change(events: Sequence[Json]) -> None:
        for found in objects(list(events)):
            if found.get("finishReason"):
                found["finishReason"] = how(found["finishReason"])

    return change


def _only_calls(events: Sequence[Json]) -> None:
    """Drops the text of an answer that has a call."""
    if any("functionCall" in found for found in objects(list(events))):
        for part in objects(list(events)):
            if isinstance(part.get("text"), str) and not part.get("thought"):
                part["text"] = ""


def _each_fragment_alone(events: Sequence[Json]) -> None:
    """Reads each fragment of arguments as JSON of its own."""
    for found in objects(list(events)):
        if found.get("type") == "input_json_delta" and not _is_json(found["partial_json"]):
            found["partial_json"] = ""


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _only_with_an_id(events: Sequence[Json]) -> None:
    for call in _calls_of_chunks(events):
        if not call.get("id"):
            call["function"]["arguments"] = ""


def _completed(events: Sequence[Json]) -> None:
    """Takes an answer that stopped at the limit for a complete one."""
    for event in events:
        if event.get("type") == "response.incomplete":
            event["type"] = "response.completed"
            event["response"].update(status="completed", incomplete_details=None)


def _text_beside_a_list_of_calls_lost(events: Sequence[Json]) -> None:
    """Takes each chunk that has a list of calls, be it empty, for a part of a call."""
    for event in events:
        for choice in event.get("choices") or ():
            if "tool_calls" in (choice.get("delta") or {}):
                choice["delta"].pop("content", None)


def _no_calls_at_the_end(events: Sequence[Json]) -> None:
    for event in events:
        if event.get("done") is True:
            (event.get("message") or {}).pop("tool_calls", None)


def _only_calls_with_ids(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if found.get("type") == "function_call" and not found.get("id"):
            found["type"] = "ignored"


def _counts_of_chunks_added(events: Sequence[Json]) -> None:
    told = [event["usage"] for event in events if isinstance(event.get("usage"), dict)]
    if len(told) > 1:
        for name in ("prompt_tokens", "completion_tokens"):
            told[-1][name] = sum(usage[name] for usage in told)


def _limit_is_the_end(key: str) -> Rewrite:
    """Returns a change that takes the limit for the end of an answer."""

    def change(events: Sequence[Json]) -> None:
        for found in objects(list(events)):
            if found.get(key) == "length":
                found[key] = "stop"

    return change


def _completed_without_counts(events: Sequence[Json]) -> None:
    for event in events:
        if event.get("type") == "response.incomplete":
            event["response"]["usage"] = None
    _completed(events)


def _text_of_the_last_chunk_lost(events: Sequence[Json]) -> None:
    """Takes nothing from a chunk that has a reason."""
    for event in events:
        for choice in event.get("choices") or ():
            if choice.get("finish_reason"):
                (choice.get("delta") or {}).pop("content", None)


#: What each bug changes of an answer.
ANSWERS: Mapping[str, Rewrite] = {
    "only_the_last_call": _only_the_last_call,
    "several_calls_are_one": _one_call_of_several,
    "lists_of_content_not_read": _lists_not_read,
    "output_of_the_start_added": _output_of_start_added,
    "calls_of_whole_answers_lost": _calls_not_read,
    "limit_is_something_else": _finish(lambda reason: "OTHER" if reason == "MAX_TOKENS" else reason),
    "limit_is_the_end": _finish(lambda reason: "STOP" if reason == "MAX_TOKENS" else reason),
    "text_beside_calls_lost": _only_calls,
    "each_fragment_alone": _each_fragment_alone,
    "pieces_without_an_id_skipped": _only_with_an_id,
    "incomplete_is_completed": _completed,
    "text_beside_a_list_of_calls_lost": _text_beside_a_list_of_calls_lost,
    "calls_at_the_end_lost": _no_calls_at_the_end,
    "calls_without_item_ids_lost": _only_calls_with_ids,
    "counts_of_chunks_added": _counts_of_chunks_added,
    "limit_of_chat_is_the_end": _limit_is_the_end("finish_reason"),
    "limit_of_ollama_is_the_end": _limit_is_the_end("done_reason"),
    "completed_without_counts": _completed_without_counts,
    "text_of_the_last_chunk_lost": _text_of_the_last_chunk_lost,
}

# --- Bytes of streams ------------------------------------------------------------------------------------


def _stop_made_up(chunks: list[bytes]) -> list[bytes]:
    """Ends a stream that stopped early as if the model had ended it."""
    body = b"".join(chunks)
    if b"message_stop" in body or body[:1] == b"{":
        return chunks
    delta = {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 1},
    }
    ends = [b"data: " + json.dumps(event).encode() for event in (delta, {"type": "message_stop"})]
    return [body.rstrip() + b"\n\n", *(end + b"\n\n" for end in ends)]


def _finish_made_up(chunks: list[bytes]) -> list[bytes]:
    """Ends a stream of Chat Completions that stopped early as if the model had ended it."""
    body = b"".join(chunks)
    if b"[DONE]" in body or body[:1] == b"{":
        return chunks
    end = {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
    }
    return [body.rstrip() + b"\n\ndata: " + json.dumps(end).encode() + b"\n\ndata: [DONE]\n\n"]


def _lines_within_chunks(chunks: list[bytes]) -> list[bytes]:
    """Reads only lines that are whole in one chunk."""
    kept = list[bytes]()
    for chunk in chunks:
        for line in chunk.splitlines(keepends=True):
            whole = not line.startswith(b"data:") or _is_json(line[5:].decode("utf-8", "replace"))
            kept.append(line if whole or b"[DONE]" in line else b"")
    return kept


def _counts_needed(chunks: list[bytes]) -> list[bytes]:
    """Reads counts that blocked answers do not have."""
    body = b"".join(chunks)
    if b'"SAFETY"' in body and b"candidatesTokenCount" not in body:
        raise TypeError("unsupported operand type(s) for -: 'int' and 'NoneType'")
    return chunks


def _lines_of_json_within_chunks(chunks: list[bytes]) -> list[bytes]:
    """Reads only lines of JSON that are whole in one chunk."""
    lines = [line for chunk in chunks for line in chunk.splitlines()]
    return [line + b"\n" for line in lines if _is_json(line.decode("utf-8", "replace"))]


def _one_value(chunks: list[bytes]) -> list[bytes]:
    """Reads the whole body as one value."""
    json.loads(b"".join(chunks))
    return chunks


def _error_is_an_end(chunks: list[bytes]) -> list[bytes]:
    """Skips an event that it does not know, and takes the end of the stream for the end of the answer."""
    body = b"".join(chunks)
    if b'"error"' not in body or body[:1] == b"{":
        return chunks
    kept = [
        event
        for event in body.split(b"\n\n")
        if not event or (b'"error"' not in event and b"[DONE]" not in event)
    ]
    return (_finish_made_up if b"chat.completion.chunk" in body else _stop_made_up)([b"\n\n".join(kept)])


#: What each bug reads of the bytes of an answer.
CHUNKS: Mapping[str, Chunks] = {
    "stop_made_up": _stop_made_up,
    "finish_made_up": _finish_made_up,
    "lines_within_chunks": _lines_within_chunks,
    "counts_needed_of_blocked_answers": _counts_needed,
    "lines_of_json_within_chunks": _lines_of_json_within_chunks,
    "streams_read_as_one_value": _one_value,
    "errors_of_chunks_are_ends": _error_is_an_end,
    "errors_of_events_are_ends": _error_is_an_end,
}

#: What each bug changes of a reply.
REPLIES: Mapping[str, Callable[[Reply], Reply]] = {
    "streams_without_reason": lambda reply: replace(reply, stop=None, complete=True, error=None),
    "cached_input_not_reported": counts(cached=lambda told: 0),
    "cached_input_of_mistral_not_reported": counts(cached=lambda told: 0),
    "input_of_start_and_end_added": counts(input=lambda told: 2 * told["input"]),
    "cached_input_lost_in_streams": counts(cached=lambda told: 0),
    "cached_input_subtracted": counts(input=lambda told: told["input"] - 2 * told.get("cached", 0)),
    "answers_without_reason": lambda reply: replace(reply, stop=None, complete=True),
    "no_counts_of_ollama": lambda reply: replace(reply, usage=dict.fromkeys(reply.usage)),
}

CLIENTS = listed("clients.toml", CHANGES, REPLIES, ANSWERS, CHUNKS)
