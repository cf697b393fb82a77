"""Further bugs of clients that trackers reported in 2026, and one example for each kind of generated change that no rule saw.

`later.toml` lists them. As those of `clients.py`, those with a thread were planted before anybody looked whether a rule sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects
from ..neutral_requests import Body
from .mined import Change, arguments, each, listed, said, schemas, without
from .strangers import everywhere, later

# --- Calls and results -----------------------------------------------------------------------------------


def _result_of_the_search(body: Body) -> None:
    """Answers a search that the provider itself ran."""
    for turn in body.turns:
        for block in list(body.blocks(turn)):
            if block.get("type") == "server_tool_use" and turn is not body.turns[-1]:
                answer = {"type": "tool_result", "tool_use_id": block["id"], "content": "failed"}
                body.blocks(body.turns[-1]).insert(0, answer)


def _no_result_of_a_failure(body: Body) -> None:
    """Drops the results of tools that failed."""

    def fails(block: Json) -> bool:
        return "Atlantis" in str(block) and (
            "functionResponse" in block
            or "toolResult" in block
            or block.get("type") in {"tool_result", "function_call_output"}
            or block.get("role") == "tool"
        )

    for turn in body.turns:
        body.blocks(turn)[:] = [block for block in body.blocks(turn) if not fails(block)]
    body.turns[:] = [turn for turn in body.turns if not fails(turn) or body.blocks(turn)]
    body.turns[:] = [turn for turn in body.turns if body.blocks(turn) or turn.get("content") != []]


def _no_calls(body: Body) -> None:
    for turn in body.turns:
        turn.pop("tool_calls", None)


def _no_call_parts(body: Body) -> None:
    for turn in body.turns:
        body.blocks(turn)[:] = [part for part in body.blocks(turn) if "functionCall" not in part]
    body.turns[:] = [turn for turn in body.turns if body.blocks(turn)]


def _no_ids_of_results(body: Body) -> None:
    for turn in body.turns:
        turn.pop("tool_call_id", None)


def _only_the_last_result(body: Body) -> None:
    results = [turn for turn in body.turns if turn.get("role") == "tool"]
    body.turns[:] = [turn for turn in body.turns if turn not in results[:-1]]


def _first_call_pruned(body: Body) -> None:
    """Drops the first call and keeps its result."""
    calls = [turn for turn in body.turns if turn.get("tool_calls")]
    if len(calls) > 1:
        body.turns.remove(calls[0])


def _only_the_newest(body: Body) -> None:
    """Forgets the conversation if a message has an image."""
    if any("image" in str(found.get("type", "")) for found in objects(body.turns)):
        body.turns[:] = body.turns[-1:]


def _first_question_again(body: Body) -> None:
    """Sends the first message only."""
    body.turns[:] = body.turns[:1]


def _first_message_dropped(body: Body) -> None:
    users = [turn for turn in body.turns if turn.get("role") == "user"]
    if len(users) > 1:
        body.turns.remove(users[0])


def _ids_of_messages(body: Body) -> None:
    for turn in body.turns:
        if turn.get("type") == "function_call":
            turn["id"] = f"msg_{turn['id'][3:]}"


def _without_flag(body: Body) -> None:
    for block in objects(body.turns):
        block.pop("is_error", None)


def _pinned(body: Body) -> None:
    for block in objects(body.turns):
        if "toolResult" in block:
            block["toolResult"]["status"] = "success"


def _call_messages_apart(body: Body) -> None:
    """Sends each of several calls as a message of its own, and the results behind all of them."""
    turns = list[Json]()
    for turn in body.turns:
        calls = turn.get("tool_calls") or []
        turns += [{**turn, "tool_calls": [call]} for call in calls] if len(calls) > 1 else [turn]
    body.turns[:] = turns


def _first_of_results_removed(body: Body) -> None:
    results = [turn for turn in body.turns if turn.get("role") == "tool"]
    if len(results) > 1:
        body.turns.remove(results[0])


def _ids_of_content(body: Body) -> None:
    for turn in body.turns:
        if turn.get("role") == "assistant" and "id" in turn:
            turn["id"] = f"item_{turn['id'][4:]}"


# --- Prompts and options ---------------------------------------------------------------------------------


def _prompt_last(body: Body) -> None:
    prompts = [turn for turn in body.turns if turn.get("role") in {"system", "developer"}]
    if prompts and len(body.turns) == 1 + len(prompts):
        body.turns[:] = [turn for turn in body.turns if turn not in prompts] + prompts


def _prompt_as_message(body: Body) -> None:
    if body.body.get("system"):
        body.turns.insert(0, {"role": "system", "content": body.body.pop("system")})


def _no_prompt_messages(body: Body) -> None:
    body.body.pop("instructions", None)
    body.turns[:] = [turn for turn in body.turns if turn.get("role") not in {"system", "developer"}]


class _FirstPrompt:
    """Keeps the prompt of the first request."""

    def __init__(self) -> None:
        self.first: Any = None

    def __call__(self, body: Body) -> None:
        if body.number == 1:
            self.first = body.body.get("systemInstruction")
        elif self.first is not None:
            body.body["systemInstruction"] = self.first


def _no_parallel_calls(body: Body) -> None:
    if body.tools():
        body.body["parallel_tool_calls"] = False


class _FirstPromptMessage:
    """Does not send a prompt that the conversation did not begin with."""

    def __init__(self) -> None:
        self.first: Any = None

    def __call__(self, body: Body) -> None:
        prompts = [turn for turn in body.turns if turn.get("role") in {"system", "developer"}]
        if body.number == 1:
            self.first = prompts
        body.turns[:] = [turn for turn in body.turns if turn not in prompts or turn in self.first]


def _null_option(body: Body) -> None:
    if body.tools():
        body.body["parallel_tool_calls"] = None


def _thinks_by_budget(body: Body) -> None:
    if body.body.get("thinking"):
        body.body["thinking"] = {"type": "enabled", "budget_tokens": 1024}


# --- Tools -----------------------------------------------------------------------------------------------


def _required_is_null(schema: Any) -> Any:
    return {**schema, "required": None} if schema.get("required") == [] else schema


def _anything(schema: Any) -> Any:
    """Lets an optional parameter be nearly anything."""
    kinds = ["string", "number", "boolean", "null"]
    optional = "null" in (schema.get("type") or ())
    return {**schema, "type": kinds} if optional and isinstance(schema["type"], list) else schema


def _nested_tools(body: Body) -> None:
    for tool in body.body.get("tools", []):
        if tool.get("type") == "function" and "name" in tool:
            inner = {key: tool.pop(key) for key in list(tool) if key != "type"}
            tool["function"] = inner


def _integers_are_numbers(schema: Json) -> Json:
    kind = schema.get("type")
    return {**schema, "type": "number"} if kind == "integer" else schema


# --- Thoughts --------------------------------------------------------------------------------------------


def _thoughts(do: Callable[[Json], object]) -> Change:
    """Returns a change of each block of thinking."""

    def change(body: Body) -> None:
        for turn in body.turns:
            for block in body.blocks(turn):
                if block.get("type") == "thinking":
                    do(block)

    return change


def _texts_first(body: Body) -> None:
    for turn in body.turns:
        if turn.get("role") == "assistant":
            body.blocks(turn).sort(key=lambda block: block.get("type") != "text")


def _in_fragments(body: Body) -> None:
    """Sends a thought as one block for each piece, of which the last has the signature."""
    for turn in body.turns:
        blocks = body.blocks(turn)
        for block in [found for found in blocks if found.get("type") == "thinking"]:
            blocks.insert(blocks.index(block), {"type": "thinking", "thinking": "The", "signature": ""})


def _no_call_signatures(body: Body) -> None:
    for part in objects(body.turns):
        if "functionCall" in part:
            part.pop("thoughtSignature", None)


def _no_thought_deltas(events: Any) -> None:
    for event in objects(list(events)):
        if event.get("type") in {"thinking_delta", "signature_delta"}:
            for key in ("thinking", "signature"):
                if key in event:
                    event[key] = ""


def _no_signature_deltas(events: Any) -> None:
    for event in objects(list(events)):
        if event.get("type") == "signature_delta":
            event["signature"] = ""


# --- Generated changes -----------------------------------------------------------------------------------


def _loses_alternatives(schema: Json) -> Json:
    """Drops the values of alternatives."""
    kept = [{k: v for k, v in each.items() if k != "enum"} for each in schema.get("anyOf", ())]
    return {**schema, "anyOf": kept} if kept else schema


def _definitions_bare(schema: Any) -> Any:
    """Drops descriptions from the definitions that a schema refers to."""
    told = {name: without("description")(inner) for name, inner in schema.get("$defs", {}).items()}
    return {**schema, "$defs": told} if told else schema


def _lists_of_types_in_capitals(schema: Json) -> Json:
    kinds = schema.get("type")
    return {**schema, "type": [kind.upper() for kind in kinds]} if isinstance(kinds, list) else schema


def _no_null_among_values(schema: Json) -> Json:
    values = schema.get("enum")
    return {**schema, "enum": [each for each in values if each is not None]} if values else schema


def _counts_as_text(schema: Json) -> Json:
    return {key: str(value) if key in {"minItems", "maxLength"} else value for key, value in schema.items()}


def _described_in_a_list(schema: Json) -> Json:
    told = schema.get("description")
    return {**schema, "description": [told]} if isinstance(told, str) else schema


def _value_without_a_property(body: Body) -> None:
    """Drops the last property of the value that is asked for, and not its required name."""
    for found in objects(
        [body.body.get("response_format"), body.body.get("output_config"), body.body.get("text")]
    ):
        if isinstance(found.get("properties"), dict):
            found["properties"].popitem()
            return


def _in_fields(change: Callable[[str], str], *names: str) -> Change:
    """Returns a change of each text in some fields."""

    def changed(body: Body) -> None:
        for found in objects(body.body):
            for name in names:
                if isinstance(found.get(name), str):
                    found[name] = change(found[name])

    return changed


def _ids_of_thoughts_swapped(body: Body) -> None:
    thoughts = [turn for turn in body.turns if turn.get("type") == "reasoning"]
    if len(thoughts) > 1:
        ids = [turn["id"] for turn in thoughts]
        for turn, id in zip(thoughts, [*ids[1:], ids[0]], strict=True):
            turn["id"] = id


def _unknown_tools_are_fine(body: Body) -> None:
    for result in body.results():
        result.text.value = "[]"


def _nobodys_role(body: Body) -> None:
    for turn in body.turns:
        if turn.get("role") == "user":
            turn["role"] = "human"


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "results_of_the_providers_searches": _result_of_the_search,
    "failed_tools_without_result": _no_result_of_a_failure,
    "calls_lost_and_results_kept": _no_calls,
    "results_without_ids_of_calls": _no_ids_of_results,
    "signatures_lost_at_vertex": _no_call_signatures,
    "last_result_only": _only_the_last_result,
    "null_for_parallel_calls": _null_option,
    "null_for_no_required_names": schemas(_required_is_null),
    "history_lost_for_an_image": _only_the_newest,
    "prompt_behind_the_question": _prompt_last,
    "first_prompt_forever": _FirstPrompt(),
    "turn_lost_between_steps": later(_first_question_again),
    "failures_without_flag": _without_flag,
    "failures_pinned_as_success": _pinned,
    "texts_before_thoughts": _texts_first,
    "thinking_by_budget": _thinks_by_budget,
    "thinking_without_its_field": _thoughts(lambda block: block.pop("thinking", None)),
    "thoughts_in_fragments": _in_fragments,
    "first_message_lost": later(_first_message_dropped),
    "first_call_pruned": _first_call_pruned,
    "optional_is_anything": schemas(everywhere(_anything)),
    "arguments_saved_as_nothing": later(arguments(lambda given: {})),
    "integers_as_numbers": schemas(everywhere(_integers_are_numbers)),
    "prompt_as_a_message": _prompt_as_message,
    "developers_lost": _no_prompt_messages,
    "call_parts_lost": _no_call_parts,
    "tools_nested": _nested_tools,
    "ids_of_messages_on_calls": _ids_of_messages,
    "calls_in_messages_apart": _call_messages_apart,
    "first_of_results_removed": _first_of_results_removed,
    "ids_of_content_on_messages": _ids_of_content,
    "parallel_calls_off": _no_parallel_calls,
    "late_prompts_lost": _FirstPromptMessage(),
    "values_of_alternatives_lost": schemas(everywhere(_loses_alternatives)),
    "definitions_without_descriptions": schemas(_definitions_bare),
    "lists_of_types_in_capitals": schemas(everywhere(_lists_of_types_in_capitals)),
    "no_null_among_values": schemas(everywhere(_no_null_among_values)),
    "counts_of_schemas_as_text": schemas(everywhere(_counts_as_text)),
    "descriptions_in_lists": schemas(everywhere(_described_in_a_list)),
    "value_without_a_property": _value_without_a_property,
    "ids_of_files_changed": _in_fields(str.swapcase, "file_id", "fileUri"),
    "ids_of_thoughts_swapped": _ids_of_thoughts_swapped,
    "cited_texts_cut": _in_fields(lambda text: text[:-2], "cited_text"),
    "queries_changed": _in_fields(str.upper, "query"),
    "white_space_lost_later": later(each(said("user"), lambda text: " ".join(text.split()))),
    "unknown_tools_without_error": _unknown_tools_are_fine,
    "no_model_named": lambda body: body.body.update(model=""),
    "role_that_nobody_has": _nobodys_role,
}

#: What each bug changes of an answer before the client reads it.
ANSWERS: Mapping[str, Rewrite] = {
    "deltas_of_thoughts_unread": _no_thought_deltas,
    "deltas_of_signatures_unread": _no_signature_deltas,
}

#: What each bug changes of a reply.
REPLIES: Mapping[str, Callable[[Reply], Reply]] = {
    "cut_calls_are_nothing": lambda reply: replace(reply, text="", stop=None, error=None, complete=True),
    "reasons_lost_in_streams": lambda reply: replace(reply, stop=None),
    "refusals_cut": lambda reply: replace(reply, text=reply.text[3:]),
}

LATER = listed("later.toml", CHANGES, REPLIES, ANSWERS)
