"""Early ends of a conversation with a real server: timeouts and cancellations, blocking and async."""

import asyncio
import threading
import time

import httpx
import pytest
from chats.answers import SSE, answer
from chats.http_talk import event

from ellmer_core.contents.turns import AssistantPartialTurn
from ellmer_core.conversation import retries
from ellmer_core.conversation.settings import StreamController
from ellmer_core.errors import RequestTimeoutError
from ellmer_core.transport.http_clients import Timeouts

# Timeouts ---------------------------------------------------------------------------------------------------


def test_no_answer_at_all(server, reply, make, talk):
    hold = threading.Event()
    server.answers(_Silent(hold))
    with pytest.raises(RequestTimeoutError, match="idle") as caught:
        talk(make(timeout=0.3, max_tries=3), "Hi")
    hold.set()
    assert caught.value.phase == "idle"
    assert len(server.asked) == 1


class _Silent:
    """A stream that sends nothing, not even headers."""

    status, headers, chunks, end = 200, {}, [], "cut"

    def __init__(self, hold):
        self.hold = hold

    def __getattribute__(self, name):
        if name == "headers":
            object.__getattribute__(self, "hold").wait(5)
        return object.__getattribute__(self, name)


def test_a_stream_that_falls_silent(server, reply, make, talk):
    chat = make(timeout=0.4)
    server.answers(reply([event("One"), server.until_left], headers=SSE))
    with pytest.raises(RequestTimeoutError, match=r"0\.4 s \(timeout: idle\)"):
        talk.stream(chat, "Hi")
    assert chat.last_turn() == AssistantPartialTurn("One", reason="timeout")


def test_a_stream_that_never_ends(server, reply, make, talk):
    chat = make(timeout=Timeouts(idle=5, total=0.1))

    def trickle(server):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            server.local.connection.sendall(b"3\r\n: \n\r\n")

    server.answers(reply([event("One"), trickle], headers=SSE))
    with pytest.raises(RequestTimeoutError, match=r"0\.1 s \(timeout: total\)") as caught:
        talk.stream(chat, "Hi")
    assert caught.value.phase == "total"


@pytest.mark.parametrize("body", [True, False], ids=["in the body", "in a stream"])
def test_a_total_timeout_ends_a_silent_read(server, reply, make, talk, body):
    chat = make(timeout=Timeouts(idle=None, total=0.1))
    server.answers(reply([b" ", server.until_left], headers={} if body else SSE))
    with pytest.raises(RequestTimeoutError, match="total"):
        talk.stream(chat, "Hi")
    assert server.left.wait(5)


def test_no_connection(make, talk):
    def refuse(request):
        raise httpx.ConnectTimeout("timed out", request=request)

    client = talk.client(transport=httpx.MockTransport(refuse))
    chat = make(client=client, timeout=Timeouts(connect=3))
    with pytest.raises(RequestTimeoutError, match=r"No connection .* 3 s \(timeout: connect\)") as caught:
        talk(chat, "Hi")
    assert caught.value.phase == "connect"


def test_a_total_timeout_does_not_outlive_its_answer(server, reply, make, talk):
    chat = make(timeout=Timeouts(total=60))
    server.answers(*[reply([answer()])] * 2)
    assert talk(chat, "Hi") == "Hello."
    alarms = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    for alarm in alarms:
        alarm.join(5)
    assert not any(alarm.is_alive() for alarm in alarms)
    assert talk(chat, "Hi") == "Hello."


# Cancelling from elsewhere ----------------------------------------------------------------------------------


def test_cancelling_from_another_thread_wakes_a_read(server, reply, make, talk):
    chat, controller, seen = make(), StreamController(), threading.Event()

    def cancel(_server):
        seen.wait(5)
        controller.cancel("enough")

    server.answers(reply([event("One"), cancel, server.until_left], headers=SSE), reply([answer()]))
    talk.stream(chat, "Hi", controller=controller, seen=lambda _: seen.set())
    assert server.left.wait(5)
    assert chat.last_turn() == AssistantPartialTurn("One", reason="enough")
    assert talk(chat, "Again") == "Hello."


def test_cancelling_wakes_a_wait(server, reply, make, talk, monkeypatch):
    monkeypatch.setattr(retries, "FIRST", 60.0)
    controller = StreamController()
    server.answers(reply(status=503))
    threading.Thread(target=lambda: (_until(lambda: server.asked), controller.cancel())).start()
    assert talk.stream(make(max_tries=2), "Hi", controller=controller) == []


def _until(condition):
    while not condition():
        time.sleep(0)


def test_a_cancelled_async_stream_does_not_wait_for_headers(server, reply, make):
    controller, hold = StreamController(), threading.Event()
    server.answers(_Silent(hold))

    async def run():
        task = asyncio.create_task(_pieces(make().stream_async("Hi", controller=controller)))
        await asyncio.to_thread(_until, lambda: server.asked)
        controller.cancel()
        return await task

    assert asyncio.run(run()) == []
    hold.set()


async def _pieces(stream):
    return [piece async for piece in stream]
