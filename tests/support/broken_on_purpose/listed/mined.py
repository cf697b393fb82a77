"""Bugs of clients, most of them from trackers of 2026, as adapters that are broken on purpose. `mined.toml` lists them.

Each bug is one change of a request (or of what a library hands over) in neutral terms, so that it can be shown over five wire
formats, in blocking, async and streamed calls. `changed` counts how often it was active.
"""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import httpx

from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.case import Mode
from ellmer_conformance.scenarios.messages import Reply

from ..answer_events import Rewrite, rewritten
from ..base import BrokenAdapter
from ..neutral_requests import WIRES, Body, Slot

Change = Callable[[Body], object]
#: Changes the headers of a request, and those of its answer.
Heads = Callable[[httpx.Headers], object]
#: Reads the chunks of an answer's body in its own way, or raises an error.
Chunks = Callable[[list[bytes]], list[bytes]]


@dataclass(frozen=True)
class Mined:
    """A bug: its name, what it does, the case that shows it, the rules of which one must fail, and its thread."""

    name: str
    does: str
    case: str
    rules: Sequence[str]
    thread: str = ""
    change: Change | None = None
    reply: Callable[[Reply], Reply] | None = None
    answer: Rewrite | None = None
    chunks: Chunks | None = None
    headers: Heads | None = None
    wires: Sequence[str] = WIRES
    modes: Sequence[Mode] = ("sync", "async", "stream")
    #: Who is asked, if it is not the first provider of the wire format.
    provider: str = ""

    @property
    def link(self) -> str:
        """The address of the thread that reports it; empty for a variant of ours."""
        return f"https://github.com/{self.thread}" if self.thread else ""


class MinedAdapter(BrokenAdapter):
    """An adapter with one of these bugs."""

    case, caught_by, hooks_async = "", (), True
    on: ClassVar[tuple[str, ...]] = (*WIRES, "mistral", "ollama", "cohere")

    def __init__(self, bug: Mined, mode: Mode) -> None:
        super().__init__()
        self.bug, self.mode, self.changed = bug, mode, 0  # type: ignore[misc]  # each play has its mode
        self.sent = 0
        self.name = bug.name

    def capabilities(self, wire: str, provider: str) -> Capabilities:
        usual = super().capabilities(wire, provider)
        able = dict.fromkeys(
            (
                "tool_choice",
                "stop_sequences",
                "json_mode",
                "changed_prompt",
                "prompt_caching",
                "model_override",
                "temperature",
                "output_limit",
                "single_calls",
                "forbidden_calls",
                "thinking",
                "named_calls",
                "thinking_off",
                "async_tools",
            ),
            "native",
        )
        return replace(usual, **able)  # type: ignore[arg-type]  # the names are its fields

    def body(self, body: Json) -> Json:
        if self.bug.change is None:
            return body
        before = deepcopy(body)
        self.sent += 1
        self.bug.change(Body(self.endpoint.wire, body, self.sent))
        self.changed += repr(body) != repr(before)  # 1 is not True, and not 1.0
        return body

    def exchange(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        self._head(request.headers)
        response = super().exchange(transport, request)
        self._head(response.headers)
        return response

    def _head(self, headers: httpx.Headers) -> None:
        if self.bug.headers:
            before = headers.copy()
            self.bug.headers(headers)
            self.changed += headers != before

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        if self.bug.chunks:
            return self._read(self.bug.chunks, chunks)
        if self.bug.answer is None:
            return chunks
        before = b"".join(chunks)
        return [rewritten(before, self._counting(self.bug.answer))]

    def _read(self, read: Chunks, chunks: list[bytes]) -> list[bytes]:
        try:
            found = read(chunks)
        except Exception:
            self.changed += 1
            raise
        self.changed += b"".join(found) != b"".join(chunks)
        return found

    def _counting(self, change: Rewrite) -> Rewrite:
        def counted(events: Sequence[Json]) -> None:
            before = deepcopy(events)
            change(events)
            self.changed += events != before

        return counted

    def reply(self, reply: Reply) -> Reply:
        if self.bug.reply is None:
            return reply
        found = self.bug.reply(reply)
        self.changed += found != reply
        return found


# --- Ways to change --------------------------------------------------------------------------------------


def each(slots: Callable[[Body], Sequence[Slot]], how: Callable[[Any], Any]) -> Change:
    """Returns a change of every text that `slots` finds."""

    def change(body: Body) -> None:
        for slot in slots(body):
            slot.value = how(slot.value)

    return change


def said(role: str) -> Callable[[Body], list[Slot]]:
    """Returns a function that finds the texts of a speaker."""
    return lambda body: body.texts(role)


def result_texts(body: Body) -> list[Slot]:
    """Returns the texts of the results."""
    return [result.text for result in body.results() if isinstance(result.text.value, str)]


def earlier(role: str) -> Callable[[Body], list[Slot]]:
    """Returns a function that finds the texts of a speaker, except for the newest."""
    return lambda body: body.texts(role)[:-1]


def arguments(how: Callable[[Any], Any]) -> Change:
    """Returns a change of the arguments of every call."""

    def change(body: Body) -> None:
        for call in body.calls():
            call.arguments = how(call.arguments)

    return change


def schemas(how: Callable[[Any], Any]) -> Change:
    """Returns a change of every tool's schema."""
    return each(lambda body: body.schemas(), how)


def without(*keys: str) -> Callable[[Any], Any]:
    """Returns a function that drops keys everywhere in a schema (but not properties of that name)."""

    def dropped(value: Any, inside: str = "") -> Any:
        if isinstance(value, dict):
            return {k: dropped(v, k) for k, v in value.items() if k not in keys or inside == "properties"}
        return [dropped(v) for v in value] if isinstance(value, list) else value

    return dropped


def options(**set_to: Any) -> Change:
    """Returns a change that sets options: `limit`, `stop`."""
    limits = {
        "openai-chat": "max_completion_tokens",
        "openai-responses": "max_output_tokens",
        "anthropic": "max_tokens",
        "gemini": "maxOutputTokens",
        "bedrock": "maxTokens",
    }
    stops = {
        "openai-chat": "stop",
        "anthropic": "stop_sequences",
        "gemini": "stopSequences",
        "bedrock": "stopSequences",
    }

    def change(body: Body) -> None:
        if "with_tools" in set_to and not body.tools():
            return
        if "limit" in set_to:
            body.options()[limits[body.wire]] = set_to["limit"]
        if "stop" in set_to and body.wire in stops:
            body.options()[stops[body.wire]] = set_to["stop"]

    return change


def forced(kind: str) -> Change:
    """Returns a change that forces or forbids calls: `"required"` or `"none"`."""

    def change(body: Body) -> None:
        if not body.tools():
            return
        ways: Mapping[str, tuple[str, Any]] = {
            "openai-chat": ("tool_choice", kind),
            "openai-responses": ("tool_choice", kind),
            "anthropic": ("tool_choice", {"type": "any" if kind == "required" else "none"}),
            "gemini": (
                "toolConfig",
                {"functionCallingConfig": {"mode": "ANY" if kind == "required" else "NONE"}},
            ),
        }
        if body.wire in ways:
            key, value = ways[body.wire]
            body.body[key] = value
        elif kind == "required":
            body.body["toolConfig"]["toolChoice"] = {"any": {}}

    return change


def ids(how: Callable[[str], str], *, of: str = "both") -> Change:
    """Returns a change of the ids of calls, of results, or of both."""

    def change(body: Body) -> None:
        for found in [*(body.calls() if of != "results" else ()), *(body.results() if of != "calls" else ())]:
            if found.id is not None:
                found.id.value = how(found.id.value)

    return change


def on_each(find: Callable[[Body], Sequence[Any]], do: Callable[[Any], Any]) -> Change:
    """Returns a change that does something to each thing that `find` finds."""

    def change(body: Body) -> None:
        for found in find(body):
            do(found)

    return change


def as_arguments(value: Callable[[Body], Any], *, besides_last: bool = False) -> Change:
    """Returns a change that gives every call the same arguments, or every call but the last."""

    def change(body: Body) -> None:
        calls = body.calls()
        for call in calls[:-1] if besides_last else calls:
            call.arguments = value(body)

    return change


def doubled_names(body: Body) -> None:
    """Writes the name of each call twice."""
    for call in body.calls():
        call.name.value *= 2


def repeats_an_answer(body: Body) -> None:
    """Says the first answer twice."""
    for slot in body.texts("assistant")[:1]:
        body.say("assistant", str(slot.value), 0)


def marks(*, failed: bool) -> Change:
    """Returns a change that marks every result."""

    def change(body: Body) -> None:
        for result in body.results():
            result.mark(failed)

    return change


def swapped(body: Body) -> None:
    """Swaps the texts of the first two results."""
    found = [r for r in body.results() if isinstance(r.text.value, str)]
    if len(found) > 1:
        found[0].text.value, found[1].text.value = found[1].text.value, found[0].text.value


def says(role: str, text: str, at: int | None = None) -> Change:
    """Returns a change that adds a message to requests with an earlier answer."""

    def change(body: Body) -> None:
        if body.texts("assistant") or body.calls():
            body.say(role, text, at)

    return change


def drops_turns(keep: Callable[[int, int], bool]) -> Change:
    """Returns a change that keeps only some messages; system prompts stay."""

    def change(body: Body) -> None:
        prompts = [t for t in body.turns if t.get("role") in {"system", "developer"}]
        others = [t for t in body.turns if t not in prompts]
        body.turns[:] = [*prompts, *(t for i, t in enumerate(others) if keep(i, len(others)))]

    return change


def rounded(value: Any) -> Any:
    """Returns a value whose whole numbers have been floats."""
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return int(float(value)) if isinstance(value, int) and not isinstance(value, bool) else value


def cut(length: int, mark: str = "") -> Callable[[str], str]:
    """Returns a function that cuts texts."""
    return lambda text: text if len(text) <= length else text[:length] + mark


def added(more: str) -> Callable[[str], str]:
    """Returns a function that adds words at the end."""
    return lambda text: text + more


def first(more: str) -> Callable[[str], str]:
    """Returns a function that adds words at the beginning."""
    return lambda text: more + text


def usage_times(factor: int, *names: str) -> Callable[[Reply], Reply]:
    """Returns a change of the reported token counts."""
    return lambda reply: replace(
        reply,
        usage={k: v * factor if v is not None and k in names else v for k, v in reply.usage.items()},
    )


# --- Larger changes --------------------------------------------------------------------------------------


def _reverse(slots: list[Slot]) -> None:
    values = [slot.value for slot in slots]
    for slot, value in zip(slots, reversed(values), strict=True):
        slot.value = value


def _merge_answers(body: Body) -> None:
    found = body.texts("assistant")
    if len(found) > 1:
        found[0].value, found[1].value = f"{found[0].value}{found[1].value}", "."


def _drop_last(body: Body, roles: set[str]) -> None:
    found = [turn for turn in body.turns if turn.get("role") in roles and "tool_calls" not in turn]
    found = [turn for turn in found if not _calls_in(turn)]
    if found:
        body.turns.remove(found[-1])


def _calls_in(turn: Json) -> bool:
    text = json.dumps(turn)
    return any(f'"{key}"' in text for key in ("tool_use", "toolUse", "functionCall"))


def _drop_first(body: Body, role: str) -> None:
    found = [turn for turn in body.turns if turn.get("role") == role]
    if len(found) > 1:
        body.turns.remove(found[0])


def _repeat_earlier(body: Body) -> None:
    found = body.texts("user")
    if len(found) > 1:
        found[-1].value = found[0].value


def _without_prompt(body: Body) -> None:
    for key in ("system", "instructions", "systemInstruction", "system_instruction"):
        body.body.pop(key, None)
    body.turns[:] = [turn for turn in body.turns if turn.get("role") not in {"system", "developer"}]


def _copy_second(body: Body) -> None:
    calls = body.calls()
    if len(calls) > 1:
        calls[1].arguments = calls[0].arguments


def _swap_arguments(body: Body) -> None:
    calls = body.calls()
    if len(calls) > 1:
        calls[0].arguments, calls[1].arguments = calls[1].arguments, calls[0].arguments


def _drop_result(body: Body) -> None:
    def is_result(part: Json) -> bool:
        return (
            part.get("role") == "tool"
            or part.get("type") in {"function_call_output", "tool_result"}
            or "toolResult" in part
            or "functionResponse" in part
        )

    for holder in (body.turns, *(body.blocks(turn) for turn in body.turns)):
        found = next((part for part in holder if isinstance(part, dict) and is_result(part)), None)
        if found is not None:
            holder.remove(found)
            return


def _drop_key(value: Any, key: str) -> None:
    for each_one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _drop_key(each_one, key)
    if isinstance(value, dict):
        value.pop(key, None)


def _change_key(value: Any, key: str) -> None:
    for each_one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _change_key(each_one, key)
    if isinstance(value, dict) and isinstance(value.get(key), str):
        value[key] = value[key][4:8] + value[key][:4] + value[key][8:]


def _drop_thinking(body: Body) -> None:
    for turn in body.turns:
        blocks = body.blocks(turn)
        blocks[:] = [b for b in blocks if b.get("type") != "thinking" and "reasoningContent" not in b]


def _change_thinking(body: Body) -> None:
    for turn in body.turns:
        for block in body.blocks(turn):
            if block.get("type") == "thinking":
                block["thinking"] = f"I think: {block['thinking']}"


def _unsay(result: Any, text: str = "done") -> None:
    """Makes a failed result look like a good one."""
    told = str(result.text.value)
    if re.search("error|fail|unknown", told, re.IGNORECASE):
        result.mark(False)
        holder = result.text.holder
        result.text.key = "result" if "result" in holder and "error" not in holder else result.text.key
        result.text.value = text


def _prune_results(body: Body) -> None:
    for slot in result_texts(body)[:-1]:
        slot.value = "[pruned]"


def _below(schema: Any, key: str, depth: int = 0) -> Any:
    """Returns a schema without a key below its top."""
    if isinstance(schema, list):
        return [_below(item, key, depth) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: _below(v, key, depth + 1) for k, v in schema.items() if k != key or depth == 0}


def _only_required(schema: Any) -> Any:
    kept = {name: inner for name, inner in schema.get("properties", {}).items() if name != "day"}
    return {**schema, "properties": kept, "required": [n for n in schema.get("required", []) if n in kept]}


def _no_tools_after_a_result(body: Body) -> None:
    if body.results():
        for key in ("tools", "toolConfig", "tool_choice"):
            body.body.pop(key, None)


def _drop_choice(body: Body) -> None:
    body.body.pop("tool_choice", None)
    if body.wire == "gemini":
        body.body.pop("toolConfig", None)


def _json(body: Body) -> None:
    if body.wire == "openai-chat":
        body.body["response_format"] = {"type": "json_object"}
    elif body.wire == "gemini":
        body.options()["responseMimeType"] = "application/json"
    else:
        body.body["text"] = {"format": {"type": "json_object"}}


def _swap_exchanges(body: Body) -> None:
    prompts = [t for t in body.turns if t.get("role") in {"system", "developer"}]
    others = [t for t in body.turns if t not in prompts]
    if len(others) > 4:
        body.turns[:] = [*prompts, *others[2:4], *others[:2], *others[4:]]


def _as_user(body: Body) -> None:
    for turn in body.turns:
        if turn.get("role") in {"assistant", "model"}:
            turn["role"] = "user"
            for part in body.blocks(turn):
                if part.get("type") == "output_text":
                    part["type"] = "input_text"


# --- The bugs --------------------------------------------------------------------------------------------

#: What each bug changes of a request.
CHANGES: Mapping[str, Change] = {
    "placeholder_for_interrupted": each(said("assistant"), lambda _: "Continuing."),
    "interrupted_note": says("assistant", "[Interrupted by user.]", -1),
    "response_interrupted": each(said("assistant"), lambda _: "[response interrupted]"),
    "tool_trace_as_answer": says("assistant", "[tool:get_weather completed] result: 21C", 0),
    "drops_interrupted_answers": lambda b: b.turns.__setitem__(
        slice(None), [t for t in b.turns if t.get("role") not in {"assistant", "model"}]
    ),
    "merges_into_previous_answer": _merge_answers,
    "drops_last_answer": lambda b: _drop_last(b, {"assistant", "model"}),
    "repeats_answers": repeats_an_answer,
    "truncates_spoken_answers": each(said("assistant"), cut(6)),
    "strips_answers": each(said("assistant"), lambda t: t.split(" ")[0]),
    "answers_without_emoji": each(
        said("assistant"), lambda t: re.sub("[\u2600-\u27bf\U0001f000-\U0001ffff]", "", t)
    ),
    "escapes_answers": each(said("assistant"), html.escape),
    "prefixes_answers": each(said("assistant"), first("Assistant: ")),
    "citation_marks": each(said("assistant"), added(" [1]")),
    "cancelled_note_later": each(
        said("user"), added("\n<interrupted_turn>The user interrupted.</interrupted_turn>")
    ),
    "continuing_marker": says("assistant", "Summary: the user asked something.", 0),
    "empty_answer_kept": each(said("assistant"), lambda _: ""),
    "answers_swapped": lambda b: _reverse(b.texts("assistant")),
    "retry_repeats_the_user": lambda b: b.say("user", str(b.texts("user")[-1].value)),
    "retry_repeats_in_place": each(said("user"), lambda t: f"{t}\n{t}"),
    "continue_prompt": each(said("user"), added("\nContinue working on the task.")),
    "date_in_the_question": each(said("user"), first("Today is 2026-11-23. ")),
    "drops_unanswered": lambda b: _drop_first(b, "user"),
    "queued_message_lost": _repeat_earlier,
    "prompt_dropped": each(earlier("user"), lambda _: " "),
    "questions_cut": each(said("user"), cut(1000, "…")),
    "whitespace_collapsed": each(said("user"), lambda t: " ".join(t.split())),
    "markup_removed": each(said("user"), lambda t: re.sub("<[^>]*>", "", t)),
    "latin1_questions": each(said("user"), lambda t: t.encode("ascii", "replace").decode()),
    "lowercase_questions": each(said("user"), str.swapcase),
    "context_in_the_question": each(said("user"), first("Context: none.\n\n")),
    "system_lost_in_compaction": lambda b: (
        _without_prompt(b) if len(b.texts("user")) > 1 or b.texts("assistant") else None
    ),
    "system_never_sent": _without_prompt,
    "system_cut": each(said("system"), lambda t: t[:-5]),
    "system_extended": each(said("system"), added("\nBe helpful.")),
    "system_twice": each(said("system"), lambda t: f"{t}\n\n{t}"),
    "system_before": each(said("system"), first("You are an agent.\n")),
    "system_reworded": each(said("system"), str.lower),
    "arguments_emptied": arguments(lambda _: {}),
    "arguments_emptied_on_replay": as_arguments(lambda _: {}, besides_last=True),
    "arguments_backfilled": as_arguments(lambda b: b.calls()[0].arguments),
    "arguments_normalised": arguments(lambda a: {**a, "unit": "celsius"}),
    "digits_rounded": arguments(rounded),
    "digits_as_floats": arguments(lambda a: {k: float(v) if isinstance(v, int) else v for k, v in a.items()}),
    "digits_cut": arguments(lambda a: {k: v - v % 1000 if isinstance(v, int) else v for k, v in a.items()}),
    "numbers_as_text": arguments(lambda a: {k: str(v) for k, v in a.items()}),
    "arguments_compacted": arguments(lambda a: dict.fromkeys(a, "[compacted]")),
    "deep_arguments_flattened": arguments(lambda a: {k: json.dumps(v) for k, v in a.items()}),
    "names_concatenated": doubled_names,
    "calls_merged": _copy_second,
    "same_index_merged": _swap_arguments,
    "duplicate_index": arguments(lambda a: {k: str(v)[:-1] for k, v in a.items()}),
    "ids_regenerated": ids(lambda i: "".join(reversed(i))),
    "ids_sanitised": ids(lambda i: re.sub("[^A-Za-z0-9]", "", i), of="results"),
    "ids_of_calls_lost": ids(lambda i: i[:-1] + ("0" if i[-1] != "0" else "1"), of="calls"),
    "fifo_pairing": swapped,
    "reused_id_dropped": _drop_result,
    "history_args_blank": arguments(lambda a: dict.fromkeys(a, "")),
    "intent_recovered": arguments(lambda a: dict.fromkeys(a, "What's the weather in Paris?")),
    "signature_dropped": lambda b: _drop_key(b.turns, "thoughtSignature"),
    "signature_kept_on_one": lambda b: _change_key(b.turns, "thoughtSignature"),
    "thinking_dropped": _drop_thinking,
    "thinking_reworded": _change_thinking,
    "signature_reencoded": lambda b: _change_key(b.turns, "signature"),
    "errors_as_success": on_each(Body.results, _unsay),
    "inline_error_lost": on_each(Body.results, lambda r: _unsay(r, "ok")),
    "failed_status_ok": on_each(Body.results, lambda r: _unsay(r, " ")),
    "swarm_success": on_each(Body.results, lambda r: _unsay(r, "null")),
    "error_words_on_good": each(result_texts, first("Error: ")),
    "results_cut": each(result_texts, lambda t: t[:4]),
    "results_replaced": each(result_texts, lambda _: "[result omitted]"),
    "results_of_long_logs_cut": each(result_texts, cut(4096, "…")),
    "results_masked": each(result_texts, lambda t: re.sub(r"\d+", "[PII:phone]", t)),
    "results_emptied": each(result_texts, lambda _: ""),
    "earlier_results_pruned": _prune_results,
    "required_dropped": schemas(without("required")),
    "nested_required_lost": schemas(lambda s: _below(s, "required")),
    "nested_enum_in_prose": schemas(without("enum")),
    "constraints_lost": schemas(without("description", "enum", "pattern", "format", "minimum", "maximum")),
    "enum_to_string": schemas(without("enum")),
    "descriptions_stripped": schemas(without("description")),
    "optional_lost": schemas(_only_required),
    "items_lost": schemas(without("items")),
    "nested_flattened": schemas(lambda s: _below(s, "properties")),
    "tool_description_cut": lambda b: [t.update(description=t["description"][:100]) for t in b.tools()],
    "tools_dropped_after_results": _no_tools_after_a_result,
    "tools_renamed": lambda b: [t.update(name=f"{t['name']}_v2") for t in b.tools()],
    "schema_emptied": schemas(lambda _: {"type": "object", "properties": {}}),
    "limit_64_with_tools": options(limit=64, with_tools=True),
    "limit_128": options(limit=128),
    "limit_2048": options(limit=2048),
    "limit_512_on_later_turns": lambda b: options(limit=512)(b) if b.texts("assistant") else None,
    "limit_with_system": lambda b: options(limit=256)(b) if b.texts("system") else None,
    "stop_in_every_request": options(stop=["Observation:"]),
    "stop_on_observation": options(stop=["Observation:"], with_tools=True),
    "choice_forced": forced("required"),
    "choice_kept": forced("required"),
    "choice_forbidden": lambda b: forced("none")(b) if b.results() else None,
    "choice_dropped": _drop_choice,
    "stop_dropped": lambda b: [b.options().pop(k, None) for k in ("stop", "stop_sequences", "stopSequences")],
    "zero_temperature_dropped": lambda b: (
        b.options().pop("temperature", None) if b.options().get("temperature") == 0 else None
    ),
    "stop_leaks": options(stop=["three", "III"]),
    "json_always": _json,
    "temperature_zero_model_swapped": lambda b: b.body.update(
        model={"anthropic": "claude-haiku-4-5"}.get(b.wire, "gpt-4.1-mini")
    ),
    "only_last_turn": drops_turns(lambda i, n: i == n - 1),
    "first_turn_dropped": drops_turns(lambda i, n: i > 1 or n < 3),
    "middle_dropped": drops_turns(lambda i, n: i < 2 or i >= n - 7),
    "ten_messages": drops_turns(lambda i, n: i >= n - 11),
    "reversed_exchanges": _swap_exchanges,
    "history_after_restore": lambda b: (
        _drop_last(b, {"assistant", "model"}) if len(b.texts("user")) > 1 else None
    ),
    "roles_swapped": _as_user,
}

#: What each bug changes of a reply.
REPLIES: Mapping[str, Callable[[Reply], Reply]] = {
    "output_doubled": usage_times(2, "output"),
    "input_doubled": usage_times(2, "input"),
    "cache_doubled": usage_times(2, "cached"),
    "start_and_delta_added": usage_times(3, "input"),
    "usage_zero": usage_times(0, "output"),
    "both_doubled": usage_times(3, "input", "output"),
    "text_cut_in_reply": lambda r: replace(r, text=r.text[:-3]),
    "text_repeated_in_reply": lambda r: replace(r, text=r.text * 2),
    "text_stripped_in_reply": lambda r: replace(r, text=r.text.strip()),
    "pieces_lost": lambda r: replace(r, pieces=r.pieces[:-1]),
    "interrupted_is_complete": lambda r: replace(r, complete=True, error=None),
    "length_as_stop": lambda r: replace(r, stop="stop", complete=True),
    "answer_as_error": lambda r: Reply(error=RuntimeError("interrupted"), complete=False),
}


def listed(
    file: str,
    changes: Mapping[str, Change],
    replies: Mapping[str, Callable[[Reply], Reply]],
    answers: Mapping[str, Rewrite],
    chunks: Mapping[str, Chunks] = {},
    *,
    headers: Mapping[str, Heads] = {},
) -> dict[str, Mined]:
    """Returns the bugs of a list by name, with what each changes."""
    rows = tomllib.loads((Path(__file__).parent / "tables" / file).read_text("utf-8"))["bug"]
    kinds: Mapping[str, Mapping[str, Any]] = dict(
        zip(_HOW, (changes, replies, answers, chunks, headers), strict=True)
    )
    return {
        (name := row["name"]): Mined(**row, **{kind: how[name] for kind, how in kinds.items() if name in how})
        for row in rows
    }


_HOW = ("change", "reply", "answer", "chunks", "headers")
MINED = listed("mined.toml", CHANGES, REPLIES, {}, {})
