"""Bugs that were planted to see what the suite does not find, after all other lists were complete. `unlisted.toml` lists them.

As those of `mined.py`, each is one change of a request, of an answer before the client reads it, or of what a library hands over.
"""

from __future__ import annotations

import json
import re
import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, objects, pieces
from ..base import is_media
from ..neutral_requests import Body
from .mined import Change, arguments, each, listed, result_texts, said, schemas
from .strangers import counts, everywhere, on_request, set_option


def _questions(pattern: str, new: str) -> Change:
    """Returns a change of what matches a pattern in the user's texts."""
    return each(said("user"), lambda text: re.sub(pattern, new, text))


def _answers(how: Callable[[str], str]) -> Change:
    return each(said("assistant"), how)


def _results(pattern: str, new: str) -> Change:
    """Returns a change of what matches a pattern in the texts of results."""
    return each(result_texts, lambda text: re.sub(pattern, new, text, flags=re.DOTALL))


def _deep(how: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns a function that changes each value inside of objects and lists."""

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: changed(inner) for key, inner in value.items()}
        return [changed(inner) for inner in value] if isinstance(value, list) else how(value)

    return changed


def _decoded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) and value[:1] + value[-1:] in {"{}", "[]"} else value


def _compact(text: str) -> str:
    return json.dumps(json.loads(text), separators=(",", ":")) if text[:1] == "{" else text


# --- Media -----------------------------------------------------------------------------------------------


def _data(how: Callable[[str], str]) -> Change:
    """Returns a change of the base64 of each image."""

    def change(body: Body) -> None:
        for found in objects(body.turns):
            for key in ("data", "bytes"):
                if isinstance(found.get(key), str):
                    found[key] = how(found[key])
            for key in ("url", "image_url"):
                if isinstance(found.get(key), str) and found[key].startswith("data:"):
                    head, _, data = found[key].partition(",")
                    found[key] = f"{head},{how(data)}"

    return change


def _bytes(how: Callable[[bytes], bytes]) -> Change:
    return _data(lambda data: b64encode(how(b64decode(data))).decode())


def _beside_pictures(more: Callable[[Body, Json], Json]) -> Change:
    """Returns a change that adds a block to each message with an image."""

    def change(body: Body) -> None:
        for turn in body.turns:
            blocks = body.blocks(turn)
            pictures = [block for block in blocks if is_media(block)]
            blocks += [more(body, pictures[0])] if pictures else []

    return change


def _text(body: Body, _: Json) -> Json:
    kinds = {"openai-chat": "text", "openai-responses": "input_text", "anthropic": "text"}
    kind = {"type": kinds[body.wire]} if body.wire in kinds else {}
    return {**kind, "text": "[image: image.png]"}


# --- Prompts, options and tools --------------------------------------------------------------------------


def _prompts(how: Callable[[Body, str], str]) -> Change:
    def change(body: Body) -> None:
        for slot in body.texts("system"):
            slot.value = how(body, slot.value)

    return change


def _names(body: Body, prompt: str) -> str:
    return f"{prompt}\nTools: {', '.join(tool['name'] for tool in body.tools())}" if body.tools() else prompt


def _prompt_of_the_user(body: Body) -> None:
    for prompt, question in zip(body.texts("system"), body.texts("user")[:1], strict=False):
        question.value = f"{prompt.value}\n\n{question.value}"


_HELPFUL = "You are a helpful assistant."


def _helpful(body: Body) -> None:
    if body.texts("system"):
        return
    places: Mapping[str, Json] = {
        "openai-responses": {"instructions": _HELPFUL},
        "anthropic": {"system": _HELPFUL},
        "gemini": {"systemInstruction": {"parts": [{"text": _HELPFUL}]}},
        "bedrock": {"system": [{"text": _HELPFUL}]},
    }
    if body.wire == "openai-chat":
        body.turns.insert(0, {"role": "system", "content": _HELPFUL})
    else:
        body.body.update(places[body.wire])


def _two_answers(body: Body) -> None:
    body.options().update({"candidateCount": 2} if body.wire == "gemini" else {"n": 2})


def _false_dropped(body: Body) -> None:
    if body.body.get("parallel_tool_calls") is False:
        del body.body["parallel_tool_calls"]
    if "disable_parallel_tool_use" in (body.body.get("tool_choice") or {}):
        del body.body["tool_choice"]


def _last_tool_missing(body: Body) -> None:
    config = body.body.get("toolConfig") or {}
    tools = body.body.get("tools") or config.get("tools") or []
    listed_tools = tools[0].get("functionDeclarations") or tools if tools else []
    del listed_tools[1:]


def _ascii(schema: Any) -> Any:
    return json.loads(json.dumps(schema, ensure_ascii=False).encode("ascii", "ignore"))


def _other_model(body: Body) -> None:
    body.body["model"] = "gpt-4.1-nano"


# --- Thoughts --------------------------------------------------------------------------------------------


def _invented(body: Body) -> None:
    block = {"type": "redacted_thinking", "data": b64encode(b"nobody thought this").decode()}
    for turn in [turn for turn in body.turns if turn.get("role") == "assistant"][:1]:
        body.blocks(turn).insert(0, block)


def _thought_twice(body: Body) -> None:
    for turn in body.turns:
        blocks = body.blocks(turn)
        blocks[:0] = [dict(block) for block in blocks if block.get("type") == "thinking"]


def _item_twice(body: Body) -> None:
    body.turns[:0] = [dict(turn) for turn in body.turns if turn.get("type") == "reasoning"]


def _placeholder(body: Body) -> None:
    for found in objects(body.turns):
        if "thoughtSignature" in found:
            found["thoughtSignature"] = "skip_thought_signature_validator"


def _moved(body: Body) -> None:
    for turn in body.turns:
        for one, other in pairwise(body.blocks(turn)):
            if "thoughtSignature" in one and "thoughtSignature" not in other:
                other["thoughtSignature"] = one.pop("thoughtSignature")
                return


# --- Turns -----------------------------------------------------------------------------------------------


def _numbered(body: Body) -> None:
    for number, slot in enumerate(body.texts("user"), 1):
        slot.value = f"{number}. {slot.value}"


def _all_questions(body: Body) -> None:
    found = body.texts("user")
    if len(found) > 1:
        found[-1].value = "\n".join(str(slot.value) for slot in found)


def _equal_results(body: Body) -> None:
    seen = set()
    for slot in result_texts(body):
        slot.value = "(same as above)" if slot.value in seen else slot.value
        seen.add(slot.value)


def _null(body: Body) -> None:
    for turn in body.turns:
        if turn.get("tool_calls") and not turn.get("content"):
            turn["content"] = "null"


#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "comments_removed": _questions(r"<!--.*?-->", ""),
    "addresses_masked": _questions(r"\S+@\S+", "[email]"),
    "long_numbers_masked": _questions(r"\d{12,}", "[number]"),
    "links_replaced": _questions(r"https?://\S+", "[link]"),
    "zero_widths_removed": _questions("\u200b", ""),
    "unbroken_spaces_simplified": _questions("\u00a0", " "),
    "dashes_simplified": _questions("[\u2013\u2014]", "-"),
    "blank_lines_collapsed": _questions(r"\n{3,}", "\n\n"),
    "commands_taken": _questions(r"^/\w+ ?", ""),
    "variables_expanded": _questions(r"\$\{HOME\}", "/root"),
    "quotes_curled": _questions(r'"([^"]*)"', "\u201c\\1\u201d"),
    "tabs_of_questions_expanded": _questions(r"\t", "    "),
    "questions_numbered": _numbered,
    "questions_said_again": _all_questions,
    "bold_removed": _answers(lambda text: text.replace("**", "")),
    "notes_removed": _answers(lambda text: re.sub(r" \[\d+\]", "", text)),
    "data_compacted": _answers(_compact),
    "answers_cut_at_500": _answers(lambda text: text[:500]),
    "ligatures_split": _answers(lambda text: unicodedata.normalize("NFKC", text)),
    "null_beside_calls": _null,
    "booleans_of_calls_are_numbers": arguments(_deep(lambda v: int(v) if isinstance(v, bool) else v)),
    "texts_of_calls_decoded": arguments(_deep(_decoded)),
    "line_ends_of_calls_escaped": arguments(
        _deep(lambda v: v.replace("\n", "\\n") if isinstance(v, str) else v)
    ),
    "colours_of_results_removed": _results("\x1b\\[[0-9;]*m", ""),
    "line_ends_of_results_changed": _results("\r\n", "\n"),
    "first_line_of_results": _results(r"\n.*", ""),
    "results_fenced": _results(r"^(.*)$", r"```\n\1\n```"),
    "digits_of_results_masked": _results(r"\d{6,}", "[redacted]"),
    "equal_results_noted": _equal_results,
    "errors_cut_at_a_colon": _results(r"(?<=rror): .*", ""),
    "media_in_lines": _data(lambda data: "\n".join(re.findall(r".{1,76}", data))),
    "media_unpadded": _data(lambda data: data.rstrip("=")),
    "media_encoded_twice": _data(lambda data: b64encode(data.encode()).decode()),
    "last_byte_of_media_lost": _bytes(lambda data: data[:-1]),
    "line_ends_of_media_changed": _bytes(lambda data: data.replace(b"\r\n", b"\n")),
    "pictures_twice": _beside_pictures(lambda _, picture: dict(picture)),
    "names_beside_pictures": _beside_pictures(_text),
    "prompt_said_by_the_user": _prompt_of_the_user,
    "sentences_of_the_prompt_once": _prompts(lambda _, text: ". ".join(dict.fromkeys(text.split(". ")))),
    "tools_in_the_prompt": _prompts(_names),
    "helpful_assistant": _helpful,
    "two_answers": _two_answers,
    "dearer_service": lambda body: body.body.update(service_tier="priority"),
    "brief_answers": set_option(openai_chat={"verbosity": "low"}, openai_responses={"text": {"verbosity": "low"}}),
    "one_call_in_all": set_option(openai_responses={"max_tool_calls": 1}),
    "answers_in_the_background": set_option(openai_responses={"background": True}),
    "history_compacted": set_option(
        openai_responses={"context_management": [{"type": "compaction", "compact_threshold": 1000}]},
        anthropic={"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
    ),
    "predicted": set_option(openai_chat={"prediction": {"type": "content", "content": "It is fine."}}),
    "guarded": set_option(
        bedrock={"guardrailConfig": {"guardrailIdentifier": "abc123", "guardrailVersion": "1"}}
    ),
    "faster": set_option(
        bedrock={"performanceConfig": {"latency": "optimized"}}, anthropic={"speed": "fast"}
    ),
    "in_one_region": set_option(anthropic={"inference_geo": "us"}),
    "false_options_dropped": _false_dropped,
    "parameters_in_ascii": schemas(_ascii),
    "lists_are_single_values": schemas(everywhere(lambda s: s["items"] if isinstance(s.get("items"), dict) else s)),
    "first_value_of_enums": schemas(
        everywhere(lambda s: {**s, "enum": s["enum"][:1]} if isinstance(s.get("enum"), list) else s)
    ),
    "last_tool_missing": _last_tool_missing,
    "fallback_model_on_retry": on_request(2, _other_model),
    "redacted_thinking_invented": _invented,
    "thoughts_twice": _thought_twice,
    "reasoning_items_twice": _item_twice,
    "placeholder_for_signatures": _placeholder,
    "signatures_moved": _moved,
}  # fmt: skip

# --- Answers and replies ---------------------------------------------------------------------------------


def _none_first(events: Sequence[Json]) -> None:
    for holder, key in pieces(events)[:1]:
        holder[key] = f"None{holder[key]}"


def _first_lost(events: Sequence[Json]) -> None:
    for holder, key in [(holder, key) for holder, key in pieces(events) if holder[key]][:1]:
        holder[key] = ""


def _names_squeezed(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if isinstance(found.get("name"), str) and {"arguments", "args", "input"} & {*found}:
            found["name"] = found["name"].replace("_", "")


#: What each bug changes of an answer.
ANSWERS: Mapping[str, Rewrite] = {
    "none_before_the_text": _none_first,
    "first_piece_dropped": _first_lost,
    "names_of_calls_squeezed": _names_squeezed,
}

#: What each bug changes of a reply.
REPLIES: Mapping[str, Callable[[Reply], Reply]] = {
    "marker_in_a_text_is_the_end": lambda r: replace(r, text=r.text.split("[DONE]")[0]),
    "speaker_in_a_text_is_the_end": lambda r: replace(r, text=r.text.split("User:")[0]),
    "total_as_output": counts(output=lambda told: told.get("input", 0) + told.get("output", 0)),
    "refusals_without_errors": lambda r: replace(r, error=None),
}

UNLISTED = listed("unlisted.toml", CHANGES, REPLIES, ANSWERS)
