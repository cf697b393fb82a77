"""Everything that the user gave reaches the provider, once and in its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .....scenarios.messages import Text, ToolCall
from .....scenarios.script import Answer
from ....exchange import Item, Json
from ....observed_run import Run
from ....rule import Finding, broken
from .._rulebook import LOSS, MUST, SHOULD, at, book, found, objects


@book.rule(
    "SYS-001",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/api/messages",
        "https://github.com/interviewstreet/hiring-agent/issues/342",
    ],
)
def system_prompts_are_in_their_place(run: Run) -> Iterator[Finding]:
    """Every request has the system prompt in the place that the wire format defines for it.

    Why: elsewhere, the model reads it as something that the user said, or that it said itself.
    """
    for index, items in enumerate(run.said) if run.case.system else ():
        texts = "\n".join(item.text for item in items if item.kind == "system" or item.role == "system")
        fine = str(run.case.system) in texts
        yield found(fine, f"/exchanges/{index}/request", "the system prompt is not in its place")


def _is_said(item: Item, *, alone: bool) -> bool:
    """Tells whether this item has the system prompt. A repetition by the model does not count; with `alone`, one in
    the user's text does not count either.
    """
    return item.kind == "system" or (item.role == "user" and item.kind == "text" and not alone)


@book.rule("SYS-003", MUST, LOSS, source="https://github.com/olimorris/codecompanion.nvim/issues/2522")
def system_prompts_arrive_once(run: Run) -> Iterator[Finding]:
    """The whole system prompt is sent once and in order.

    Why: a model does not follow instructions that it did not get.
    """
    prompt = str(run.case.system)
    users = [part.text for ask in run.case.steps for part in ask.parts if isinstance(part, Text)]
    told = any(prompt in text for text in users)  # the user may say the same
    for index, items in enumerate(run.said) if run.case.system else ():
        count = sum(item.text.count(prompt) for item in items if _is_said(item, alone=told))
        yield found(count == 1, f"/exchanges/{index}/request", f"the system prompt is sent {count} times")


@book.rule("SCH-006", SHOULD, LOSS, source="https://github.com/elidickinson/pi-claude-bridge/issues/44")
def schemas_mean_the_same(run: Run) -> Iterator[Finding]:
    """The properties, enums, descriptions, nested objects and arrays of a tool's schema reach the provider.

    Why: a model chooses arguments by the schema, and guesses where it has none.
    """
    wanted = {tool.name: tool.parameters for tool in run.case.tools}
    for index, exchange in enumerate(run.exchanges):
        for name, schema in _schemas(exchange.request.body):
            lost = sorted(_words(wanted.get(name, {})) - _words(schema))
            yield found(not lost, f"/exchanges/{index}/request", f"the schema of {name} lost {lost}")


@book.rule("SCH-007", SHOULD, LOSS, source="https://github.com/maximhq/bifrost/issues/3362")
def tools_are_written_alike(run: Run) -> Iterator[Finding]:
    """Every request of a conversation has the same tools in the same order and form.

    Why: providers cache the beginning of a request, which contains the tools, byte for byte.
    """
    written = [json.dumps(list(_schemas(e.request.body))) for e in run.exchanges]
    for index, (before, after) in enumerate(pairwise(written)):
        if before != "[]":
            yield found(before == after, f"/exchanges/{index + 1}/request", "the tools changed")


@book.rule("PAIR-011", MUST, LOSS, source="https://github.com/posit-dev/positron/issues/7770")
def nothing_is_a_result(run: Run) -> Iterator[Finding]:
    """`None`, `""`, `0`, `False`, `[]` and `{}` are sent as results, and numbers and booleans stay readable.

    Why: a result that is left out because it is empty leaves its call without an answer.
    """
    values = {_call(r.name, r.arguments): r.value for r in run.tool_runs if not r.value and r.error is None}
    for index, items in enumerate(run.said):
        calls = {item.id or item.name: item for item in items if item.kind == "call"}
        results = [item for item in items if item.kind == "result"]
        for item in results:
            call = calls.get(item.id or item.name)
            key = _call(call.name, call.arguments) if call else ""
            if key in values and isinstance(values[key], bool | int):
                legible = str(values[key]).lower() in item.text.lower()
                yield found(legible, at(index, item), f"{values[key]!r} was sent as {item.text!r}")
            elif key in values:
                yield found(True, at(index, item), "")


@book.rule("HIS-005", SHOULD, LOSS, source="https://github.com/huggingface/tau/issues/385")
def foreign_histories_are_sent(run: Run) -> Iterator[Finding]:
    """A history from another provider is sent with all its calls and results, paired.

    Why: a user may continue a conversation with another provider, which has other rules for ids.
    """
    calls = [p for turn in run.case.history for p in turn.parts if isinstance(p, ToolCall)]
    if not calls or not run.said:
        return
    sent = [item for item in run.said[0] if item.kind == "call"]
    names = [item.name for item in sent]
    problem = f"{len(calls)} calls of the history became {len(sent)}"
    yield found(not sent or names == [c.name for c in calls], "/exchanges/0/request", problem)
    texts = " ".join(item.text for item in run.said[0])
    for turn in run.case.history:
        for part in turn.parts:
            if isinstance(part, Text):
                yield found(part.text in texts, "/exchanges/0/request", f"{part.text!r} is gone")


@book.rule(
    "USG-003",
    MUST,
    LOSS,
    source="https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create",
)
def streamed_counts_are_asked_for(run: Run) -> Iterator[Finding]:
    """A client that reports token counts of streams requests them from Chat Completions (`stream_options`).

    Why: Chat Completions sends the counts of a stream only if they are requested.
    """
    if run.wire != "openai-chat" or run.vendor != "openai":
        return
    if any(reply.usage.get("input") is not None for reply in run.replies):
        for index, exchange in enumerate(run.exchanges):
            asked = (exchange.request.body.get("stream_options") or {}).get("include_usage")
            if exchange.request.stream:
                yield found(asked, f"/exchanges/{index}/request", "`stream_options.include_usage` is missing")


@book.rule(
    "UNI-002",
    MUST,
    LOSS,
    source=[
        "https://www.rfc-editor.org/rfc/rfc8259#section-8.2",
        "https://github.com/anthropics/claude-code/issues/3277",
    ],
)
def half_characters_do_no_harm(run: Run) -> Iterator[Finding]:
    """Half of a surrogate pair in a text is replaced, or refused before the request; it is never sent.

    Why: half of a pair is not a character, and APIs refuse a body that contains it. Any error is accepted if
    nothing was sent, even one of the language itself. A decoding error after the request counts as a crash.
    """
    halves = [p for ask in run.case.steps for p in ask.parts if isinstance(p, Text) and _is_half(p.text)]
    for index, reply in enumerate(run.replies) if halves else ():
        crashed = isinstance(reply.error, UnicodeError) and bool(run.exchanges)
        yield found(not crashed, f"/replies/{index}", f"it raises {reply.error!r}")
    for index, exchange in enumerate(run.exchanges) if halves else ():
        whole = not _is_half(json.dumps(exchange.request.body, ensure_ascii=False))
        yield found(whole, f"/exchanges/{index}/request", "half a character was sent")


@book.rule(
    "UNI-003",
    SHOULD,
    LOSS,
    source=[
        "https://www.rfc-editor.org/rfc/rfc8259#section-6",
        "https://github.com/earendil-works/pi/issues/8943",
    ],
)
def numbers_keep_their_value(run: Run) -> Iterator[Finding]:
    """Large integers, -0.0 and long fractions in arguments reach the tool unchanged.

    Why: a rounded number is another number, and a rounded id names another record.
    """
    said = [run.approved(call) for _, calls in run.calls() for call in calls]
    wanted = [dict(given) for given in said if given is not None and _numbers(given)]
    if wanted and run.tool_runs:
        got = [dict(r.arguments) for r in run.tool_runs if _numbers(r.arguments)]
        same = _written(got) == _written(wanted)
        yield found(same, "/tool_runs", f"the tool got {got}, the model said {wanted}")


@book.rule(
    "EMP-003",
    MUST,
    LOSS,
    source="https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons",
)
def empty_answers_are_answers(run: Run) -> Iterator[Finding]:
    """An empty answer gives a defined result, and the next request is valid.

    Why: a model may answer with nothing, for example after a tool's result, and providers refuse empty
    messages.
    """
    empty = [index for index, step in run.answered() if isinstance(step, Answer) and not step.parts]
    for index in empty:
        reply = run.replies[index] if index < len(run.replies) else None
        if reply is not None:
            yield found(reply.error is None, f"/replies/{index}", f"it raises {reply.error!r}")
        if index + 1 < len(run.exchanges):
            after = run.exchanges[index + 1].response
            legal = after is None or after.status < 400
            yield found(legal, f"/exchanges/{index + 1}/request", "the next request is refused")
        elif index + 1 < len(run.case.steps):
            yield broken(f"/exchanges/{index}", "no further request was sent")


@book.rule("HIS-004", MUST, LOSS, source="https://github.com/Chainlit/chainlit/issues/733")
def conversations_do_not_mix(run: Run) -> Iterator[Finding]:
    """Several conversations of one adapter do not share messages or answers.

    Why: one client object may serve many users, who must not see each other's messages.
    """
    if len(run.case.speakers) < 2:
        return
    told = {
        who: {p.text for a in run.case.steps if a.who == who for p in a.parts if isinstance(p, Text)}
        for who in run.case.speakers
    }
    for index, items in enumerate(run.said):
        texts = {item.text for item in items if item.role == "user"}
        of_one = any(texts <= own for own in told.values())
        yield found(of_one, f"/exchanges/{index}/request", "it says what was said in another conversation")


@book.rule("ASY-005", SHOULD, LOSS, source="https://github.com/anthropics/claude-code/issues/79241")
def replies_go_to_their_callers(run: Run) -> Iterator[Finding]:
    """Each of several simultaneous conversations gets the answers to its own questions.

    Why: an answer in another conversation is wrong there, and may be private.
    """
    if len(run.case.speakers) < 2 or "async" not in run.mode:
        return
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        yield found(reply.text == wanted.text, f"/replies/{index}", f"{reply.text!r} is another's answer")


def _schemas(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the tools of a request with their schemas, in any format."""
    for tool in objects([body.get("tools"), body.get("toolConfig")]):
        keys = ("parameters", "input_schema", "parametersJsonSchema", "inputSchema")
        schema = next((tool[key] for key in keys if isinstance(tool.get(key), dict)), None)
        if schema is not None and isinstance(tool.get("name"), str):
            yield tool["name"], schema.get("json", schema)


def _words(schema: Any) -> set[str]:
    """Returns the names, values and descriptions of a schema: all that a model reads of it."""
    found: set[str] = set()
    for one in objects(schema):
        found |= set(one.get("properties") or {}) if isinstance(one.get("properties"), dict) else set()
        found |= {str(value) for value in one.get("enum") or () if value is not None}
        found |= {one["description"]} if isinstance(one.get("description"), str) else set()
    return found


def _call(name: str, arguments: Any) -> str:
    return f"{name}({json.dumps(arguments, sort_keys=True, default=dict)})"


def _is_half(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _numbers(arguments: Any) -> bool:
    return any(isinstance(v, int | float) and not isinstance(v, bool) for v in dict(arguments).values())


def _written(values: list[dict[str, Any]]) -> str:
    """Returns JSON with exact numbers. A library may have converted a text."""
    return json.dumps(values, sort_keys=True, default=repr)
