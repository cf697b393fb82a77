"""A chat goes on whatever its tools return: every value, from every kind of tool, also over MCP, in whole conversations with the
strict server of every wire format. And whatever a provider ran itself, every provider takes the next request.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from wires.provider_runs import CASES

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server import StrictServer
from ellmer_core import UserTurn
from ellmer_core.conversation.repaired_turns import without_attachments

pytest.importorskip("mcp")

from ellmer_core.mcp import mcp_tools

sys.path.append(str(Path(__file__).parents[1]))  # the sweep is a package of these tests

from sweep.grid import Cell, Provider, one_of_each
from sweep.judge import _chat, refusal
from sweep.tool_kinds import ASYNC, VALUES, answered, kinds, renamed, swept

pytestmark = pytest.mark.slow

WIRES = list({provider.key[0]: provider for provider in reversed(one_of_each())}.values())
AT_ONCE = 16  # calls in an answer

SERVER = f"""
import sys
sys.path[:0] = [{str(Path(__file__).parents[1])!r}]
from ellmer_core.mcp import serve_mcp
from sweep.tool_kinds import renamed, swept
serve_mcp(renamed([tools["plain"] for tools in swept(0)], "served"))
"""


def rotated(shift: int, *, blocking: bool) -> list[ec.ToolDef]:
    """Returns a tool for each value. Its kind is the next one of the list, from `shift` on."""
    tools = []
    for n, made in enumerate(swept(shift)):
        usable = [tool for kind, tool in made.items() if not (blocking and kind in ASYNC)]
        tools.append(usable[(n + shift) % len(usable)])
    return renamed(tools, "tool")


@pytest.fixture(scope="module")
def served():
    with mcp_tools([sys.executable, "-c", SERVER]) as tools:
        yield list(tools)


def script(tools: Sequence[ec.ToolDef]) -> Script:
    """Returns the model's side: it calls every tool once, and answers twice."""
    groups = [tools[start : start + AT_ONCE] for start in range(0, len(tools), AT_ONCE)]
    calls = [Answer([Call(tool.name, {}) for tool in group]) for group in groups]
    return Script([*calls, Answer([Say("So.")]), Answer([Say("And so.")]), Answer([Say("Again.")])])


def connected(provider: Provider, server: StrictServer, tools: Sequence[ec.ToolDef]) -> ec.Chat:
    key = {"api_key": "k"} if provider.wire.key_vars else {}
    where = urlsplit(provider.url)
    url = server.url("talk", f"1@{where.netloc}") + where.path
    model = provider.wire.default_model or provider.place.model
    chat: ec.Chat = provider.construct(
        model=model, base_url=url, echo="none", max_tries=1, approve=answered, **key
    )
    chat.register_tools(tools)
    return chat


def results(chat: ec.Chat) -> list[ec.ContentToolResult]:
    return [c for turn in chat.get_turns() for c in turn.contents if isinstance(c, ec.ContentToolResult)]


def said_in(way: str, chat: ec.Chat, *message: str) -> str:
    match way:
        case "blocking":
            return str(chat.chat(*message))
        case "async":
            return str(asyncio.run(chat.chat_async(*message)))
    return "".join(chat.stream(*message))


def talk(provider: Provider, tools: Sequence[ec.ToolDef], way: str) -> None:
    """Talks until every tool was called, and twice more; once after the chat was saved and restored. A final result ends a call of
    `chat()`, and the next one continues.
    """
    with StrictServer({"talk": script(tools)}) as server, connected(provider, server, tools) as chat:
        said = said_in(way, chat, "Go.")
        while not said.endswith("So."):
            said = said_in(way, chat)
        assert len(results(chat)) == len(tools)
        assert str(chat)
        assert chat.chat("And now?") == "And so."
        chat.restore(json.loads(json.dumps(chat.record())))
        assert chat.chat("And later?") == "Again."
        assert [(each.rule.id, each.message) for e in server.requests for each in e.violations] == []


@pytest.mark.parametrize("way", ["blocking", "async", "stream"])
@pytest.mark.parametrize("provider", WIRES, ids=lambda provider: provider.key[0])
@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_a_chat_goes_on_after_every_tool(provider, way, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    shift = WIRES.index(provider) * 3 + ["blocking", "async", "stream"].index(way)
    talk(provider, rotated(shift, blocking=way != "async"), way)


@pytest.mark.parametrize("provider", WIRES, ids=lambda provider: provider.key[0])
@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_a_chat_goes_on_after_every_tool_of_a_server(provider, served, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert len(served) == len(VALUES)
    talk(provider, served, ["blocking", "async", "stream"][WIRES.index(provider) % 3])


LIMITS = [{"requests": 2}, {"tool_calls": 0}]


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: next(iter(limit)))
@pytest.mark.parametrize("provider", WIRES, ids=lambda provider: provider.key[0])
def test_the_last_answer_has_no_tools_and_an_added_message_goes_out(provider, limit, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    texts = [Answer([Say("So.")]), Answer([Say("And so.")])]
    with StrictServer({"talk": Script([Answer([Call("look", {})]), *texts])}) as server:
        chat = connected(
            provider,
            server,
            [ec.tool(lambda: chat.add_message("Be brief."), name="look", description="Looks.")],
        )
        chat.usage_limits = ec.UsageLimits(**limit, at_limit="answer")
        assert chat.chat("Go.") == "So."
        assert chat.chat("And now?") == "And so."
        assert [(each.rule.id, each.message) for e in server.requests for each in e.violations] == []


def test_every_value_meets_most_kinds():
    names = list(kinds("a"))
    shifts = [WIRES.index(provider) * 3 + 1 for provider in WIRES]  # those of the async conversations
    met = {names[shift % len(names)] for shift in shifts}
    assert len(met) == len(WIRES), "each wire has another kind for the same value"


# --- what providers ran themselves -----------------------------------------------------------------------


def damaged(block: Any) -> Any:
    """Yields a block with each of its values left out, or replaced by one of another type."""
    for name, value in block.items() if isinstance(block, dict) else ():
        yield {key: each for key, each in block.items() if key != name}
        yield from ({**block, name: other} for other in (None, 5, "", [], {"a": [1]}))
        yield from ({**block, name: inner} for inner in damaged(value))


def run_by(wire: Any, response: Any) -> ec.Turn | None:
    """Returns the answer, or `None` if the provider's answer makes no sense."""
    try:
        return wire.turn(response)
    except (ec.EllmerError, TypeError, ValueError, KeyError, AttributeError):
        return None


def with_block(response: Any, blocks: list[Any], block: Any, place: int) -> Any:
    """Returns the response with another block at a place."""
    changed = json.dumps([*blocks[:place], block, *blocks[place + 1 :]])
    return json.loads(json.dumps(response).replace(json.dumps(blocks), changed))


def answers_of(name: str) -> list[ec.Turn]:
    """Returns the answers of a provider that ran tools: as it gives them, and damaged in each place."""
    wire, response, blocks, _ = CASES[name]
    broken = [
        with_block(response, blocks, other, n) for n, block in enumerate(blocks) for other in damaged(block)
    ]
    return [turn for each in (response, *broken) if (turn := run_by(wire, each)) is not None]


def refused_again(provider: Provider, chat: ec.Chat) -> str | None:
    """Returns why the second request would be refused: after a refusal, the chat sends none of the provider's own blocks."""
    plain = without_attachments(chat.get_turns(), provider.wire.name)
    chat.set_turns([plain.get(id(turn), (turn, turn))[1] for turn in chat.get_turns()])
    return refusal(provider, chat)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("provider", one_of_each(), ids=lambda provider: provider.name)
def test_the_next_request_is_legal_after_what_a_provider_ran(provider, name):
    """Also at another provider, and if a block is damaged."""
    chat = _chat(Cell(provider, provider.wire.default_model or provider.place.model, {}))
    turns = answers_of(name)
    assert len(turns) > 10
    with warnings.catch_warnings(action="ignore"):
        refused = {}
        for turn in turns:
            chat.set_turns([UserTurn("Look."), turn])
            if (why := refusal(provider, chat)) and (why := refused_again(provider, chat)):
                refused[str(turn)] = why
            assert str(chat)
        assert refused == {}
