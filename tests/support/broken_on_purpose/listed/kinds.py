"""Bugs that trackers reported in 2026, and of which no earlier list had the kind: signatures of texts, forbidden calls, calls in a stream
without a number or in one line, refusals of Responses, documents that are sent as something else, counts of a provider's own tools.
`tables/kinds.toml` lists them.

They were planted before anybody looked whether a rule sees them. As those of `mined.py`, each is one change of a request or of an answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.contract.readers.json_access import items_of, object_of
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects
from ..neutral_requests import Body
from .mined import Change, listed

# --- Signatures and thoughts -----------------------------------------------------------------------------


def _parts_of_model(body: Body) -> Iterator[list[Json]]:
    yield from (body.blocks(turn) for turn in body.turns if turn.get("role") == "model")


def _unsigned_texts(body: Body) -> None:
    for part in (part for parts in _parts_of_model(body) for part in parts):
        if "text" in part and not part.get("thought"):
            part.pop("thoughtSignature", None)


def _signed_text_joined(body: Body) -> None:
    """Joins a signed text with the text before it."""
    for parts in _parts_of_model(body):
        texts = [part for part in parts if "text" in part and not part.get("thought")]
        if len(texts) > 1 and texts[-1].get("thoughtSignature"):
            texts[-1]["text"] = texts[-2]["text"] + texts[-1]["text"]
            parts.remove(texts[-2])


def _unsigned_earlier_turns(body: Body) -> None:
    asked = [
        at for at, turn in enumerate(body.turns) if turn["role"] == "user" and "text" in turn["parts"][0]
    ]
    for turn in body.turns[: asked[-1]]:
        for part in body.blocks(turn):
            part.pop("thoughtSignature", None)


def _signed_questions(body: Body) -> None:
    signatures = [each["thoughtSignature"] for each in objects(body.turns) if "thoughtSignature" in each]
    for turn in body.turns if signatures else ():
        for part in body.blocks(turn) if turn.get("role") == "user" else ():
            if "text" in part:
                part["thoughtSignature"] = signatures[0]


def _thought_before_every_answer(body: Body) -> None:
    thoughts = [turn["reasoning_content"] for turn in body.turns if turn.get("reasoning_content")]
    for turn in body.turns if thoughts else ():
        if turn.get("role") == "assistant" and not turn.get("reasoning_content"):
            turn["reasoning_content"] = thoughts[-1]


def _stripped_thoughts(body: Body) -> None:
    for turn in body.turns:
        if turn.get("thinking"):
            turn["thinking"] = turn["thinking"].rstrip(" .")


def _thoughts_as_text(body: Body) -> None:
    for each in objects(body.turns):
        if isinstance(each.get("thinking"), list):
            each["thinking"] = "".join(part["text"] for part in each["thinking"])


def _temperature_while_thinking(body: Body) -> None:
    asked = body.body.get("thinking") or object_of(body.body.get("additionalModelRequestFields")).get(
        "thinking"
    )
    if asked:
        body.options()["temperature"] = 0.5


# --- Tools and calls -------------------------------------------------------------------------------------


def _choices_of_none(body: Body) -> Iterator[tuple[Json, str]]:
    """Yields where a request forbids calls."""
    for key in ("tool_choice", "toolConfig"):
        choice = body.body.get(key)
        kind = choice if isinstance(choice, str) else json.dumps(choice)
        if kind.lower() == "none" or any(f'"{word}"' in kind for word in ("none", "NONE")):
            yield body.body, key


def _forbidden_allowed(body: Body) -> None:
    for holder, key in list(_choices_of_none(body)):
        del holder[key]


def _none_with_parallel_off(body: Body) -> None:
    for holder, key in _choices_of_none(body):
        holder[key]["disable_parallel_tool_use"] = True


def _required_is_forbidden(body: Body) -> None:
    for each in objects(body.body.get("toolConfig")):
        if each.get("mode") == "ANY":
            each["mode"] = "NONE"


def _properties_beside_forms(body: Body) -> None:
    for each in [form for slot in body.schemas() for form in objects(slot.value)]:
        if isinstance(each.get("anyOf"), list):
            each |= {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def _no_tools_listed(body: Body) -> None:
    if not body.tools():
        empty: Json = {"toolConfig": {"tools": []}} if body.wire == "bedrock" else {"tools": []}
        body.body |= empty


def _no_calls_listed(body: Body) -> None:
    for turn in body.turns:
        if turn.get("role") == "assistant":
            turn.setdefault("tool_calls", [])


def _call_again_without_id(body: Body) -> None:
    for blocks in map(body.blocks, body.turns):
        blocks += [{**each, "id": ""} for each in blocks if each.get("type") == "tool_use"]


def _results_as_values(body: Body) -> None:
    for content in (each.get("content") for each in objects(body.turns) if "toolUseId" in each):
        for block in items_of(content):
            if str(block.get("text")).startswith(("[", "0")):
                block["json"] = json.loads(block.pop("text"))


def _calls_beside_plans_lost(body: Body) -> None:
    lost = []
    for turn in body.turns:
        if turn.get("tool_plan"):
            lost += [call["id"] for call in turn.pop("tool_calls")]
            turn["content"] = turn.pop("tool_plan")
    body.turns[:] = [turn for turn in body.turns if turn.get("tool_call_id") not in lost]


# --- Documents and fields --------------------------------------------------------------------------------


def _documents(how: Callable[[Json], object]) -> Change:
    """Returns a change of the documents of Bedrock."""

    def change(body: Body) -> None:
        for each in objects(body.turns):
            if isinstance(each.get("document"), dict):
                how(each["document"])

    return change


def _documents_as_images(body: Body) -> None:
    for blocks in map(body.blocks, body.turns):
        blocks[:] = [_as_image(each) for each in blocks]


def _as_image(block: Json) -> Json:
    if block.get("type") == "file":
        return {"type": "image_url", "image_url": {"url": block["file"]["file_data"]}}
    if block.get("type") == "document":
        return {"type": "image", "source": block["source"]}
    if "document" in block:
        return {"image": {name: block["document"][name] for name in ("format", "source")}}
    return block


def _citations_renamed(body: Body) -> None:
    for each in objects(body.turns):
        if each.get("citations"):
            each["annotations"] = each.pop("citations")


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "signatures_of_texts_lost": _unsigned_texts,
    "signed_text_joined": _signed_text_joined,
    "signatures_of_earlier_turns_lost": _unsigned_earlier_turns,
    "signatures_on_questions": _signed_questions,
    "thought_before_every_answer": _thought_before_every_answer,
    "thoughts_stripped": _stripped_thoughts,
    "thoughts_of_mistral_as_text": _thoughts_as_text,
    "temperature_while_thinking": _temperature_while_thinking,
    "forbidden_calls_allowed": _forbidden_allowed,
    "none_with_parallel_calls_off": _none_with_parallel_off,
    "required_is_forbidden": _required_is_forbidden,
    "properties_beside_forms": _properties_beside_forms,
    "empty_list_of_tools": _no_tools_listed,
    "empty_list_of_calls": _no_calls_listed,
    "call_again_without_an_id": _call_again_without_id,
    "results_as_json_values": _results_as_values,
    "calls_beside_plans_lost": _calls_beside_plans_lost,
    "pdf_called_text": _documents(lambda document: document.update(format="txt")),
    "documents_without_names": _documents(lambda document: document.pop("name")),
    "documents_as_images": _documents_as_images,
    "citations_under_another_name": _citations_renamed,
    "field_of_an_older_version": lambda body: body.body.update(num_generations=1),
}

# --- Answers ---------------------------------------------------------------------------------------------


def _without_refusal(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        kind = str(each.get("type"))
        if "refusal" in kind:
            each |= {name: "" for name in ("delta", "refusal") if name in each}


def _tools_as_output(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        if "candidatesTokenCount" in each:
            each["candidatesTokenCount"] += each.pop("toolUsePromptTokenCount", 0)


def _without_malformed_calls(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        if any('{"city": Oslo}' in str(call) for call in items_of(each.get("tool_calls"))):
            del each["tool_calls"]
            each["content"] = ""
        if each.get("type") == "function_call" and each.get("arguments") == '{"city": Oslo}':
            each["type"] = "unknown"


def _deltas_of_calls(events: Sequence[Json]) -> Iterator[Json]:
    for event in events:
        for choice in items_of(event.get("choices")):
            yield from items_of(object_of(object_of(choice).get("delta")).get("tool_calls"))


def _missing_index_is_zero(events: Sequence[Json]) -> None:
    """Adds pieces without an index to the first call."""
    for at, call in enumerate(call for call in _deltas_of_calls(events) if "index" not in call):
        call["index"] = 0
        if at:
            call.pop("id", None)
            call.get("function", {}).pop("name", None)


def _without_signed_ends(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        if each.get("text") == "":
            each.pop("thoughtSignature", None)


def _without_redacted(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        if isinstance(each.get("content"), list):
            each["content"] = [part for part in each["content"] if "redactedContent" not in str(part)]


def _output_of_the_start(events: Sequence[Json]) -> None:
    for event in events:
        if event.get("type") == "message_delta":
            event["usage"]["output_tokens"] = events[0]["message"]["usage"]["output_tokens"]


def _calls_of_the_end(events: Sequence[Json]) -> None:
    for event in events:
        if not event.get("done"):
            event["message"].pop("tool_calls", None)


def _calls_of_the_first_line(events: Sequence[Json]) -> None:
    for event in [event for event in events if object_of(event.get("message")).get("tool_calls")][1:]:
        del event["message"]["tool_calls"]


def _without_plans(events: Sequence[Json]) -> None:
    for event in events:
        if event.get("type") == "tool-plan-delta":
            event["delta"]["message"]["tool_plan"] = ""


def _first_content(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        if isinstance(each.get("content"), list) and len(each["content"]) > 1:
            each["content"] = [part for part in each["content"][:1] if part.get("type") == "text"]


def _without_calls_without_arguments(events: Sequence[Json]) -> None:
    calls = {e["index"] for e in events if object_of(e.get("content_block")).get("type") == "tool_use"}
    given = {e["index"] for e in events if object_of(e.get("delta")).get("partial_json")}
    for event in events:
        if event.get("index") in calls - given:
            for key in ("content_block", "delta"):
                if key in event:
                    event[key] = {"type": "text" if key == "content_block" else "text_delta", "text": ""}


def _last_text_part(events: Sequence[Json]) -> None:
    for each in objects(list(events)):
        parts = items_of(each.get("parts"))
        texts = [part for part in parts if "text" in part and not part.get("thought")]
        if len(texts) > 1:
            each["parts"] = [part for part in parts if part not in texts[:-1]]


#: What each bug changes of an answer before the client reads it.
ANSWERS: Mapping[str, Rewrite] = {
    "words_of_refusals_lost": _without_refusal,
    "tokens_of_tools_are_output": _tools_as_output,
    "malformed_calls_dropped": _without_malformed_calls,
    "missing_index_is_zero": _missing_index_is_zero,
    "signed_ends_lost": _without_signed_ends,
    "redacted_reasoning_unread": _without_redacted,
    "output_of_the_start_only": _output_of_the_start,
    "calls_of_the_end_only": _calls_of_the_end,
    "calls_of_the_first_line": _calls_of_the_first_line,
    "plans_of_streams_lost": _without_plans,
    "first_content_only": _first_content,
    "calls_without_arguments_lost": _without_calls_without_arguments,
    "last_text_part_only": _last_text_part,
}


def _blank_for_null(reply: Reply) -> Reply:
    return replace(reply, value=_blank(reply.value)) if isinstance(reply.value, dict) else reply


def _blank(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _blank(inner) for name, inner in value.items()}
    return "" if value is None else value


KINDS = listed("kinds.toml", CHANGES, {"nulls_of_values_are_blank": _blank_for_null}, ANSWERS)
