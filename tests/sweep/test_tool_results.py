"""Whatever a tool returns, the next request is legal: every public content, whole, damaged and nested, from every kind of tool,
at every provider.
"""

from __future__ import annotations

import asyncio
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp.types import CallToolResult

import ellmer_core as ec
from ellmer_core import AssistantTurn, ContentToolRequest, ContentToolResult, UserTurn
from ellmer_core.mcp.conversion import blocks_of, result_of
from ellmer_core.tool_execution import ainvoke, invoke

sys.path.append(str(Path(__file__).parents[1]))  # the sweep is a package of these tests

from sweep.every_content import NESTED
from sweep.grid import Cell, one_of_each, places
from sweep.judge import _chat, refusal
from sweep.tool_kinds import ASYNC, VALUES, kinds


def run(function: Any, place: int = 0) -> ContentToolResult:
    made = (
        function
        if isinstance(function, ec.ToolDef)
        else ec.tool(function, name="tool", description="Returns it.")
    )
    request = ContentToolRequest(f"call_{place}", "tool", {}, tool=made)
    return invoke(request)


def run_kind(kind: str, tool: ec.ToolDef) -> ContentToolResult:
    request = ContentToolRequest("call_0", "tool", {}, tool=tool)
    return asyncio.run(ainvoke(request)) if kind in ASYNC else invoke(request)


def over_mcp(value: Any) -> Any:
    """Returns a tool of an MCP server that returns the value."""
    result = run(kinds(value)["plain"])
    return lambda: result_of(CallToolResult(content=blocks_of(result), is_error=result.error is not None))


def from_a_server(**block: Any) -> Any:
    """Returns a tool of another MCP server, whose answer may be wrong in any way."""
    return lambda: result_of(CallToolResult.model_validate(block))


def resource(**fields: Any) -> dict[str, Any]:
    return {"content": [{"type": "resource", "resource": {"uri": "file:///a", **fields}}]}


SERVERS = [
    {"content": [{"type": "image", "mimeType": "image/png", "data": "no base64!"}]},
    {"content": [{"type": "image", "mimeType": "text/html", "data": ""}]},
    {"content": [{"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="}]},
    {"content": [{"type": "text", "text": "a\ud800b"}, {"type": "text", "text": ""}]},
    {"content": [{"type": "text", "text": ""}], "isError": True},
    {"content": [], "structuredContent": {"a": [float("nan")], "deep": {"": None}}},
    resource(blob="", mimeType="application/pdf"),
    resource(blob="SGk=", mimeType="image/png"),
    resource(text="\x00", mimeType="text/plain"),
    {"content": [{"type": "resource_link", "name": "", "uri": "javascript:alert(1)"}]},
]


@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_every_kind_of_tool_has_the_same_result():
    for name, value in VALUES.items():
        results = {kind: run_kind(kind, tool) for kind, tool in kinds(value).items()}
        first = results["plain"]
        assert {
            kind for kind, r in results.items() if (r.value, str(r.error)) != (first.value, str(first.error))
        } <= (
            {"generator"} if value is None else set()  # its last value is then the result
        ), name
        assert str(first)  # it can be printed


def raises_midway() -> Any:
    yield "working"
    raise ValueError("midway")


def test_the_developer_is_warned_of_what_is_broken(caplog):
    tools = {name: kinds(value)["plain"] for name, value in VALUES.items()}
    for name, tool in {**tools, "raises midway": raises_midway}.items():
        caplog.clear()
        error = run(tool).error
        warned = [record for record in caplog.records if record.levelname == "WARNING"]
        assert bool(warned) == isinstance(error, Exception), name


def rounds() -> list[ec.Turn]:
    """Returns a conversation in which a tool has returned every value in every place."""
    turns: list[ec.Turn] = []
    here = [kinds(nested(value))["plain"] for value in VALUES.values() for nested in NESTED.values()]
    elsewhere = [*map(over_mcp, VALUES.values()), *(from_a_server(**each) for each in SERVERS)]
    for place, function in enumerate([*here, *elsewhere]):
        result = run(function, place)
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


PROVIDERS = [
    pytest.param(each, id=each.name, marks=() if each in one_of_each() else pytest.mark.slow)
    for each in places()
]


@pytest.mark.parametrize("provider", PROVIDERS)
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


@pytest.mark.slow
@pytest.mark.parametrize("provider", one_of_each(), ids=lambda each: each.name)
def test_the_requests_of_a_shortened_chat_are_legal(history, provider):
    chat = _chat(Cell(provider, provider.wire.default_model or provider.place.model, {}))
    with warnings.catch_warnings(action="ignore"):
        chat.set_turns(history)
        older = chat._older(len(VALUES), "summary")
        assert older
        assert refusal(provider, older) is None, "the request for a summary"
        for how in ("results", "summary"):
            chat._shorten(len(VALUES), how, older)
            assert refusal(provider, chat) is None, f"after the {how}"
