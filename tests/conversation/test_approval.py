"""A tool call that needs a decision: approved, edited, denied, or without anybody to ask."""

import asyncio

import pytest

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server.strict_server import StrictServer
from ellmer_core.conversation.approval import Decision, deciding

ran = []


@ec.tool(annotations={"needs_approval": True})
def remove(path: str) -> str:
    """Removes."""
    ran.append(path)
    return f"{path} is gone"


@pytest.fixture
def chat():
    ran.clear()
    steps = [Answer((Say("I will."), Call("remove", {"path": "a"}))), Answer((Say("So."),))]
    with StrictServer({"talk": Script(steps)}) as server:
        url = f"{server.url('talk', '1')}/v1"
        chat = ec.chat_anthropic(base_url=url, api_key="none", model="claude-sonnet-5", echo="none")
        chat.register_tool(remove)
        yield chat


def result(chat):
    [result] = [c for t in chat.get_turns() for c in t.contents if isinstance(c, ec.ContentToolResult)]
    return result


DECISIONS = [
    (Decision(approved=True), ["a"], "approved", "[tool result  (call_1), approved]: a is gone"),
    (
        Decision(approved=True, arguments={"path": "b"}),
        ["b"],
        "edited",
        ', edited to remove(path = "b")]: b is gone',
    ),
    (Decision(approved=False), [], "denied", ", denied]: Tool call denied."),
]


@pytest.mark.parametrize("case", DECISIONS, ids=["approved", "edited", "denied"])
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_what_somebody_decides_is_done_and_remembered(chat, case, mode):
    decision, called, word, printed = case

    async def decide(_request):
        return decision

    if mode == "sync":
        with deciding(lambda _request: decision):
            chat.chat("Remove a")
    else:
        with deciding(decide):
            asyncio.run(chat.chat_async("Remove a"))

    assert ran == called
    assert result(chat).decision == word
    assert printed.removeprefix("[tool result  (call_1)") in str(chat)
    chat.restore(chat.record())
    assert result(chat).decision == word


def test_where_nobody_can_be_asked_the_answer_is_no(chat):
    chat.chat("Remove a")

    assert ran == []
    assert "nobody was there" in result(chat).value
    assert result(chat).error is None


def test_a_destructive_tool_is_asked_about_where_somebody_is(chat):
    asked = []
    destroys = ec.tool(lambda path: ran.append(path) or "gone", name="remove", description="Removes.",
                       arguments={"path": str}, annotations=ec.tool_annotations(destructive_hint=True))  # fmt: skip
    chat.set_tools([destroys])
    with deciding(lambda request: asked.append(request.name) or Decision(approved=True)):
        chat.chat("Remove a")

    assert (asked, ran) == (["remove"], ["a"])


def test_an_async_answer_does_not_fit_a_blocking_chat(chat):
    async def decide(_request):
        return Decision(approved=True)

    with deciding(decide), pytest.raises(ec.AsyncToolError, match="stream_async"):
        chat.chat("Remove a")
