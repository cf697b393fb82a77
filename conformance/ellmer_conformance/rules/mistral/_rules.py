"""Mistral: an order of roles, results counted, errors in a form of its own.

https://docs.mistral.ai/api ; mistral-common's validator holds the order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from ...exchange import Request
from ...rule import Finding, Refusal, broken, met
from ...wires.openai_chat import messages, tools
from ..openai_chat._book import ASK, MUST, REJECT, TOOL, body, call, result
from ..openai_chat._book import book as openai
from ..openai_chat._pairing import pairing

MODEL = "mistral-small-latest"
SAYS = {"role": "assistant", "content": "5"}
BRIEF = {"role": "system", "content": "Be brief."}
NEXT = {
    "system": {"user", "assistant", "system"},
    "user": {"assistant", "system", "user"},
    "assistant": {"assistant", "user", "tool"},
    "tool": {"assistant", "tool", "user"},
}
FOREIGN = ("seed", "user", "logit_bias", "max_completion_tokens")


def wrap(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """`{"object": "error", …}`; what the schema refuses is a list of details (422)."""
    if refusal.status == 422:
        value = {"detail": json.loads(refusal.message)}
    else:
        value = {
            "object": "error",
            "message": refusal.message,
            "type": refusal.type,
            "param": refusal.param,
            "code": refusal.code,
        }
    return {"content-type": "application/json"}, json.dumps(value).encode()


def misplaced(message: str) -> Refusal:
    """A refusal of the order of messages."""
    return Refusal(message, type="invalid_request_message_order", code="3230")


book = openai.extend(
    "mistral",
    wire="mistral",
    envelope=wrap,
    only=[],
    without=[
        "TRM-003",
        "TRM-015",
        "REQ-004",
        "REQ-011",
        "REQ-024",
        "PAIR-001",
        "PAIR-007",
        "ORD-002",
        "ORD-003",
    ],
)


@book.rule(
    "REQ-004",
    MUST,
    REJECT,
    source="measured on the live API",
    refusal=Refusal(
        '[{{"type": "extra_forbidden", "loc": ["body", "{key}"], "msg": "Extra inputs are not permitted"}}]',
        status=422,
    ),
    examples=[body(ASK, model=MODEL, random_seed=1)],
    counterexamples=[body(ASK, model=MODEL, seed=1)],
)
def keys_are_mistrals(request: Request) -> Iterator[Finding]:
    """The request has no parameter that only OpenAI has: `seed` is `random_seed` here."""
    for key in request.body:
        wrong = key in FOREIGN
        yield broken(f"/{key}", f"`{key}` is no parameter here", key=key) if wrong else met(f"/{key}")


@book.rule(
    "REQ-011",
    MUST,
    REJECT,
    source="recorded refusal of `web_search` (ministral-3b)",
    refusal=Refusal(
        '[{{"type": "enum", "loc": ["body", "tools", "list[Tool]", {index}, "type"], '
        '"msg": "Input should be \'function\'", "input": "{type}", "ctx": {{"expected": "\'function\'"}}}}, '
        '{{"type": "missing", "loc": ["body", "tools", "list[Tool]", {index}, "function"], '
        '"msg": "Field required", "input": {{"type": "{type}"}}}}, '
        '{{"type": "string_type", "loc": ["body", "tools", "list[str]", {index}], '
        '"msg": "Input should be a valid string", "input": {{"type": "{type}"}}}}]',
        status=422,
    ),
    examples=[body(ASK, model=MODEL, tools=[TOOL])],
    counterexamples=[body(ASK, model=MODEL, tools=[{"type": "web_search"}])],
)
def tools_are_functions(request: Request) -> Iterator[Finding]:
    """A tool is a function; Mistral's own tools belong to its agents."""
    for index, (pointer, tool) in enumerate(tools(request.body)):
        kind, place = tool.get("type", "function"), f"{pointer}/type"
        if isinstance(kind, str):
            right = kind == "function"
            told = json.dumps(kind)[1:-1]
            yield met(place) if right else broken(place, f"a tool of type {kind}", index=index, type=told)


@book.rule(
    "ORD-002",
    MUST,
    REJECT,
    source=[
        "recorded refusal of `system` after `assistant` (mistral-small)",
        "https://github.com/charmbracelet/crush/issues/279",
        "https://github.com/mistralai/mistral-common (validator)",
    ],
    refusal=misplaced("Unexpected role '{role}' after role '{before}'"),
    examples=[body(BRIEF, ASK, call("a"), result("a"), ASK, model=MODEL), body(ASK, ASK, model=MODEL)],
    counterexamples=[
        body(ASK, SAYS, BRIEF, ASK, model=MODEL),
        body(ASK, call("a"), ASK, result("a"), model=MODEL),
    ],
)
def roles_follow_each_other(request: Request) -> Iterator[Finding]:
    """A role follows only certain others: `tool` an assistant or a tool, `system` a user or a system message.

    Fix: system messages first; results right behind the calls.
    """
    before = ""
    for pointer, message in messages(request.body):
        role = str(message.get("role"))
        if before in NEXT and role in NEXT:
            legal, problem = role in NEXT[before], f"{role} after {before}"
            yield met(pointer) if legal else broken(pointer, problem, role=role, before=before)
        before = role


@book.rule(
    "ORD-011",
    MUST,
    REJECT,
    source=[
        "https://github.com/NEKOparapa/AiNiee/issues/641",
        "https://github.com/0xPlaygrounds/rig/issues/708",
        "https://github.com/mistralai/mistral-common (validator)",
    ],
    refusal=misplaced(
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
    ),
    examples=[body(ASK, {**SAYS, "prefix": True}, model=MODEL)],
    counterexamples=[body(ASK, SAYS, model=MODEL)],
)
def a_prefill_says_so(request: Request) -> Iterator[Finding]:
    """A last message of the assistant is marked `prefix: true`."""
    for pointer, message in list(messages(request.body))[-1:]:
        wrong = message.get("role") == "assistant" and message.get("prefix") is not True
        yield broken(pointer, "the assistant has the last word") if wrong else met(pointer)


@book.rule(
    "PAIR-001",
    MUST,
    REJECT,
    source=[
        "https://github.com/mistralai/client-ts/issues/106",
        "https://github.com/camel-ai/camel/issues/1467",
    ],
    refusal=Refusal("Not the same number of function calls and responses", type="invalid_request_error"),
    examples=[body(ASK, call("a"), result("a"), model=MODEL)],
    counterexamples=[body(ASK, call("a", "b"), result("a"), ASK, model=MODEL)],
)
def as_many_results_as_calls(request: Request) -> Iterator[Finding]:
    """There are as many results as calls.

    Fix: send a result for each call, also for one that failed.
    """
    for block in pairing(request).blocks:
        asked, given = len(block.ids), len(block.answers) + len(block.strangers)
        place = f"{block.pointer}/tool_calls"
        yield met(place) if asked == given else broken(place, f"{given} results for {asked} calls")


@book.rule(
    "PAIR-007",
    MUST,
    REJECT,
    source=[
        "https://github.com/nearai/ironclaw/issues/1241 (2026-03, mistral-large)",
        "newer tokenizers have dropped it: it is not known for which models it still holds",
    ],
    refusal=Refusal(
        "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
        type="invalid_function_call",
        code="3280",
    ),
    preview=True,
    examples=[body(ASK, call("abcDEF123"), result("abcDEF123"), model=MODEL)],
    counterexamples=[body(ASK, call("call_1"), result("call_1"), model=MODEL)],
)
def ids_are_nine_letters(request: Request) -> Iterator[Finding]:
    """A call's id is nine letters and digits.

    Fix: hash other ids, in the call and in its result alike.
    """
    for block in pairing(request).blocks:
        for i, id in enumerate(block.ids):
            legal, place = re.fullmatch("[a-zA-Z0-9]{9}", id), f"{block.pointer}/tool_calls/{i}/id"
            yield met(place) if legal else broken(place, f"{id!r} is no nine letters", id=id)
