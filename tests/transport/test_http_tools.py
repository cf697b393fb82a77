"""Tools and callbacks with the drivers: concurrent, async, interrupted."""

import asyncio
import threading
from contextvars import ContextVar

import anyio
import pytest
from chats.answers import answer, named_tool
from chats.http_talk import calls

from ellmer_core.errors import AsyncToolError

WHO = ContextVar("WHO", default="nobody")


def test_concurrent_tools_overlap_and_keep_the_callers_context(server, reply, make, talk):
    """Each tool waits for the other, so that a sequence would never end."""
    chat, both = make(), threading.Barrier(2, timeout=5)

    def meet():
        both.wait()
        return WHO.get()

    for name in "ab":
        chat.register_tool(named_tool(meet, name))
    server.answers(reply([calls("a", "b")]), reply([answer()]))
    WHO.set("me")
    talk(chat, "Hi", tool_mode="concurrent")
    told = [m["content"] for m in server.asked[1].json["messages"] if m["role"] == "tool"]
    assert told == ["me", "me"]


def test_async_tools_and_callbacks(server, reply, make):
    chat, seen = make(), []

    async def later():
        await asyncio.sleep(0)
        return "later"

    async def note(result):
        seen.append(result.value)

    chat.register_tool(named_tool(later, "a"))
    chat.on_tool_result(note)
    server.answers(reply([calls("a", "a")]), reply([answer()]))
    assert asyncio.run(chat.chat_async("Hi")) == "Hello."
    assert seen == ["later", "later"]


def test_async_tools_and_callbacks_in_a_blocking_chat_are_a_clear_error(server, reply, make):
    async def later(_content=None):
        return "later"

    chat = make()
    chat.register_tool(named_tool(lambda: "now", "a"))
    remove = chat.on_tool_request(later)
    server.answers(reply([calls("a")]))
    with pytest.raises(AsyncToolError, match=r"later.*chat_async"):
        chat.chat("Hi")
    remove()
    server.answers(reply([answer()]))
    assert chat.chat("Go on") == "Hello."

    async def tool():
        return "later"

    chat.set_tools([named_tool(tool, "a")])
    server.answers(reply([calls("a")]))
    with pytest.raises(AsyncToolError, match="chat_async"):
        chat.chat("Hi")


def test_an_exception_in_one_of_several_tools_loses_no_result(server, reply, make, talk):
    class Stop(BaseException):
        pass

    def stop():
        raise Stop

    chat = make()
    chat.register_tools([named_tool(lambda: "fine", "a"), named_tool(stop, "b")])
    server.answers(reply([calls("a", "b")]), reply([answer()]))
    with pytest.raises(Stop):
        talk(chat, "Hi", tool_mode="concurrent")
    talk(chat, "Go on")
    told = [m["content"] for m in server.asked[1].json["messages"] if m["role"] == "tool"]
    assert told[0] == "fine"
    assert "interrupted" in told[1]


def test_a_cancel_scope_of_anyio_ends_several_tools_and_itself(server, reply, make):
    chat, scopes = make(), []

    async def wait():
        await anyio.sleep_forever()

    async def leave():
        asyncio.get_running_loop().call_soon(scopes[0].cancel)
        return "left"

    chat.register_tools([named_tool(wait, "a"), named_tool(leave, "b")])
    server.answers(reply([calls("a", "b")]), reply([answer()]))

    async def run():
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            await chat.chat_async("Hi")
        assert scope.cancelled_caught
        await chat.chat_async("Go on")

    asyncio.run(run())
    told = [m["content"] for m in server.asked[1].json["messages"] if m["role"] == "tool"]
    assert "interrupted" in told[0]
    assert told[1] == "left"


def test_a_tool_that_cancels_itself_cancels_the_chat(server, reply, make):
    chat = make()

    async def give_up():
        raise asyncio.CancelledError

    chat.register_tools([named_tool(give_up, "a"), named_tool(lambda: "fine", "b")])
    server.answers(reply([calls("a", "b")]), reply([answer()]))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(chat.chat_async("Hi"))
    chat.chat("Go on")
    told = [m["content"] for m in server.asked[1].json["messages"] if m["role"] == "tool"]
    assert "interrupted" in told[0]
    assert told[1] == "fine"
