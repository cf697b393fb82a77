"""Bugs from threads of 2026 that were planted to test the suite, after the other lists were complete. `threads.toml` lists them.

As those of `mined.py`, each is one change of a request, of an answer before the client reads it, or of what a library hands over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects
from ..base import is_media, is_result
from ..neutral_requests import Body
from .mined import Change, each, ids, listed, said, schemas
from .strangers import everywhere

# --- Turns -----------------------------------------------------------------------------------------------


def _is_call(block: Json) -> bool:
    return block.get("type") == "tool_use" or "toolUse" in block or "functionCall" in block


def _holds_result(turn: Json, body: Body) -> bool:
    blocks = [turn, *body.blocks(turn)]
    return any(is_result(block) or "toolResult" in block or block.get("role") == "tool" for block in blocks)


def _text(body: Body, text: str) -> Json:
    kind = {"openai-responses": "output_text", "gemini": "", "bedrock": ""}.get(body.wire, "text")
    return {"type": kind, "text": text} if kind else {"text": text}


def _words_beside_calls(text: str) -> Change:
    """Returns a change that adds a text to each answer that has calls and nothing else."""

    def change(body: Body) -> None:
        for turn in body.turns:
            if turn.get("tool_calls"):
                turn["content"] = turn.get("content") or text
            blocks = body.blocks(turn)
            if any(map(_is_call, blocks)) and not any("text" in block for block in blocks):
                blocks.insert(0, _text(body, text))

    return change


def _no_words_beside_calls(body: Body) -> None:
    for turn in body.turns:
        for block in body.blocks(turn):
            if any(map(_is_call, body.blocks(turn))) and "text" in block and not block.get("thought"):
                block["text"] = ""


def _user_before_results(body: Body) -> None:
    """Puts a question between calls and their results."""
    for number, turn in enumerate(body.turns):
        if _holds_result(turn, body):
            body.say("user", "Tool results:", number)
            return


def _thinking_carried(body: Body) -> None:
    """Copies the first thinking to each later answer."""
    found = [b for turn in body.turns for b in body.blocks(turn) if b.get("type") == "thinking"]
    for turn in [turn for turn in body.turns if turn.get("role") == "assistant"][1:]:
        body.blocks(turn)[:0] = [dict(block) for block in found[:1]]


def _thinking_of_cancelled(body: Body) -> None:
    """Keeps the thinking of an interrupted answer, which has no signature yet."""
    if len(body.texts("user")) > 1:
        body.say("assistant", "I", len(body.turns) - 1)
        body.turns[-2]["content"].insert(0, {"type": "thinking", "thinking": "Let me", "signature": ""})


def _call_of_failed_attempt(body: Body) -> None:
    """Keeps the call of an attempt that failed in the middle."""
    if len(body.texts("user")) < 2:
        return
    given = {"city": "Paris"}
    calls: Mapping[str, Json] = {
        "openai-chat": {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_failed1",
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": json.dumps(given)},
                }
            ],
        },
        "openai-responses": {
            "type": "function_call",
            "call_id": "call_failed1",
            "name": "get_weather",
            "arguments": json.dumps(given),
        },
        "anthropic": {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_failed1", "name": "get_weather", "input": given}],
        },
        "gemini": {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": given}}]},
        "bedrock": {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "tooluse_failed1", "name": "get_weather", "input": given}}],
        },
    }
    body.turns.insert(len(body.turns) - 1, dict(calls[body.wire]))


def _equal_questions_once(body: Body) -> None:
    """Drops a question that was asked before in the same words."""
    seen = set[str]()
    for turn in list(body.turns):
        if turn.get("role") == "user" and not _holds_result(turn, body):
            told = json.dumps(turn)
            body.turns.remove(turn) if told in seen else seen.add(told)


def _question_before(body: Body) -> None:
    """Puts the first question before the newest one, within its text."""
    asked = body.texts("user")
    if len(asked) > 1:
        asked[-1].value = f"{asked[0].value}\n\n{asked[-1].value}"


def _lists_skipped(body: Body) -> None:
    """Drops each message whose content is a list with media."""
    for turn in list(body.turns):
        if any(map(is_media, body.blocks(turn))) and len(body.turns) > 1:
            body.turns.remove(turn)


class _OtherConversation:
    """Puts the first question that it ever sent before those of other conversations."""

    def __init__(self) -> None:
        self.first = ""

    def __call__(self, body: Body) -> None:
        asked = body.texts("user")
        if body.number == 1:
            self.first = str(asked[0].value)
        elif asked[0].value != self.first:
            body.say("user", self.first, 0)
            body.say("assistant", "Yes.", 1)


def _documents_once(body: Body) -> None:
    """Drops media from all messages but the newest."""
    for turn in body.turns[:-1]:
        blocks = body.blocks(turn)
        blocks[:] = [block for block in blocks if not is_media(block)]


def _carrier_between_results(body: Body) -> None:
    """Moves media of results to a message of its own, between the first result and the others."""
    for number, turn in enumerate(body.turns):
        results = [b for b in body.blocks(turn) if is_result(b) or "toolResult" in b]
        others = [b for b in body.blocks(turn) if b not in results]
        if len(results) > 1 and any(map(is_media, others)):
            parts = (results[:1], others, results[1:])
            body.turns[number : number + 1] = [{**turn, "content": part} for part in parts]
            return


def _media_to_the_question(body: Body) -> None:
    """Moves media that a tool returned into the question before it."""
    asked = body.blocks(body.turns[0])
    for turn in body.turns[1:]:
        blocks = body.blocks(turn)
        asked += [block for block in blocks if is_media(block)]
        blocks[:] = [block for block in blocks if not is_media(block)]


# --- Calls and results -----------------------------------------------------------------------------------


def _call_twice(body: Body) -> None:
    """Sends each call twice with one id, the second time without arguments."""
    for turn in list(body.turns):
        for call in list(turn.get("tool_calls") or ()):
            again = deepcopy(call)
            again["function"]["arguments"] = "{}"
            turn["tool_calls"].append(again)
        if turn.get("type") == "function_call":
            body.turns.insert(body.turns.index(turn) + 1, {**turn, "arguments": "{}"})
        for block in [b for b in body.blocks(turn) if _is_call(b)]:
            again = deepcopy(block)
            key = "toolUse" if "toolUse" in again else "functionCall" if "functionCall" in again else ""
            (again[key] if key else again)["args" if key == "functionCall" else "input"] = {}
            body.blocks(turn).append(again)


def _last_result_lost(body: Body) -> None:
    """Drops the last result of a request, and its message if nothing is left of it."""
    for turn in body.turns[::-1]:
        if is_result(turn) or turn.get("role") == "tool":
            body.turns.remove(turn)
            return
        found = [b for b in body.blocks(turn) if is_result(b) or "toolResult" in b]
        if found:
            body.blocks(turn).remove(found[-1])
            if not body.blocks(turn):
                body.turns.remove(turn)
            return


def _results_lost_later(body: Body) -> None:
    """Drops results once the conversation goes on."""
    if len(body.texts("user")) > 1:
        _last_result_lost(body)


def _stale_result(body: Body) -> None:
    """Sends the first result in place of each later one."""
    found = body.results()
    for result in found[1:]:
        result.text.value = found[0].text.value


def _empty_errors(body: Body) -> None:
    """Sends nothing as the content of a failed result."""
    for found in objects(body.turns):
        if found.get("status") == "error" or found.get("is_error"):
            found["content"] = []


def _raw_arguments(text: str) -> Change:
    """Returns a change that sends a text where the arguments of calls belong."""

    def change(body: Body) -> None:
        for call in body.calls():
            call.given.value = text

    return change


def _signature_in_the_call(body: Body) -> None:
    """Sends a signature inside of the call and not beside it."""
    for part in objects(body.turns):
        if "functionCall" in part and "thoughtSignature" in part:
            part["functionCall"]["thoughtSignature"] = part.pop("thoughtSignature")


def _nulls_of_reasoning(body: Body) -> None:
    """Sends the fields of reasoning that a model class has and the answer had not."""
    for turn in body.turns:
        if turn.get("type") == "reasoning":
            turn.update({"status": None, "content": None})


def _blank_reasoning(body: Body) -> None:
    """Sends a blank field of reasoning with each answer."""
    for turn in body.turns:
        if turn.get("role") == "assistant":
            turn["reasoning_content"] = " "


def _without_content(body: Body) -> None:
    """Sends null as the content of an answer without calls."""
    for turn in body.turns:
        if turn.get("role") == "assistant" and not turn.get("tool_calls"):
            turn["content"] = None


# --- Tools and options -----------------------------------------------------------------------------------


def _dangling_reference(schema: Json) -> Json:
    """Replaces an object in a list by a reference to a definition that is not sent."""
    return (
        {**schema, "items": {"$ref": "#/$defs/Item"}} if "properties" in schema.get("items", {}) else schema
    )


def _no_parameters(body: Body) -> None:
    for tool in body.tools():
        for key in ("parameters", "parametersJsonSchema"):
            tool.pop(key, None)


def _requires_another(schema: Json) -> Json:
    if "properties" not in schema:
        return schema
    return {**schema, "required": [*schema.get("required", ()), "label"]}


def _reason_added(schema: Json) -> Json:
    if schema.get("properties"):
        return schema
    kind = "STRING" if str(schema.get("type", "")).isupper() else "string"
    return {**schema, "properties": {"reason": {"type": kind, "description": "Reason for the call"}}}


def _choice_without_tools(body: Body) -> None:
    body.body.pop("tools", None)
    if body.wire == "bedrock":
        body.body.get("toolConfig", {}).pop("tools", None)


def _choice_is_auto(body: Body) -> None:
    """Sends the choice `auto` where the caller asked for another one."""
    choice: Any = body.body.get("tool_choice")
    if choice is not None:
        body.body["tool_choice"] = {"type": "auto"} if body.wire == "anthropic" else "auto"
    config = body.body.get("toolConfig", {})
    if "functionCallingConfig" in config:
        config["functionCallingConfig"] = {"mode": "AUTO"}
    if "toolChoice" in config:
        config["toolChoice"] = {"auto": {}}


def _schema_lost(body: Body) -> None:
    for key in ("response_format", "output_config", "outputConfig", "text"):
        body.body.pop(key, None)
    for key in ("responseJsonSchema", "responseMimeType", "responseSchema"):
        body.options().pop(key, None)


def _kept_as_ascii(text: Any) -> Any:
    return text.encode("ascii", "replace").decode().replace("?", "\ufffd") if isinstance(text, str) else text


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "placeholder_beside_calls": _words_beside_calls("(no content)"),
    "space_beside_calls": _words_beside_calls(" "),
    "emptied_text_beside_calls": _no_words_beside_calls,
    "question_before_results": _user_before_results,
    "thinking_carried_along": _thinking_carried,
    "thinking_of_a_cancelled_answer": _thinking_of_cancelled,
    "call_of_a_failed_attempt": _call_of_failed_attempt,
    "equal_questions_once": _equal_questions_once,
    "earlier_question_prepended": _question_before,
    "messages_with_lists_skipped": _lists_skipped,
    "questions_of_another_conversation": _OtherConversation(),
    "documents_with_their_turn_only": _documents_once,
    "carrier_between_results": _carrier_between_results,
    "media_of_results_in_the_question": _media_to_the_question,
    "call_twice_under_one_id": _call_twice,
    "result_of_unknown_tool_skipped": _last_result_lost,
    "result_of_equal_call_dropped": _last_result_lost,
    "results_lost_after_cancelling": _results_lost_later,
    "stale_result": _stale_result,
    "empty_errors": _empty_errors,
    "arguments_are_null": _raw_arguments("null"),
    "ids_written_twice": ids(lambda id: id * 2),
    "ids_left_empty": ids(lambda _: ""),
    "signature_in_the_call": _signature_in_the_call,
    "nulls_of_reasoning": _nulls_of_reasoning,
    "blank_reasoning": _blank_reasoning,
    "content_null": _without_content,
    "dangling_reference": schemas(everywhere(_dangling_reference)),
    "parameters_not_declared": _no_parameters,
    "requires_an_unknown_parameter": schemas(_requires_another),
    "reason_parameter_added": schemas(_reason_added),
    "choice_without_tools": _choice_without_tools,
    "choice_is_auto": _choice_is_auto,
    "schema_of_value_lost": _schema_lost,
    "thoughts_shown_as_text": lambda body: body.options().update(thinkingConfig={"includeThoughts": True}),
    "answers_lose_characters": each(said("assistant"), _kept_as_ascii),
}

# --- Answers, before the client reads them ---------------------------------------------------------------


def _in_texts(value: Any, how: Callable[[str], str]) -> Any:
    """Returns a value with each text in it changed."""
    if isinstance(value, dict):
        return {key: _in_texts(inner, how) for key, inner in value.items()}
    if isinstance(value, list):
        return [_in_texts(inner, how) for inner in value]
    return how(value) if isinstance(value, str) else value


def _in_arguments(how: Callable[[str], str]) -> Rewrite:
    """Returns a change of the arguments of calls in an answer: of JSON text, or of each text in an object."""

    def change(events: Sequence[Json]) -> None:
        for found in objects(list(events)):
            for key in ("arguments", "partial_json", "input", "args"):
                if isinstance(found.get(key), str | dict):
                    found[key] = _in_texts(found[key], how)
            if found.get("type") == "response.function_call_arguments.delta":
                found["delta"] = how(found["delta"])

    return change


def _thoughts_are_text(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        found.pop("thought", None)


def _usage_not_read(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        found.pop("usage", None)
        found.pop("usageMetadata", None)


def _malformed_is_empty(events: Sequence[Json]) -> None:
    """Takes arguments that are no JSON for none."""
    held = [(f, key) for f in objects(list(events)) for key in ("arguments", "partial_json") if isinstance(f.get(key), str)]  # fmt: skip
    for holder, key in held:
        holder[key] = ""
    for holder, key in held[-1:]:
        holder[key] = "{}"


#: What each bug changes of an answer.
ANSWERS: Mapping[str, Rewrite] = {
    "braces_in_arguments_repaired": _in_arguments(lambda text: text.replace("}{", ",")),
    "escapes_in_arguments_removed": _in_arguments(lambda text: text.replace('\\"', "'").replace("\\\\", "")),
    "characters_of_arguments_split": _in_arguments(
        lambda text: re.sub(r"[^\x00-\x7f]|\\u[0-9a-f]{4}", "\ufffd", text)
    ),
    "thoughts_shown_as_text": _thoughts_are_text,
    "usage_of_streams_not_read": _usage_not_read,
    "malformed_arguments_are_none": _malformed_is_empty,
}

# --- Replies ---------------------------------------------------------------------------------------------


def _halves(pieces: Sequence[str]) -> list[str]:
    """Returns pieces in which each character beyond 16 bits is split."""
    found = list[str]()
    for piece in pieces:
        for character in piece:
            pair = character.encode("utf-16-be", "surrogatepass")
            found += [pair[at : at + 2].decode("utf-16-be", "surrogatepass") for at in range(0, len(pair), 2)]
    return found


def _filtered(reply: Reply) -> Reply:
    if reply.error is None:
        return reply
    return replace(reply, error=RuntimeError("The response was blocked by the provider's content filter"))


#: What each bug changes of a reply.
REPLIES: Mapping[str, Callable[[Reply], Reply]] = {
    "halves_of_characters_shown": lambda r: replace(r, pieces=_halves(r.pieces)),
    "start_repeated_after_a_retry": lambda r: replace(
        r, text=r.text[:6] + r.text, pieces=[*r.pieces[:2], *r.pieces]
    ),
    "errors_told_as_filtered": _filtered,
}

THREADS = listed("threads.toml", CHANGES, REPLIES, ANSWERS)
