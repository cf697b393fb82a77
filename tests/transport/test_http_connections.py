"""Connections to a real server: reused, aborted, closed, blocking and async."""

import asyncio
import gc

import pytest
from chats.answers import SSE, answer
from chats.http_talk import DONE, event

from ellmer_core import Chat, shinychat_stream
from ellmer_core.contents.content import ContentText
from ellmer_core.contents.turns import AssistantPartialTurn
from ellmer_core.conversation.history import History
from ellmer_core.conversation.loop import converse
from ellmer_core.conversation.settings import Settings, StreamController
from ellmer_core.providers.openai_compatible import chat_openai_compatible
from ellmer_core.transport import async_driver, blocking_driver


def test_a_connection_is_used_again_by_chats_forks_and_streams(server, reply, make):
    chat = make()
    stream = reply([event("Hello."), DONE], headers=SSE)
    server.answers(reply([answer()]), stream, stream, reply([answer()]))
    chat.chat("Hi")
    list(chat.stream("Hi"))
    list(chat.fork().stream("Hi"))
    chat.chat("Hi")
    assert {asked.connection for asked in server.asked} == {1}


def test_an_async_connection_is_used_again(server, reply, make):
    stream = reply([event("Hello."), DONE], headers=SSE)
    server.answers(stream, reply([answer()]))

    async def run():
        async with make() as chat:
            _ = [piece async for piece in chat.stream_async("Hi")]
            await chat.chat_async("Hi")

    asyncio.run(run())
    assert {asked.connection for asked in server.asked} == {1}


def test_a_stream_ends_at_its_end_mark_though_the_socket_stays_open(server, reply, make, talk):
    chat = make()
    server.answers(reply([event("Hello."), DONE, server.until_left], headers=SSE))
    assert talk.stream(chat, "Hi") == ["Hello."]
    assert server.left.wait(5)
    assert chat.last_turn().finish_reason == "success"


@pytest.mark.parametrize("streaming", [Chat.stream_async, shinychat_stream])
def test_a_loop_that_is_closed_over_an_open_stream_says_nothing(server, reply, make, streaming):
    """An event loop that ends closes all of its async generators at once, also nested ones."""
    server.answers(reply([event("One"), server.until_left], headers=SSE), reply([answer()]))
    chat, complaints = make(), []

    async def run():
        asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told["message"]))
        stream = streaming(chat, "Hi")
        await anext(stream)
        return stream  # held until after the loop

    held = asyncio.run(run())
    del held
    assert server.left.wait(5)
    assert not complaints
    assert chat.chat("Again") == "Hello."


def test_an_abandoned_stream_hangs_up(server, reply, make):
    chat = make()
    server.answers(reply([event("One"), server.until_left], headers=SSE), reply([answer()]))
    for _ in chat.stream("Hi"):
        break
    assert server.left.wait(5)
    assert chat.last_turn() == AssistantPartialTurn("One", reason="interrupted")
    assert chat.chat("Again") == "Hello."


def test_an_abandoned_async_stream_hangs_up_and_frees_the_chat_at_once(server, reply, make):
    chat = make()
    server.answers(reply([event("One"), server.until_left], headers=SSE), reply([answer()]))

    async def run():
        async for _ in chat.stream_async("Hi"):
            break
        assert chat.last_turn() == AssistantPartialTurn("One", reason="interrupted")
        return await chat.chat_async("Again")

    assert asyncio.run(run()) == "Hello."
    assert server.left.wait(5)


def test_an_async_stream_can_be_closed(server, reply, make):
    chat = make()
    server.answers(reply([event("One"), server.until_left], headers=SSE))

    async def run():
        async with chat.stream_async("Hi") as stream:
            assert await anext(stream) == "One"
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
        assert await asyncio.to_thread(server.left.wait, 5)

    asyncio.run(run())


def test_a_cancelled_task_hangs_up_and_keeps_what_came(server, reply, make):
    chat, came = make(), asyncio.Event()
    server.answers(reply([event("One"), server.until_left], headers=SSE), reply([answer()]))

    async def read():
        async for _ in chat.stream_async("Hi"):
            came.set()

    async def run():
        task = asyncio.create_task(read())
        await came.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert chat.last_turn() == AssistantPartialTurn("One", reason="interrupted")
        return await chat.chat_async("Again")

    assert asyncio.run(run()) == "Hello."
    assert server.left.wait(5)


def test_nothing_is_left_open(server, reply):
    """Unclosed sockets would be ResourceWarnings, which this suite treats as errors."""
    server.answers(*[reply([answer()])] * 3)
    chat = chat_openai_compatible(base_url=server.url, model="m")
    chat.chat("Hi")
    asyncio.run(chat.chat_async("Hi"))
    asyncio.run(chat.chat_async("Hi"))  # in another event loop
    del chat
    gc.collect()


def test_a_closed_chat_can_be_used_again(server, reply, make):
    chat = make()
    server.answers(*[reply([answer()])] * 2)
    with chat:
        chat.chat("Hi")
    chat.chat("Hi")
    assert [asked.connection for asked in server.asked] == [1, 2]


def test_many_chats_at_once(server, reply, make):
    count = 100
    server.answers(*[reply([answer()])] * count)

    async def run():
        chat = make()
        async with chat:
            return await asyncio.gather(*(chat.fork().chat_async(f"{i}") for i in range(count)))

    assert asyncio.run(run()) == ["Hello."] * count
    assert sorted(int(asked.json["messages"][0]["content"]) for asked in server.asked) == list(range(count))


def test_a_closed_driver_closes_its_loop_whoever_holds_it(server, reply, make):
    chat = make()
    server.answers(*[reply([event("One"), server.until_left], headers=SSE)] * 2)

    def start(line):
        history = History()
        settings = Settings(chat.wire, stream=True)
        return (
            history,
            converse(history, settings, [ContentText("Hi")]),
            line(chat._connection, settings.controller),
        )

    history, loop, line = start(blocking_driver.BlockingDriver)
    driven = blocking_driver.drive(loop, line)
    next(driven), next(driven)
    driven.close()
    assert history.turns[-1] == AssistantPartialTurn("One")

    async def run():
        history, loop, line = start(async_driver.AsyncDriver)
        driven = async_driver.adrive(loop, line)
        await anext(driven), await anext(driven)
        await driven.aclose()
        assert history.turns[-1] == AssistantPartialTurn("One")

    asyncio.run(run())


def test_what_is_shown_is_not_for_the_line():
    line = blocking_driver.BlockingDriver(None, StreamController())
    with pytest.raises(AssertionError):
        line.do(None)
