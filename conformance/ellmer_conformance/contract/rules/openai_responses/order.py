"""Items that the input must have together: calls, outputs and reasoning, whose order is seldom restricted, and items of
earlier answers that are sent back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from ...observed.exchange import Json, Request
from ...readers.json_access import first_after
from ...readers.openai_responses import items, type_of
from ...rule import Finding, Refusal, broken, met
from .._media import redacted
from .._openai.refusals import path, refused
from ._refusals_and_examples import ASK, MUST, REJECT, body, book, call, output

THOUGHT: Json = {"type": "reasoning", "id": "rs_1", "summary": []}
SEALED: Json = {**THOUGHT, "encrypted_content": "gAAAA"}
_LINKED = ("function_call", "custom_tool_call", "message")
_MADE = tuple(f"{name}_{7:036x}5ea1ed{end:08x}" for name, end in (("rs", 0), ("fc", 1)))
#: Where the reasoning can be that a request does not repeat.
ELSEWHERE = frozenset({"previous_response_id", "conversation"})


@book.rule(
    "REQ-073",
    MUST,
    REJECT,
    source=[
        "https://github.com/1jehuang/jcode/issues/1028",
        "https://github.com/BerriAI/litellm/issues/13420",
    ],
    refusal=refused("Unknown parameter: '{path}'.", code="unknown_parameter", param="{path}"),
    examples=[body(ASK, SEALED, call("a"), output("a"), model="gpt-5")],
    counterexamples=[body(ASK, {**SEALED, "status": "completed"}, call("a"), output("a"), model="gpt-5")],
)
def reasoning_has_no_status(request: Request) -> Iterator[Finding]:
    """A reasoning item is sent back without its `status`, although the official types have it.

    Why: an SDK writes `"status": null` or the status of the answer. Fix: leave it out.
    """
    for pointer, item in items(request.body):
        if type_of(item) == "reasoning":
            place = f"{pointer}/status"
            wrong = "status" in item
            yield (
                broken(place, "an item of this type has no `status`", path=path(place))
                if wrong
                else met(pointer)
            )


@book.rule(
    "STO-019",
    MUST,
    REJECT,
    source=[
        "https://github.com/vercel/ai/issues/7543",
        "https://github.com/anomalyco/opencode/issues/7724",
        "https://github.com/can1357/oh-my-pi/issues/41",
        "https://github.com/agentscope-ai/agentscope/pull/2435",
    ],
    formerly=[
        Refusal(
            "Referenced reasoning item '{id}' was not found or has expired.", type="invalid_request_error"
        )
    ],
    refusal=Refusal(
        "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` set "
        "to true, or remove this item from your input.",
        404,
        type="invalid_request_error",
        param="input",
    ),
    examples=[body(ASK, SEALED, call("a"), output("a"), store=False, model="gpt-5")],
    counterexamples=[body(ASK, THOUGHT, call("a"), output("a"), store=False, model="gpt-5")],
)
def reasoning_that_is_not_stored_is_sealed(request: Request) -> Iterator[Finding]:
    """With `"store": false`, a reasoning item is sent back with its `encrypted_content`.

    Why: the server did not keep the item, so it cannot find the item by its id. Fix: ask for
    `"include": ["reasoning.encrypted_content"]`, and send the item back unchanged.
    """
    if request.body.get("store") is not False:
        return
    for pointer, item in items(request.body):
        id = item.get("id")
        if type_of(item) == "reasoning" and isinstance(id, str) and not redacted(id):
            sealed = bool(item.get("encrypted_content"))
            yield met(pointer) if sealed else broken(pointer, "the item was not stored", id=id)


#: The id of an item that the strict server made behind a reasoning item: the id of the latter, except for its end.
_BEHIND = re.compile(r"(fc|ctc|msg)_(?P<thought>[0-9a-f]{36}5ea1ed)(?!0{8})[0-9a-f]{8}")


def with_reasoning(items: Sequence[dict[str, Any]]) -> None:
    """Changes the ids of reasoning items, and of the calls and messages directly behind them, so that they show what
    belongs together. ORD-016 reads them; ids of the API do not show it.

    Args:
        items: The output items of an answer. Each has an id of a short name, `_` and 50 hex digits.
    """
    for thought, item in pairwise(items):
        if thought["type"] == "reasoning" and item["type"] in _LINKED:
            name, _, digits = thought["id"].partition("_")
            thought["id"] = f"{name}_{digits[:36]}5ea1ed{0:08x}"
            item["id"] = f"{item['id'].partition('_')[0]}_{digits[:36]}5ea1ed{1:08x}"


@book.rule(
    "ORD-016",
    MUST,
    REJECT,
    source=[
        "https://github.com/continuedev/continue/issues/10018",
        "https://github.com/continuedev/continue/issues/12056",
    ],
    refusal=refused(
        "Item '{id}' of type '{type}' was provided without its required 'reasoning' item: '{thought}'.",
        param="input",
    ),
    examples=[
        body(ASK, {**SEALED, "id": _MADE[0]}, call("a", id=_MADE[1]), output("a"), model="gpt-5"),
        body(ASK, call("a", id="fc_1"), output("a"), model="gpt-5"),
    ],
    counterexamples=[body(ASK, call("a", id=_MADE[1]), output("a"), model="gpt-5")],
)
def items_keep_their_reasoning(request: Request) -> Iterator[Finding]:
    """A call or message that came after a reasoning item is sent back with that item, or without its own `id`.

    Why: the API refuses an `id` whose reasoning is missing. Only ids of the strict server are judged, because other
    ids do not show whether there was reasoning. Fix: send the reasoning item back, too, or leave out the `id`.
    """
    ids = {item.get("id") for _, item in items(request.body)}
    for pointer, item in items(request.body):
        match = _BEHIND.fullmatch(str(item.get("id", "")))
        if match and not ELSEWHERE & request.body.keys():
            thought = f"rs_{match['thought']}{0:08x}"
            facts = {"id": item["id"], "type": type_of(item), "thought": thought}
            fine, problem = thought in ids, "its reasoning is not sent back"
            yield met(pointer) if fine else broken(pointer, problem, **facts)


KINDS = {"function_call": "function", "custom_tool_call": "custom tool"}
PREFIXES = {"function_call": "fc", "message": "msg", "reasoning": "rs", "custom_tool_call": "ctc"}
REASONING: Json = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
SAYS: Json = {"role": "assistant", "content": "5"}
#: How an id begins that the server gave; and ids that clients make up from numbers, which are refused twice, too.
SERVERS = re.compile(r"[a-z]+_(?:[0-9a-f]{32}|\d+$)")
GIVEN = f"fc_{'0f' * 25}"
REFERENCE: Json = {"type": "item_reference", "id": f"msg_{'0f' * 25}"}


@book.rule(
    "PAIR-006",
    MUST,
    REJECT,
    source=[
        "https://github.com/continuedev/continue/issues/11494",
        "https://github.com/openai/codex/issues/33176",
        "https://github.com/Alishahryar1/free-claude-code/issues/1826",
        "https://github.com/langchain-ai/langchainjs/issues/11044",
    ],
    refusal=refused(
        "Invalid '{path}': '{id}'. Expected an ID that begins with '{prefix}'.",
        code="invalid_value",
        param="{path}",
    ),
    formerly=[
        refused(
            "Invalid '{path}': '{id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value "
            "contained additional characters.",
            code="invalid_value",
            param="{path}",
        )
    ],
    examples=[body(ASK, call("a"), output("a")), body(ASK, call("a", id="fc_1"), output("a"))],
    counterexamples=[body(ASK, call("a", id="__fake_id__"), output("a"))],
)
def item_ids_are_openais(request: Request) -> Iterator[Finding]:
    """The `id` of an item, if sent, is an id of the API: `fc…`, `msg…`, `rs…`, `ctc…`.

    Fix: leave `id` out unless it came from OpenAI. The `call_id` pairs calls and outputs.
    """
    for pointer, item in items(request.body):
        id, prefix = item.get("id"), PREFIXES.get(type_of(item))
        if prefix and isinstance(id, str) and id and not redacted(id):
            place = f"{pointer}/id"
            facts = {"path": path(place), "id": id, "prefix": prefix}
            yield (
                met(place)
                if id.startswith(prefix)
                else broken(place, f"{id!r} does not have the form of OpenAI's ids", **facts)
            )


@book.rule(
    "PAIR-005",
    MUST,
    REJECT,
    source=[
        "https://github.com/continuedev/continue/issues/10200",
        "https://github.com/vercel/ai/issues/7883",
        "https://github.com/vercel/ai/pull/15492",
        "https://github.com/openai/openai-agents-js/issues/1142 (references)",
        "https://github.com/mastra-ai/mastra/issues/21409 (references)",
        "https://github.com/earendil-works/pi/issues/5149 (`msg_4`)",
        "https://github.com/microsoft/vscode/issues/321977 (`msg_123`)",
    ],
    refusal=refused(
        "Duplicate item found with id {id}. Remove duplicate items from your input and try again.",
        param="input",
    ),
    examples=[body(ASK, call("a", id=GIVEN), output("a")), body(ASK, REFERENCE, ASK)],
    counterexamples=[
        body(ASK, call("a", id=GIVEN), call("b", id=GIVEN), output("a"), output("b")),
        body(ASK, REFERENCE, REFERENCE, ASK),
        body(ASK, {**SAYS, "id": "msg_4"}, ASK, {**SAYS, "id": "msg_4"}, ASK),
    ],
)
def items_are_sent_once(request: Request) -> Iterator[Finding]:
    """Each `id` of the server, and each one with a number, appears on one item only, or in one reference.

    Why: a turn was added to the history twice. Other ids are exempt: two messages `msg_missing_id` were recorded as
    accepted. Fix: add each item of an answer to the history once.
    """
    seen: set[tuple[bool, str]] = set()
    for pointer, item in items(request.body):
        id, key = item.get("id"), (type_of(item) == "item_reference", str(item.get("id")))
        if isinstance(id, str) and SERVERS.match(id):
            yield broken(pointer, f"{id!r} is the id of two items", id=id) if key in seen else met(pointer)
            seen.add(key)


@book.rule(
    "ORD-008",
    MUST,
    REJECT,
    source="recorded refusal of an edited answer (gpt-5)",
    refusal=refused(
        "Item '{id}' of type 'reasoning' was provided without its required following item.", param="input"
    ),
    models=["!o3-mini*"],
    examples=[
        body(ASK, REASONING, call("a", id="fc_1"), output("a")),
        body(ASK, {key: REASONING[key] for key in ("type", "summary", "encrypted_content")}, SAYS, ASK),
        body(ASK, REASONING, {"type": "item_reference", "id": "msg_1"}, ASK),
    ],
    counterexamples=[body(ASK, REASONING, SAYS, ASK), body(ASK, REASONING)],
)
def reasoning_keeps_its_item(request: Request) -> Iterator[Finding]:
    """A reasoning item with an id is followed by the item that it belongs to.

    Why: the answer after it was edited, dropped, or rewritten as plain text. o3-mini is exempt: there it was
    recorded as accepted. Fix: send both items unchanged, or send the reasoning without its `id`, or leave it
    out.
    """
    found = list(items(request.body))
    following = first_after(found, lambda each: type_of(each[1]) == "reasoning")
    for (pointer, item), after in zip(found, following, strict=True):
        id = item.get("id")
        if type_of(item) == "reasoning" and isinstance(id, str) and id.startswith("rs"):
            fine = after is not None and _generated(after[1])
            yield met(pointer) if fine else broken(pointer, "no item that the model made follows it", id=id)


@book.rule(
    "PAIR-001",
    MUST,
    REJECT,
    source=[
        "https://github.com/openai/openai-support-agent-demo/issues/12",
        "https://github.com/router-for-me/CLIProxyAPI/issues/2368",
    ],
    refusal=refused("No tool output found for {kind} call {id}.", param="input"),
    examples=[
        body(ASK, call("a"), call("b"), output("b"), output("a")),
        body(ASK, call("a"), {"role": "user", "content": "Wait."}, output("a")),
    ],
    counterexamples=[body(ASK, call("a")), body(ASK, call("a"), call("b"), output("a"), ASK)],
)
def every_call_is_answered(request: Request) -> Iterator[Finding]:
    """Every function call in the input has its output in the input.

    Why: the tool was cancelled, crashed, or ran into a limit. Fix: send an output that says what happened.
    """
    answered = {
        item.get("call_id") for _, item in items(request.body) if type_of(item).endswith("_call_output")
    }
    for pointer, item in items(request.body):
        if kind := KINDS.get(type_of(item)):
            id = item.get("call_id")
            fine = id in answered or bool(request.body.get("conversation"))
            yield (
                met(pointer) if fine else broken(pointer, f"there is no output for {id!r}", kind=kind, id=id)
            )


@book.rule(
    "PAIR-002",
    MUST,
    REJECT,
    source=[
        "https://github.com/continuedev/continue/issues/10092",
        "https://github.com/cline/cline/issues/9288",
    ],
    refusal=refused("No tool call found for {kind} call output with call_id {id}.", param="input"),
    examples=[body(ASK, call("a"), output("a")), body(output("a"), previous_response_id="resp_1")],
    counterexamples=[body(ASK, output("a"))],
)
def outputs_answer_calls(request: Request) -> Iterator[Finding]:
    """Every output in the input has its call in the input, unless the request continues a response that
    contains the call.

    Why: the history was truncated between the two. Fix: keep a call and its output together, or drop both.
    """
    found = list(items(request.body))
    hidden = any(request.body.get(key) for key in ("previous_response_id", "conversation", "prompt")) or any(
        type_of(item) in {"item_reference", "compaction", "program"} for _, item in found
    )
    called = {item.get("call_id") for _, item in found if type_of(item).endswith("_call")}
    for pointer, item in found:
        kind = KINDS.get(type_of(item).removesuffix("_output"))
        if kind and type_of(item).endswith("_output"):
            id = item.get("call_id")
            fine = id is None or id in called or hidden
            yield met(pointer) if fine else broken(pointer, f"no call {id!r}", kind=kind, id=id)


def _generated(item: Json) -> bool:
    """Tells whether the model made an item. A plain assistant message is the client's."""
    if type_of(item) != "message":
        return not type_of(item).endswith("_output")
    return item.get("role") == "assistant" and (bool(item.get("id")) or isinstance(item.get("content"), list))
