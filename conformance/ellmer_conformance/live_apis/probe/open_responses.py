"""The specification Open Responses, version 2026-04-24 (https://www.openresponses.org): its questions, its shapes, and its rules.

Every rule is a SHOULD, because a server that speaks OpenAI's Responses API need not claim this specification; OpenAI's own API
does not send its `[DONE]`. Not judged, because no request can provoke it: the limit of 60 minutes of a WebSocket, truncation,
compaction by the server (`context_management`), and the meaning of `service_tier`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...contract.observed.exchange import Json
from ...contract.readers.json_access import items_of, object_of
from ...contract.rule import Finding, Kind, Level, broken, met
from .answers import Heard, Shape, misfits
from .questions import SCHEMA, TOOL
from .server_rules import HERE, book, found

NAME, VERSION = "Open Responses", "2026-04-24"
WIRE = "openai-responses"
SPECIFICATION = "https://www.openresponses.org/specification/2026-04-24"
REFERENCE = "https://www.openresponses.org/reference/2026-04-24"
SHOULD, LOSS = Level.SHOULD, Kind.LOSS

# --- Questions -------------------------------------------------------------------------------------------


_HELLO = "Say hello in French, in one short sentence."
_FUNCTION: Json = {"type": "function", "name": TOOL[0], "description": TOOL[1], "parameters": SCHEMA}
_TIME: Json = {**_FUNCTION, "name": "get_time", "description": "Current time in a city."}
_WEATHER = "What is the weather in Paris?"
_MISSING = "resp_00000000000000000000000000000000"

#: By name: the feature that the question needs, or `""`, and its fields. `{id}` is the id of the answer to `stored`.
QUESTIONS: Mapping[str, tuple[str, Json]] = {
    "system_message": ("", {"input": [{"type": "message", "role": "system", "content": "Be brief."}, {"type": "message", "role": "user", "content": _HELLO}]}),
    "several_turns": ("", {"input": [{"type": "message", "role": "user", "content": "My name is Ada."}, {"type": "message", "role": "assistant", "content": "Hello Ada."}, {"type": "message", "role": "user", "content": "What is my name?"}]}),
    "cut_short": ("", {"input": "Count from 1 to 500, in words.", "max_output_tokens": 16}),
    "no_tool": ("tools", {"input": _WEATHER, "tools": [_FUNCTION], "tool_choice": "none"}),
    "named_tool": ("tools", {"input": _WEATHER, "tools": [_TIME, _FUNCTION], "tool_choice": {"type": "function", "name": TOOL[0]}}),
    "allowed_tools": ("allowed_tools", {"input": "What is the time in Paris?", "tools": [_TIME, _FUNCTION], "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": TOOL[0]}]}}),
    "stored": ("", {"input": "Remember the word cobalt.", "store": True}),
    "continued": ("previous_response_id", {"input": "Which word?", "previous_response_id": "{id}"}),
    "unknown_response": ("previous_response_id", {"input": _HELLO, "previous_response_id": _MISSING}),
}  # fmt: skip

#: What a server may lack: the answer says so, and no rule is broken.
FEATURES = ("tools", "images", "previous_response_id", "allowed_tools", "compaction", "WebSocket")

#: The turns on one WebSocket connection, in order. `{id}` is the id of the answer before.
TURNS: Mapping[str, Json] = {
    "websocket_first": {"input": "Remember the word cobalt."},
    "websocket_continued": {"input": "Which word?", "previous_response_id": "{id}"},
    "websocket_prepared": {"input": "Prepare to say hello.", "generate": False},
    "websocket_generated": {"input": "Say hello.", "previous_response_id": "{id}"},
    "websocket_unknown": {"input": "Which word?", "previous_response_id": _MISSING},
    "websocket_again": {"input": "Remember the word ember."},
    "websocket_failed": {"previous_response_id": "{id}", "input": [{"type": "function_call_output", "call_id": "call_missing", "output": "of no call"}]},
    "websocket_evicted": {"input": "Which word?", "previous_response_id": "{id}"},
}  # fmt: skip


def filled(fields: Json, id: str) -> Json:
    """Returns the fields with the id of an answer."""
    return {name: id if value == "{id}" else value for name, value in fields.items()}


# --- Shapes ----------------------------------------------------------------------------------------------


_OR_TEXT, _OR_OBJECT, _OR_INT, _NUMBER = (str, None), (dict, None), (int, None), (int, float)
_TOKENS: dict[str, Shape] = {"input_tokens": int, "output_tokens": int, "total_tokens": int}
_TOKENS |= {
    "input_tokens_details": {"cached_tokens": int},
    "output_tokens_details": {"reasoning_tokens": int},
}
RESOURCE: Shape = {
    "id": str, "object": "response", "created_at": int, "completed_at": _OR_INT, "status": str,
    "incomplete_details": _OR_OBJECT, "model": str, "previous_response_id": _OR_TEXT,
    "instructions": _OR_TEXT, "output": [{"type": str, "id": str}], "error": _OR_OBJECT, "tools": [{"type": str}],
    "tool_choice": (str, dict), "truncation": str, "parallel_tool_calls": bool, "text": {"format": {"type": str}},
    "top_p": _NUMBER, "presence_penalty": _NUMBER, "frequency_penalty": _NUMBER, "top_logprobs": int,
    "temperature": _NUMBER, "reasoning": _OR_OBJECT, "usage": _OR_OBJECT, "max_output_tokens": _OR_INT,
    "max_tool_calls": _OR_INT, "store": bool, "background": bool, "service_tier": str, "metadata": dict,
    "safety_identifier": _OR_TEXT, "prompt_cache_key": _OR_TEXT,
}  # fmt: skip
COMPACTED: Shape = {"id": str, "object": "response.compaction", "output": [{"type": str, "id": str}], "created_at": int, "usage": _TOKENS}  # fmt: skip
ITEMS: Mapping[str, Shape] = {
    "message": {"id": str, "status": str, "role": str, "content": [{"type": str}]},
    "function_call": {"id": str, "status": str, "call_id": str, "name": str, "arguments": str},
    "function_call_output": {"id": str, "status": str, "call_id": str, "output": (str, list)},
    "reasoning": {"id": str, "summary": [{"type": str}]},
    "compaction": {"id": str, "encrypted_content": str},
}
PARTS: Mapping[str, Shape] = {
    "output_text": {"text": str, "annotations": list},
    "refusal": {"refusal": str},
    "reasoning_text": {"text": str},
    "summary_text": {"text": str},
    "text": {"text": str},
    "input_text": {"text": str},
}
_PART = {"item_id": str, "output_index": int, "content_index": int}
_SUMMARY = {"item_id": str, "output_index": int, "summary_index": int}
_CALL = {"item_id": str, "output_index": int}
EVENTS: Mapping[str, Shape] = {
    **{f"response.{word}": {"response": {"id": str, "object": "response", "status": str, "output": list}} for word in ("created", "queued", "in_progress", "completed", "failed", "incomplete")},
    **{f"response.output_item.{word}": {"output_index": int, "item": {"type": str, "id": str}} for word in ("added", "done")},
    **{f"response.content_part.{word}": _PART | {"part": {"type": str}} for word in ("added", "done")},
    **{f"response.reasoning_summary_part.{word}": _SUMMARY | {"part": {"type": str}} for word in ("added", "done")},
    **{f"response.{part}.delta": _PART | {"delta": str} for part in ("output_text", "refusal", "reasoning")},
    "response.output_text.done": _PART | {"text": str},
    "response.refusal.done": _PART | {"refusal": str},
    "response.reasoning.done": _PART | {"text": str},
    "response.reasoning_summary_text.delta": _SUMMARY | {"delta": str},
    "response.reasoning_summary_text.done": _SUMMARY | {"text": str},
    "response.output_text.annotation.added": _PART | {"annotation_index": int, "annotation": _OR_OBJECT},
    "response.function_call_arguments.delta": _CALL | {"delta": str},
    "response.function_call_arguments.done": _CALL | {"arguments": str},
    "error": {"error": {"message": str}},
}  # fmt: skip
STATES = frozenset({"queued", "in_progress", "completed", "incomplete", "failed"})
ITEM_STATES = frozenset({"in_progress", "completed", "incomplete", "failed"})
_LAST = {"response.completed", "response.failed", "response.incomplete"}


# --- What was answered -----------------------------------------------------------------------------------


def is_told(heard: Heard) -> bool:
    """Tells whether it is a response of this specification, streamed or not."""
    fine = heard.kind in {"question", "specification"} and heard.status == 200
    return heard.wire == WIRE and fine and heard.question.name != "compacted"


def is_stream(heard: Heard) -> bool:
    """Tells whether it is a stream of events, over HTTP or a WebSocket."""
    return is_told(heard) and (heard.question.stream or on_websocket(heard))


def on_websocket(heard: Heard) -> bool:
    """Tells whether it came over a WebSocket."""
    return heard.question.name.startswith("websocket")


def data_of(heard: Heard) -> list[Json]:
    """Returns the JSON of the events."""
    return [dict(event.data) for event in heard.events if event.data]


def resource_of(heard: Heard) -> Json | None:
    """Returns the response object: the body, or that of the last event."""
    if not is_stream(heard):
        return heard.value if is_told(heard) and isinstance(heard.value, dict) else None
    ends = [each for each in data_of(heard) if each.get("type") in _LAST]
    return dict(object_of(ends[-1].get("response"))) if ends else None


def error_of(heard: Heard) -> Json:
    """Returns the error of a turn on a WebSocket, or `{}`."""
    told = next((each for each in data_of(heard) if each.get("type") == "error"), {})
    return dict(object_of(told.get("error"))) or dict(object_of((resource_of(heard) or {}).get("error")))


def _calls(resource: Json) -> list[str]:
    items = [object_of(item) for item in items_of(resource.get("output"))]
    return [str(item.get("name")) for item in items if item.get("type") == "function_call"]


def _wrong_items(items: Sequence[object], place: str) -> Iterator[tuple[str, str]]:
    for number, item in enumerate(object_of(each) for each in items):
        here, kind = f"{place}/{number}", str(item.get("type"))
        yield from misfits(item, ITEMS.get(kind, {"id": str, "status": str}), here)
        for part_number, part in enumerate(object_of(each) for each in items_of(item.get("content"))):
            yield from misfits(part, PARTS.get(str(part.get("type")), {}), f"{here}/content/{part_number}")


def _broken_or_met(wrong: Sequence[tuple[str, str]]) -> Iterator[Finding]:
    yield from (broken(f"{HERE}{place}", problem) for place, problem in wrong)
    if not wrong:
        yield met(HERE)


# --- Rules: objects and events ---------------------------------------------------------------------------


@book.rule("OPR-001", SHOULD, LOSS, source=REFERENCE)
def resources_have_their_fields(heard: Heard) -> Iterator[Finding]:
    """Open Responses: a response has all fields of `ResponseResource`, and its items and contents have theirs.

    Why: clients of the specification read these fields without a check. Fix: add the field that the finding names, with
    null where there is no value.
    """
    resource = resource_of(heard)
    if resource is not None:
        wrong = [*misfits(resource, RESOURCE), *_wrong_items(items_of(resource.get("output")), "/output")]
        if resource.get("usage") is not None:
            wrong += misfits(resource["usage"], _TOKENS, "/usage")
        yield from _broken_or_met(wrong)


@book.rule("OPR-002", SHOULD, LOSS, source=REFERENCE)
def events_have_the_fields_of_their_type(heard: Heard) -> Iterator[Finding]:
    """Open Responses: every event has a `sequence_number` and the fields of its type.

    Why: clients of the specification read these fields without a check. The envelope of an error on a WebSocket has no
    `sequence_number`. Fix: count the events of a response from 0, and write the number into each.
    """
    if not is_stream(heard):
        return
    wrong = []
    for number, data in enumerate(data_of(heard)):
        kind = str(data.get("type"))
        envelope = kind == "error" and on_websocket(heard)
        shape = {**({} if envelope else {"sequence_number": int}), **EVENTS.get(kind, {})}
        wrong += [(f"/{number}{place}", f"{kind}: {problem}") for place, problem in misfits(data, shape)]
    yield from _broken_or_met(wrong)


@book.rule("OPR-003", SHOULD, LOSS, source=f"{SPECIFICATION}#http-responses")
def streams_are_framed(heard: Heard) -> Iterator[Finding]:
    """Open Responses: a stream has the content type `text/event-stream`, each event has its type as name, and `[DONE]` is
    the last event.

    Why: a client of the specification waits for `[DONE]`. OpenAI's own API does not send it. Fix: write the `event:`
    line from the event's type, and end with `data: [DONE]`.
    """
    if is_stream(heard) and not on_websocket(heard):
        yield found(
            heard.content_type == "text/event-stream", HERE, f"the content type is {heard.content_type!r}"
        )
        for number, event in enumerate(heard.events):
            if event.data and event.name != event.data.get("type"):
                problem = f"the event {event.data.get('type')!r} is named {event.name!r}"
                yield broken(f"{HERE}/{number}", problem)
        last = heard.events[-1].text.strip() if heard.events else ""
        yield found(last == "[DONE]", HERE, "the last event is not `[DONE]`")


@book.rule("OPR-004", SHOULD, LOSS, source=f"{SPECIFICATION}#items-are-streamable")
def items_live_in_order(heard: Heard) -> Iterator[Finding]:
    """Open Responses: `sequence_number` grows, an item is added, then its parts, then their deltas; each part and each item
    is done once, and a text is the sum of its deltas. An error within a stream is followed by `response.failed`.

    Why: clients build the items from these events. Fix: send `…added` before the deltas of an item or part, and `…done`
    once after them.
    """
    if is_stream(heard):
        yield from _broken_or_met([("", problem) for problem in _out_of_order(data_of(heard))])


def _out_of_order(events: Sequence[Json]) -> Iterator[str]:
    numbers = [n for n in (each.get("sequence_number") for each in events) if isinstance(n, int)]
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        yield f"the sequence numbers do not grow: {numbers[:12]}"
    yield from _lives(events, "item", "response.output_item", ("output_index",))
    yield from _lives(events, "part", "response.content_part", ("output_index", "content_index"))
    yield from _sums(events)
    kinds = [each.get("type") for each in events]
    if "error" in kinds and numbers and kinds[-1] != "response.failed":
        yield "an error within the stream is not followed by response.failed"


def _lives(events: Sequence[Json], name: str, prefix: str, fields: Sequence[str]) -> Iterator[str]:
    """Yields what is wrong with the lives of items or parts: each is added, used and done."""
    states: dict[tuple[Any, ...], str] = {}
    for data in (each for each in events if all(field in each for field in fields)):
        key, kind = tuple(data[field] for field in fields), data.get("type")
        state, called = states.get(key, "not added"), f"{name} {'/'.join(map(str, key))}"
        if kind == f"{prefix}.added":
            if state != "not added":
                yield f"{called} is added twice"
            states[key] = "open"
        elif state != "open":
            yield f"{kind} comes for {called}, which is {state}"
        if kind == f"{prefix}.done":
            states[key] = "done"
    if events and events[-1].get("type") == "response.completed":
        yield from (f"{name} {'/'.join(map(str, k))} is never done" for k, v in states.items() if v == "open")


def _sums(events: Sequence[Json]) -> Iterator[str]:
    """Yields the texts that are not the sum of their deltas."""
    said: dict[tuple[Any, ...], str] = {}
    for data in events:
        kind, _, end = str(data.get("type")).rpartition(".")
        key = (kind, data.get("output_index"), data.get("content_index"), data.get("summary_index"))
        if end == "delta":
            said[key] = said.get(key, "") + str(data.get("delta"))
        elif end == "done" and key in said:
            whole = data.get("text", data.get("arguments", data.get("refusal")))
            if whole != said[key]:
                yield f"the deltas say {said[key][:60]!r}, and {kind}.done says {str(whole)[:60]!r}"


@book.rule("OPR-005", SHOULD, LOSS, source=f"{SPECIFICATION}#items-are-state-machines")
def states_are_those_of_the_specification(heard: Heard) -> Iterator[Finding]:
    """Open Responses: the states of a response and of its items are those of the specification. An incomplete item is the
    last one, and its response is incomplete, too.

    Why: clients decide by the states whether an answer is whole. Fix: set `incomplete` on the item and on its response
    when the token limit ends them.
    """
    resource = resource_of(heard)
    if resource is None:
        return
    status, items = resource.get("status"), [object_of(each) for each in items_of(resource.get("output"))]
    yield found(status in STATES, HERE, f"the status of the response is {status!r}")
    states = [item["status"] for item in items if "status" in item]
    standard = [
        object_of(i).get("status") for i in items if str(i.get("type")) in {"message", "function_call"}
    ]
    for state in standard:
        yield found(state in ITEM_STATES, HERE, f"the status of an item is {state!r}")
    if "incomplete" in states:
        yield found(states.index("incomplete") == len(states) - 1, HERE, "an item follows an incomplete item")
        yield found(status == "incomplete", HERE, f"an item is incomplete, and its response is {status!r}")
    if status == "incomplete":
        reason = object_of(resource.get("incomplete_details")).get("reason")
        yield found(isinstance(reason, str), HERE, "an incomplete response has no reason")
    if status == "completed" and "in_progress" in states:
        yield broken(HERE, "a completed response has an item in progress")


@book.rule("OPR-006", SHOULD, LOSS, source=f"{SPECIFICATION}#extending-open-responses")
def own_types_have_a_prefix(heard: Heard) -> Iterator[Finding]:
    """Open Responses: an item or an event that the specification does not have is prefixed with the implementer's name, as
    in `acme:search_result`.

    Why: a client can pass over what it does not know, if it can tell it from a wrong name. Fix: put your own name and a
    colon before the type.
    """
    resource = resource_of(heard) or {}
    named = [str(object_of(each).get("type")) for each in items_of(resource.get("output"))]
    unknown = [name for name in named if name not in ITEMS and ":" not in name]
    if is_stream(heard):
        kinds = [str(each.get("type")) for each in data_of(heard)]
        unknown += [name for name in kinds if name not in EVENTS and ":" not in name]
    if is_told(heard):
        yield found(not unknown, HERE, f"{', '.join(sorted(set(unknown)))} has no prefix")


# --- Rules: requests -------------------------------------------------------------------------------------


@book.rule("OPR-007", SHOULD, LOSS, source=f"{SPECIFICATION}#tool_choice")
def the_choice_of_tools_is_kept(heard: Heard) -> Iterator[Finding]:
    """Open Responses: with `tool_choice: "none"` no tool is called, and with a named function this function is called.

    Why: a program relies on the choice: it runs the tool, or it shows the text. Fix: leave the tools out of the prompt
    for `none`, and constrain the output for a named function.
    """
    resource = resource_of(heard)
    if resource is None or resource.get("status") != "completed":
        return
    if heard.question.name == "no_tool":
        yield found(not _calls(resource), HERE, f"no tool may be called, and {_calls(resource)} is")
    if heard.question.name == "named_tool":
        right = set(_calls(resource)) == {TOOL[0]}
        yield found(right, HERE, f"{TOOL[0]} is to be called, and the calls are {_calls(resource)}")


@book.rule("OPR-008", SHOULD, LOSS, source=f"{SPECIFICATION}#allowed_tools")
def only_allowed_tools_are_called(heard: Heard) -> Iterator[Finding]:
    """Open Responses: with `allowed_tools`, no other tool is called.

    Why: the specification makes it a hard constraint, which programs use for rights. Fix: constrain the output to the
    allowed tools, and keep the others in the prompt only.
    """
    resource = resource_of(heard)
    if resource is not None and heard.question.name == "allowed_tools":
        others = [name for name in _calls(resource) if name != TOOL[0]]
        yield found(not others, HERE, f"only {TOOL[0]} is allowed, and {others} is called")


@book.rule("OPR-009", SHOULD, LOSS, source=f"{SPECIFICATION}#previous_response_id")
def a_response_continues_another(heard: Heard) -> Iterator[Finding]:
    """Open Responses: a response names the one that it continues, and an unknown `previous_response_id` is an error.

    Why: an answer without the conversation before it is wrong without a sign of it. A server that refuses the field
    lacks the feature, which breaks no rule. Fix: store each response by its id, and answer 400 to an id that you do not
    have.
    """
    if heard.wire != WIRE or heard.kind != "specification":
        return
    resource = resource_of(heard)
    if heard.question.name == "continued" and resource is not None:
        asked = heard.exchange.request.body.get("previous_response_id")
        told = resource.get("previous_response_id")
        yield found(told == asked, HERE, f"it continues {asked!r}, and names {told!r}")
    if heard.question.name == "unknown_response" and heard.able.get("previous_response_id"):
        yield found(400 <= heard.status < 500, HERE, f"an unknown response is answered with {heard.status}")


@book.rule("OPR-010", SHOULD, LOSS, source=f"{SPECIFICATION}#errors")
def errors_have_type_code_and_parameter(heard: Heard) -> Iterator[Finding]:
    """Open Responses: an error has `type`, `code`, `message` and `param`.

    Why: clients decide by type and code whether to try again. The answer of a route that does not exist is not judged.
    Fix: write all four fields, with null for a `param` that there is not.
    """
    if heard.wire == WIRE and heard.kind in {"question", "malformed"} and 400 <= heard.status < 500:
        shape = {"error": {"type": str, "code": _OR_TEXT, "message": str, "param": _OR_TEXT}}
        yield from _broken_or_met(list(misfits(heard.value, shape)))


@book.rule("OPR-011", SHOULD, LOSS, source=f"{REFERENCE}#compact")
def compaction_gives_items(heard: Heard) -> Iterator[Finding]:
    """Open Responses: `POST /responses/compact` answers with a `response.compaction` and its items.

    Why: the items are the input of the next request. A server without the endpoint lacks the feature, which breaks no
    rule. Fix: return the items of the shortened conversation.
    """
    if heard.question.name == "compacted" and heard.status == 200:
        items = items_of(object_of(heard.value).get("output"))
        yield from _broken_or_met([*misfits(heard.value, COMPACTED), *_wrong_items(items, "/output")])


# --- Rules: WebSockets -----------------------------------------------------------------------------------


@book.rule("OPR-012", SHOULD, LOSS, source=f"{SPECIFICATION}#websocket-transport")
def turns_end_on_a_websocket(heard: Heard) -> Iterator[Finding]:
    """Open Responses: each `response.create` on a WebSocket ends with a terminal event of one response, or with an error.

    Why: the client may send the next turn only then. A server without WebSockets lacks the feature, which breaks no
    rule. Fix: send `response.completed`, `response.incomplete`, `response.failed` or an error before you read the next
    message.
    """
    if on_websocket(heard) and heard.status == 200:
        data = data_of(heard)
        ends = bool(data) and (data[-1].get("type") in _LAST or data[-1].get("type") == "error")
        last = data[-1].get("type") if data else "nothing"
        yield found(ends, HERE, f"the last event of {heard.question.name} is {last}")
        ids = {object_of(each.get("response")).get("id") for each in data if "response" in each}
        yield found(
            len(ids) <= 1, HERE, f"events of several responses come in one turn: {sorted(map(str, ids))}"
        )


@book.rule("OPR-013", SHOULD, LOSS, source=f"{SPECIFICATION}#websocket-continuation")
def a_websocket_remembers_its_last_response(heard: Heard) -> Iterator[Finding]:
    """Open Responses: on a WebSocket, a response with `store: false` can be continued, also one that was prepared with
    `generate: false`.

    Why: the connection keeps the last response, so that a client sends only what is new. Fix: keep the last response of
    each connection in memory until it closes.
    """
    continued = {"websocket_continued", "websocket_prepared", "websocket_generated"}
    if heard.question.name in continued and heard.status == 200:
        told = resource_of(heard) or {}
        fine = told.get("status") in {"completed", "incomplete"} and isinstance(told.get("id"), str)
        yield found(fine, HERE, f"{heard.question.name} ends with {error_of(heard) or told.get('status')}")
        if heard.question.name == "websocket_prepared" and fine:
            yield found(not told.get("output"), HERE, "a prepared response has output")


@book.rule("OPR-014", SHOULD, LOSS, source=f"{SPECIFICATION}#websocket-errors")
def a_lost_response_is_named_on_a_websocket(heard: Heard) -> Iterator[Finding]:
    """Open Responses: on a WebSocket, a response that is unknown, or whose continuation failed, is answered with the error
    `previous_response_not_found`, in an envelope with `status` and `error.code`.

    Why: the client then sends the whole conversation again. Fix: send the error object inside of an event with its
    `status`, and keep the connection open.
    """
    if heard.question.name in {"websocket_unknown", "websocket_evicted"} and heard.status == 200:
        code = error_of(heard).get("code")
        yield found(
            code == "previous_response_not_found", HERE, f"{heard.question.name}: the code is {code!r}"
        )
        told = next((each for each in data_of(heard) if each.get("type") == "error"), None)
        if told is not None:
            yield from _broken_or_met(
                list(misfits(told, {"status": int, "error": {"code": str, "message": str}}))
            )
    if heard.question.name == "websocket_failed" and heard.status == 200:
        yield found(error_of(heard), HERE, "the output of an unknown call is no error")


RULES = tuple(name for name in book.rules if name.startswith("OPR-"))


def as_stream(messages: Sequence[str]) -> bytes:
    """Returns the messages of a WebSocket as the bytes of a stream, so that one rule judges both."""
    return "".join(_as_event(each) for each in messages).encode()


def _as_event(message: str) -> str:
    try:
        told = json.loads(message)
    except ValueError:
        return f"data: {message.splitlines()[0] if message else ''}\n\n"
    return f"event: {object_of(told).get('type', '')}\ndata: {json.dumps(told)}\n\n"
