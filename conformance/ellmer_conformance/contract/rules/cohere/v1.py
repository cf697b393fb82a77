"""Cohere v1, whose requests have one message, a history, and results beside their calls."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from ...observed.exchange import Json, Request
from ...readers.cohere_v1 import PROVIDER
from ...readers.json_access import elements
from ...rule import Finding, broken, met
from ...rulebook import RuleBook
from .. import common
from ._refusals_and_examples import MUST, REJECT, error_body, refused

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/langchain-ai/langchain-cohere/blob/114aab84ecf6c54ca523aa9b0e821fb6e1147a93/"
    "libs/cohere/tests/integration_tests/cassettes/"
)

V1 = RuleBook("cohere", PROVIDER, error_body, author=PROVIDER)
TOOL: Json = {"name": "add", "description": "Adds.", "parameter_definitions": {}}
RESULT: Json = {"call": {"name": "add", "parameters": {}}, "outputs": [{"sum": 5}]}


def _body(**more: Any) -> Json:
    return {"model": "command-r", "message": "What is 2 + 3?", **more}


@V1.rule(
    "REQ-002",
    MUST,
    REJECT,
    source="https://github.com/kwaroran/Risuai/issues/504",
    refusal=refused("message must be at least 1 token long or tool results must be specified."),
    examples=[_body(), {"message": "", "tool_results": [RESULT], "tools": [TOOL]}],
    counterexamples=[_body(message=""), {"model": "command-r", "chat_history": []}],
)
def there_is_something_to_answer(request: Request) -> Iterator[Finding]:
    """The request has a `message` or `tool_results`.

    Fix: send the question as `message`.
    """
    fine = request.body.get("message") or request.body.get("tool_results")
    yield met("/message") if fine else broken("", "there is no message")


@V1.rule(
    "REQ-010",
    MUST,
    REJECT,
    source=[
        "recorded refusal (command-r-plus)",
        f"{_TESTS}test_langchain_tool_calling_agent.yaml",
    ],
    refusal=refused("all elements in tools must have a name."),
    examples=[_body(tools=[TOOL])],
    counterexamples=[_body(tools=[{"type": "function", "function": {"name": "add"}}])],
)
def tools_have_names(request: Request) -> Iterator[Finding]:
    """Every tool has a `name`.

    Fix: send the fields flat; v2 and other providers nest them under `function`.
    """
    for place, tool in elements(request.body.get("tools"), "/tools"):
        yield met(place) if tool.get("name") else broken(place, "the tool has no name")


@V1.rule(
    "REQ-014",
    MUST,
    REJECT,
    source="https://github.com/cohere-ai/cohere-python/issues/525",
    refusal=refused("cannot specify both message and tool_results in multistep mode"),
    since=date(2024, 6, 11),
    examples=[_body(tools=[TOOL], tool_results=[RESULT], force_single_step=True)],
    counterexamples=[_body(tools=[TOOL], tool_results=[RESULT])],
)
def results_stand_alone(request: Request) -> Iterator[Finding]:
    """A request has a `message` or `tool_results`, unless `force_single_step` is set.

    Fix: leave `message` out of the request with the results.
    """
    if request.body.get("tool_results"):
        both = bool(request.body.get("message")) and request.body.get("force_single_step") is not True
        yield broken("/message", "`message` is set together with results") if both else met("/tool_results")


common.enter(V1)
