"""Bugs of combinations, schemas, numbers and later turns, planted by somebody who had not read the rules. `outsiders.toml` lists them.

As those of `mined.py`, each is one change of a request, of an answer before the client reads it, or of what a library hands over.
They are spread over all eight wire formats.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects
from ..base import is_media, is_result
from ..neutral_requests import Body
from .mined import Change, arguments, each, listed, result_texts, said, schemas, without
from .strangers import counts, everywhere, later, on_request
from .unlisted import _bytes, _data, _deep

# --- Schemas ---------------------------------------------------------------------------------------------


def _replaced(**how: Callable[[Any], Any]) -> Change:
    """Returns a change of the values of keywords in schemas."""
    return schemas(
        everywhere(lambda s: {k: how[k](v) if k in how and _is_keyword(v) else v for k, v in s.items()})
    )


def _is_keyword(value: Any) -> bool:
    return not isinstance(value, dict) or "type" not in value


def _first_choice(schema: Json) -> Json:
    return schema["anyOf"][0] if isinstance(schema.get("anyOf"), list) else schema


def _open(schema: Json) -> Json:
    return {**schema, "additionalProperties": True} if schema.get("additionalProperties") is False else schema


def _without_titles(value: Any) -> Any:
    """Drops `title` everywhere, and the property of that name with it."""
    if isinstance(value, dict):
        return {k: _without_titles(v) for k, v in value.items() if k != "title"}
    return [_without_titles(v) for v in value] if isinstance(value, list) else value


def _undescribed_below(schema: Any) -> Any:
    return {
        **schema,
        "properties": {
            name: {**field, **without("description")({k: v for k, v in field.items() if k != "description"})}
            for name, field in schema.get("properties", {}).items()
        },
    }


def _all_required(schema: Json) -> Json:
    defaults = [name for name, field in (schema.get("properties") or {}).items() if "default" in field]
    return {**schema, "required": [*schema.get("required", []), *defaults]} if defaults else schema


def _tools(key: str, how: Callable[[str], str]) -> Change:
    """Returns a change of the names or descriptions of tools."""
    return lambda body: [tool.update({key: how(tool[key])}) for tool in body.tools() if key in tool]


# --- Options and prompts ---------------------------------------------------------------------------------

_SPELLED = {
    "stop": ("stop", "stop_sequences", "stopSequences"),
    "limit": (
        *(
            "max_tokens",
            "max_completion_tokens",
            "max_output_tokens",
            "maxOutputTokens",
            "maxTokens",
            "num_predict",
        ),
    ),
    "temperature": ("temperature",),
    "json": ("response_format", "responseMimeType", "format", "text"),
    "parallel": ("parallel_tool_calls", "tool_choice"),
    "choice": ("tool_choice", "toolConfig"),
}


def _holders(body: Body) -> list[Json]:
    held = {"gemini": "generationConfig", "bedrock": "inferenceConfig", "ollama": "options"}.get(body.wire)
    return [body.body, body.body.get(held, {})] if held else [body.body]


def _lost(option: str, when: Callable[[Body], object] = lambda _: True) -> Change:
    """Returns a change that drops an option of requests of some kind."""

    def change(body: Body) -> None:
        if when(body):
            for holder in _holders(body):
                for name in _SPELLED[option]:
                    holder.pop(name, None)

    return change


def _set_to(option: str, how: Callable[[Any], Any]) -> Change:
    """Returns a change of an option's value."""

    def change(body: Body) -> None:
        for holder in _holders(body):
            for name in {*_SPELLED[option]} & {*holder}:
                holder[name] = how(holder[name])

    return change


class _Kept:
    """Sends an option of one turn with all later ones. Each conversation begins with a first request."""

    def __init__(self, option: str) -> None:
        self.names = _SPELLED[option] if option != "model" else ("model",)
        self.kept: list[Json] = []

    def __call__(self, body: Body) -> None:
        holders = _holders(body)
        if body.number == 1:
            self.kept = [{name: held[name] for name in self.names if name in held} for held in holders]
        for holder, kept in zip(holders, self.kept, strict=True):
            holder.update(kept)


def _has_media(body: Body) -> bool:
    return any(is_media(found) for found in objects(body.turns))


def _named_choice(body: Body) -> None:
    name = body.tools()[0]["name"] if body.tools() else ""
    ways: Mapping[str, tuple[str, Any]] = {
        "openai-chat": ("tool_choice", {"type": "function", "function": {"name": name}}),
        "openai-responses": ("tool_choice", {"type": "function", "name": name}),
        "anthropic": ("tool_choice", {"type": "tool", "name": name}),
    }
    if "tool_choice" in body.body and body.wire in ways:
        body.body["tool_choice"] = ways[body.wire][1]


class _Prompts:
    """Changes the system prompt of later requests, and remembers the first one."""

    def __init__(self, how: Callable[[str, str], str]) -> None:
        self.how, self.first = how, ""

    def __call__(self, body: Body) -> None:
        if body.number == 1:
            self.first = next((slot.value for slot in body.texts("system")), "")
        for slot in body.texts("system"):
            if slot.value != self.first:
                slot.value = self.how(self.first, slot.value)


def _no_prompt(body: Body) -> None:
    for key in ("system", "instructions", "systemInstruction"):
        body.body.pop(key, None)
    body.turns[:] = [turn for turn in body.turns if turn.get("role") not in {"system", "developer"}]


def _no_tools(body: Body) -> None:
    for key in ("tools", "tool_choice"):
        body.body.pop(key, None)


# --- Thoughts --------------------------------------------------------------------------------------------


def _thoughts(key: str, how: Callable[[str], str]) -> Change:
    """Returns a change of a field of thoughts, calls and items of reasoning."""

    def change(body: Body) -> None:
        for found in objects(body.turns):
            if isinstance(found.get(key), str):
                found[key] = how(found[key])

    return change


def _urlsafe(text: str) -> str:
    return text.replace("+", "-").replace("/", "_").rstrip("=")


def _summaries(how: Callable[[list[Json]], list[Json]]) -> Change:
    def change(body: Body) -> None:
        for turn in body.turns:
            if turn.get("type") == "reasoning":
                turn["summary"] = how(turn.get("summary") or [])

    return change


def _reasoning_after_calls(body: Body) -> None:
    turns = body.turns
    for at in range(len(turns) - 1):
        if turns[at].get("type") == "reasoning" and turns[at + 1].get("type") == "function_call":
            turns[at], turns[at + 1] = turns[at + 1], turns[at]


def _redacted_last(body: Body) -> None:
    for turn in body.turns:
        body.blocks(turn).sort(key=lambda block: block.get("type") == "redacted_thinking")


def _reasoning_lost(body: Body) -> None:
    for turn in body.turns:
        for key in ("reasoning_content", "thinking", "reasoning"):
            turn.pop(key, None)
        if isinstance(turn.get("content"), list):
            turn["content"] = [part for part in turn["content"] if part.get("type") != "thinking"]


# --- Results and turns -----------------------------------------------------------------------------------


def _is_error(text: Any) -> bool:
    return "Atlantis" in str(text)


def _error_for_all(body: Body) -> None:
    failed = [slot.value for slot in result_texts(body) if _is_error(slot.value)]
    for slot in result_texts(body) if failed else ():
        slot.value = failed[0]


def _skipped_after_error(body: Body) -> None:
    failed = False
    for slot in result_texts(body):
        if failed:
            slot.value = "Skipped, because an earlier call failed."
        failed = failed or _is_error(slot.value)


def _all_marked(body: Body) -> None:
    if any(_is_error(slot.value) for slot in result_texts(body)):
        for result in body.results():
            result.mark(True)


def _trace(text: str) -> str:
    return f"Traceback (most recent call last):\n  {text}" if _is_error(text) else text


def _first_question_lost(body: Body) -> None:
    if len(body.texts("user")) < 2:
        return
    question = next(turn for turn in body.turns if turn.get("role") == "user" and not is_result(turn))
    body.turns.remove(question)


def _last_result_lost(body: Body) -> None:
    turns = body.turns
    turns[:] = [turn for turn in turns if not is_result(turn) and not any(map(is_result, body.blocks(turn)))]


def _media_lost(body: Body) -> None:
    for turn in body.turns:
        body.blocks(turn)[:] = [block for block in body.blocks(turn) if not is_media(block)]


def _empty_answers_lost(body: Body) -> None:
    answers = [turn for turn in body.turns if turn.get("role") in {"assistant", "model"}]
    for turn in answers if len(answers) > 1 else ():
        if len(str(turn)) < 120:
            body.turns.remove(turn)
            return


def _twice_encoded(body: Body) -> None:
    for call in body.calls():
        if call.as_text:
            call.given.value = json.dumps(call.given.value)


def _floats(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _types(how: Callable[[str], str]) -> Change:
    """Returns a change of the media types of images."""

    def change(body: Body) -> None:
        for found in objects(body.turns):
            for key in ("media_type", "mimeType", "mime_type"):
                if isinstance(found.get(key), str):
                    found[key] = how(found[key])
            for key in ("url", "image_url"):
                if str(found.get(key)).startswith("data:"):
                    head, _, data = found[key][5:].partition(";")
                    found[key] = f"data:{how(head)};{data}"

    return change


def _unmarked_data(body: Body) -> None:
    for found in objects(body.turns):
        for key in ("url", "image_url"):
            if str(found.get(key)).startswith("data:"):
                found[key] = found[key].replace(";base64,", ",")


def _first_texts(how: Callable[[str], str]) -> Change:
    return each(said("user"), how)


def _surrogates(text: str) -> str:
    return "".join(f"\\u{ord(c):04x}" if ord(c) > 0xFFFF else c for c in text)


# --- Calls, results and words, from threads of 2026 ------------------------------------------------------


def _without_results(body: Body) -> None:
    """Drops results, and messages that had nothing else."""
    for turn in [turn for turn in body.turns if not is_result(turn)]:
        blocks = body.blocks(turn)
        blocks[:] = [block for block in blocks if not is_result(block)]
    body.turns[:] = [turn for turn in body.turns if not is_result(turn) and not _is_blank(body, turn)]


def _is_blank(body: Body, turn: Json) -> bool:
    return isinstance(turn.get("content", turn.get("parts")), list) and not body.blocks(turn)


def _without_calls(body: Body) -> None:
    body.turns[:] = [turn for turn in body.turns if turn.get("type") != "function_call"]
    for turn in body.turns:
        if turn.pop("tool_calls", None):
            turn.setdefault("content", "")
        blocks = body.blocks(turn)
        kinds = {"toolUse", "functionCall"}
        blocks[:] = [block for block in blocks if block.get("type") != "tool_use" and not kinds & {*block}]


def _earlier_tools_forgotten(body: Body) -> None:
    if len(body.texts("user")) > 1:
        _without_calls(body)
        _without_results(body)


def _to_the_last_call(body: Body) -> None:
    last = [call.id.value for call in body.calls() if call.id][-1:]
    for result in body.results():
        if result.id and last:
            result.id.value = last[0]


def _without_empties(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_empties(v) for k, v in value.items() if v not in ({}, [])}
    return [_without_empties(v) for v in value if v not in ({}, [])] if isinstance(value, list) else value


def _seen_once(body: Body) -> None:
    seen = set[str]()
    for slot in result_texts(body):
        text = slot.value
        slot.value = "(same as above)" if text in seen else text
        seen.add(text)


def _prompt_in_the_question(body: Body) -> None:
    prompt = [str(slot.value) for slot in body.texts("system")]
    _no_prompt(body)
    if prompt:
        first = body.texts("user")[0]
        first.value = f"{prompt[0]}\n\n{first.value}"


def _only_the_first_tool(body: Body) -> None:
    held = body.body.get("tools") or (body.body.get("toolConfig") or {}).get("tools")
    if held and "functionDeclarations" in held[0]:
        held = held[0]["functionDeclarations"]
    if held:
        del held[1:]


def _question_before(body: Body) -> None:
    said = body.texts("user")
    if len(said) > 1:
        said[-1].value = f"{said[-2].value}\n{said[-1].value}"


def _strings(how: Callable[[str], str]) -> Change:
    """Returns a change of every string in arguments."""
    return arguments(_deep(lambda value: how(value) if isinstance(value, str) else value))


def _stops(how: Callable[[list[str]], list[str]]) -> Change:
    return _set_to("stop", lambda told: how(told) if isinstance(told, list) else how([told])[0])


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "bounds_of_numbers_dropped": schemas(without("minimum", "maximum")),
    "patterns_dropped": schemas(without("pattern")),
    "lengths_dropped": schemas(without("minLength", "maxLength")),
    "defaults_dropped": schemas(without("default")),
    "formats_dropped": schemas(without("format")),
    "counts_of_items_dropped": schemas(without("minItems", "maxItems")),
    "choices_reduced_to_one": schemas(everywhere(_first_choice)),
    "references_are_anything": schemas(everywhere(lambda s: {} if "$ref" in s else s)),
    "other_properties_allowed": schemas(everywhere(_open)),
    "properties_called_title_dropped": schemas(_without_titles),
    "descriptions_below_dropped": schemas(_undescribed_below),
    "defaults_are_required": schemas(everywhere(_all_required)),
    "maximum_raised": _replaced(maximum=lambda n: n + 1, maxLength=lambda n: 10 * n),
    "patterns_unescaped": _replaced(pattern=lambda text: text.replace("\\", "")),
    "tool_names_lowered": _tools("name", lambda name: name.replace("_", "-")),
    "descriptions_in_one_line": _tools("description", lambda text: text.split(". ")[0]),
    "integers_are_numbers": schemas(everywhere(lambda s: {**s, "type": "number"} if s.get("type") == "integer" else s)),
    "temperature_lost_beside_tools": _lost("temperature", Body.tools),
    "stops_lost_beside_tools": _lost("stop", Body.tools),
    "limit_lost_beside_thoughts": _lost("limit", lambda body: body.body.get("thinking") or True),
    "stops_lost_beside_media": _lost("stop", _has_media),
    "json_lost_beside_a_prompt": _lost("json", lambda body: body.texts("system")),
    "limit_lost_after_results": _lost("limit", Body.results),
    "limit_halved": _set_to("limit", lambda told: told // 2),
    "temperature_of_one": _set_to("temperature", lambda told: 1),
    "stops_squeezed": _set_to("stop", lambda told: [stop.replace(" ", "") for stop in told]),
    "limit_kept": _Kept("limit"),
    "temperature_kept": _Kept("temperature"),
    "json_kept": _Kept("json"),
    "model_kept": _Kept("model"),
    "single_calls_kept": _Kept("parallel"),
    "choice_of_one_tool": _named_choice,
    "prompts_added_up": _Prompts(lambda first, new: f"{first}\n{new}"),
    "first_prompt_for_ever": _Prompts(lambda first, new: first),
    "prompt_lost_in_later_turns": later(_no_prompt),
    "prompt_lost_in_retries": on_request(2, _no_prompt),
    "tools_lost_in_retries": on_request(2, _no_tools),
    "results_lost_in_retries": on_request(3, _last_result_lost),
    "media_lost_in_retries": on_request(2, _media_lost),
    "signatures_urlsafe": _thoughts("signature", _urlsafe),
    "signatures_of_calls_cut": _thoughts("thoughtSignature", lambda text: text[:-4]),
    "reasoning_after_its_call": _reasoning_after_calls,
    "redacted_thoughts_last": _redacted_last,
    "one_error_for_all_calls": _error_for_all,
    "calls_after_an_error_skipped": _skipped_after_error,
    "all_marked_after_an_error": _all_marked,
    "question_of_a_cancelled_turn_lost": later(_first_question_lost),
    "arguments_encoded_twice_after_a_restore": later(_twice_encoded),
    "numbers_are_floats_after_a_restore": later(arguments(_deep(_floats))),
    "fractions_rounded": arguments(_deep(lambda v: round(v, 6) if isinstance(v, float) else v)),
    "blank_arguments_are_null": arguments(_deep(lambda v: None if v == "" else v)),
    "digits_of_results_are_floats": each(result_texts, lambda t: re.sub(r"\d{16,}", lambda n: str(int(float(n[0]))), t)),
    "empty_answers_lost": _empty_answers_lost,
    "media_types_in_capitals": _types(str.upper),
    "media_types_unknown": _types(lambda _: "application/octet-stream"),
    "media_types_with_a_charset": _types(lambda told: f"{told};charset=utf-8"),
    "data_without_its_mark": _unmarked_data,
    "media_urlsafe": _data(_urlsafe),
    "media_padded_with_zeros": _bytes(lambda data: data + b"\0"),
    "emoji_escaped": _first_texts(_surrogates),
    "emoji_cut_in_descriptions": _tools("description", lambda text: text.encode()[:-2].decode(errors="ignore")),
    "composed_prompt": each(said("system"), lambda text: unicodedata.normalize("NFD", text)),
    "last_line_end_of_questions_lost": _first_texts(lambda text: text.rstrip("\n")),
    "calls_lost_before_text": _without_calls,
    "limit_of_the_route": _set_to("limit", lambda told: 8000),
    "earlier_tools_forgotten": _earlier_tools_forgotten,
    "results_to_the_last_call": _to_the_last_call,
    "strings_of_arguments_stripped": _strings(str.strip),
    "letters_of_arguments_escaped": _strings(lambda text: text.encode("unicode_escape").decode()),
    "booleans_are_words": arguments(_deep(lambda v: str(v).lower() if isinstance(v, bool) else v)),
    "nulls_are_words": arguments(_deep(lambda v: "null" if v is None else v)),
    "empty_objects_dropped": arguments(_without_empties),
    "results_with_a_label": each(result_texts, lambda text: f"get_weather: {text}"),
    "results_of_one_line": each(result_texts, lambda text: text.split("\n")[0]),
    "results_unescaped": each(result_texts, html.unescape),
    "equal_results_once": _seen_once,
    "prompt_in_the_question": _prompt_in_the_question,
    "tabs_are_spaces": _first_texts(lambda text: text.replace("\t", "    ")),
    "zero_width_removed": _first_texts(lambda text: re.sub("[\u200b-\u200f\u2060\ufeff]", "", text)),
    "stars_removed": each(said("assistant"), lambda text: text.replace("*", "")),
    "answers_end_with_a_period": each(said("assistant"), lambda text: f"{text.removesuffix('.')}."),
    "answers_quoted": each(said("assistant"), lambda text: f"> {text}"),
    "only_the_first_tool": _only_the_first_tool,
    "one_stop_sequence": _stops(lambda told: told[:1]),
    "stop_sequences_lowered": _stops(lambda told: [stop.lower() for stop in told]),
    "questions_repeated_later": _question_before,
    "system_twice_after_restore": later(each(said("system"), lambda text: f"{text}\n{text}")),
    "percent_signs_doubled": each(said("user"), lambda text: text.replace("%", "%%")),
    "braces_halved": each(said("user"), lambda text: text.replace("{{", "{").replace("}}", "}")),
    "escapes_read": each(said("user"), lambda text: text.replace("\\n", "\n").replace("\\t", "\t")),
    "line_ends_trimmed": each(said("user"), lambda text: re.sub(r"[ \t]+(?=\n|$)", "", text)),
    "prompt_dedented": each(said("system"), lambda text: re.sub(r"(?m)^[ \t]+", "", text)),
    "answers_in_one_line": each(said("assistant"), lambda text: " ".join(text.split("\n"))),
}  # fmt: skip


# --- Answers and replies ---------------------------------------------------------------------------------


def _spent(*names: str, to: Callable[[int], int]) -> Rewrite:
    """Returns a change of token counts in an answer."""

    def change(events: Sequence[Json]) -> None:
        for found in objects(list(events)):
            for name in {*names} & {*found}:
                if isinstance(found[name], int):
                    found[name] = to(found[name])

    return change


def _half_characters(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        for key in ("text", "content", "delta"):
            if isinstance(found.get(key), str):
                found[key] = "".join(c if ord(c) < 0x10000 else "\ufffd\ufffd" for c in found[key])


#: What each bug changes of an answer.
ANSWERS: Mapping[str, Rewrite] = {
    "reasoning_tokens_unread": _spent("reasoning_tokens", "thoughtsTokenCount", to=lambda _: 0),
    "characters_in_halves": _half_characters,
}


#: What each bug changes of a reply.
REPLIES: Mapping[str, Callable[[Reply], Reply]] = {
    "first_sentence_of_a_loop": lambda r: replace(r, text=r.text.split(".")[0]),
    "half_of_the_input_counted": counts(input=lambda told: told.get("input", 0) // 2),
    "every_end_is_a_stop": lambda r: replace(r, stop="stop"),
    "answers_in_lower_case": lambda r: replace(r, text=r.text.lower()),
    "limit_told_as_filter": lambda r: replace(r, stop="filter") if r.stop == "length" else r,
    "filter_told_as_limit": lambda r: replace(r, stop="length") if r.stop == "filter" else r,
    "whole_answers_told_as_cut": lambda r: replace(r, stop="length") if r.stop == "stop" else r,
    "calls_told_as_the_end": lambda r: replace(r, stop="tool") if r.stop == "stop" else r,
    "last_request_counted": counts(input=lambda told: told.get("input", 0) - 40),
    "carriage_returns_added": lambda r: replace(r, text=r.text.replace("\n", "\r\n")),
    "composed_answers": lambda r: replace(r, text=unicodedata.normalize("NFC", r.text)),
    "cut_answers_raise_nothing": lambda r: replace(r, error=None, stop="stop") if r.error else r,
}

OUTSIDERS = listed("outsiders.toml", CHANGES, REPLIES, ANSWERS)
