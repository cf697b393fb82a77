"""Whatever a tool returns, the next request is legal: every public content, whole, damaged and nested, from every kind of tool,
at every provider.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ellmer_core as ec
from ellmer_core import AssistantTurn, ContentToolRequest, ContentToolResult, UserTurn
from ellmer_core.tool_execution import ainvoke, invoke

sys.path.append(str(Path(__file__).parents[1]))  # the sweep is a package of these tests

from sweep.every_content import BROKEN, NESTED, NO_CONTENTS, PYTHON, WHOLE
from sweep.grid import Cell, places
from sweep.judge import _chat, refusal

VALUES: dict[str, Any] = {**WHOLE, **BROKEN, **NO_CONTENTS, **PYTHON}


def kinds(value: Any) -> dict[str, Any]:
    """Returns a tool of every kind that returns the value."""

    def plain() -> Any:
        return value

    def generator() -> Any:
        yield "working"
        return value

    async def later() -> Any:
        return value

    async def stream() -> Any:
        yield "working"
        yield value

    class Callable:
        def __call__(self) -> Any:
            return value

    return {"plain": plain, "generator": generator, "later": later, "stream": stream, "callable": Callable()}


def run(function: Any, place: int = 0) -> ContentToolResult:
    made = ec.tool(function, name="tool", description="Returns it.")
    request = ContentToolRequest(f"call_{place}", "tool", {}, tool=made)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return asyncio.run(ainvoke(request))
    return invoke(request)


@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_every_kind_of_tool_has_the_same_result():
    for name, value in VALUES.items():
        results = {kind: run(function) for kind, function in kinds(value).items()}
        first = results["plain"]
        assert {
            kind for kind, r in results.items() if (r.value, str(r.error)) != (first.value, str(first.error))
        } <= (
            {"generator"} if value is None else set()  # its last value is then the result
        ), name
        assert str(first)  # it can be printed


def rounds() -> list[ec.Turn]:
    """Returns a conversation in which a tool has returned every value in every place."""
    turns: list[ec.Turn] = []
    for place, (value, nested) in enumerate((v, n) for v in VALUES.values() for n in NESTED.values()):
        result = run(kinds(nested(value))["plain"], place)
        assert result.request
        turns += [
            UserTurn(["Go on."]),
            AssistantTurn([result.request]),
            UserTurn([result]),
            AssistantTurn(["Yes."]),
        ]
    return turns


@pytest.fixture(scope="module")
def history() -> list[ec.Turn]:
    return rounds()


@pytest.mark.parametrize("provider", places(), ids=lambda provider: provider.name)
@pytest.mark.parametrize("tool_media", ["pointer", "native"])
def test_the_next_request_is_legal(history, provider, tool_media):
    chat = _chat(Cell(provider, provider.wire.default_model or provider.place.model, {}))
    if tool_media == "native":
        if not provider.wire.supports.native_tool_media:
            pytest.skip("this API takes no media inside of a result")
        chat.wire = replace(chat.wire, tool_media="native")
    with warnings.catch_warnings(action="ignore"):
        chat.set_turns(history)
        assert refusal(provider, chat) is None
        assert str(chat)
