"""The drivers against a real server on 127.0.0.1: bytes, connections, timeouts, interruptions. Blocking and async."""

import asyncio
import gc
import gzip
import json
import threading
import time
from contextvars import ContextVar

import anyio
import httpx
import httpx2
import pytest

from ellmer_core.contents.content import ContentText
from ellmer_core.contents.turns import AssistantPartialTurn
from ellmer_core.conversation import retry
from ellmer_core.conversation.cancellation import StreamController
from ellmer_core.conversation.effects import Emit
from ellmer_core.conversation.history import History
from ellmer_core.conversation.loop import converse
from ellmer_core.conversation.settings import Settings
from ellmer_core.errors import (
    AsyncToolError,
    AuthenticationError,
    ConnectError,
    IncompleteResponseError,
    ServerError,
    TimeoutError,
    UsageError,
)
from ellmer_core.providers.openai_compatible import chat_openai_compatible
from ellmer_core.transport import asynchronous, blocking
from ellmer_core.transport.connections import Timeouts

SSE = {"content-type": "text/event-stream"}
KEY = "canary-key-0000"


def answer(text="Hello.", **message):
    choice = {"message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice]}).encode()


def calls(*names):
    made = [
        {"id": f"c{i}", "type": "function", "function": {"name": n, "arguments": "{}"}}
        for i, n in enumerate(names)
    ]
    return answer(None, tool_calls=made)


def event(text=None, finish=None):
    delta = {"content": text} if text is not None else {}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


DONE = event(None, "stop") + b"data: [DONE]\n\n"


@pytest.fixture
def make(server):
    """Makes a chat with the server; all are closed at the end."""
    made = []

    def make(**options):
        options = {"base_url": server.url, "model": "m", "api_key": KEY, "max_tries": 1, **options}
        made.append(chat_openai_compatible(**options))
        return made[-1]

    yield make
    for chat in made:
        chat.close()


@pytest.fixture(params=["blocking", "async"])
def talk(request):
    """`talk(chat, *inputs)` and `talk.stream(chat, *inputs)`: the whole answer, its pieces; blocking and async."""
    return Blocking() if request.param == "blocking" else Async()


class Blocking:
    client, client2 = httpx.Client, httpx2.Client

    def __call__(self, chat, *inputs, **options):
        return chat.chat(*inputs, **options)

    def stream(self, chat, *inputs, seen=lambda _: None, **options):
        pieces = []
        for piece in chat.stream(*inputs, **options):
            pieces.append(piece)
            seen(piece)
        return pieces


class Async:
    client, client2 = httpx.AsyncClient, httpx2.AsyncClient

    def __call__(self, chat, *inputs, **options):
        return asyncio.run(chat.chat_async(*inputs, **options))

    def stream(self, chat, *inputs, seen=lambda _: None, **options):
        async def run():
            pieces = []
            async for piece in chat.stream_async(*inputs, **options):
                pieces.append(piece)
                seen(piece)
            return pieces

        return asyncio.run(run())


# Requests ---------------------------------------------------------------------------------------------------


def test_blocking_and_async_send_the_same_bytes(server, reply, make):
    server.answers(reply([answer()]), reply([answer()]))
    Blocking()(make(), "日本 é")
    Async()(make(), "日本 é")
    first, second = server.asked
    assert first.body == second.body
    assert "日本 é".encode() in first.body
    assert {**first.headers, "x": ""} == {**second.headers, "x": ""}
    assert first.headers["user-agent"].startswith("ellmer-core/")
    assert first.headers["content-type"] == "application/json"
    assert first.headers["authorization"] == f"Bearer {KEY}"


def test_own_headers_win(server, reply, make, talk):
    server.answers(reply([answer()]))
    talk(make(api_headers={"User-Agent": "mine", "X-Team": "a"}), "Hi")
    assert server.asked[0].headers["user-agent"] == "mine"
    assert server.asked[0].headers["x-team"] == "a"


def test_no_cookie_comes_back(server, reply, make, talk):
    chat = make()
    given = reply([answer()], headers={"set-cookie": "session=1; Path=/"})
    server.answers(given, given)
    talk(chat, "Hi")
    talk(chat, "Hi")
    assert not any("cookie" in asked.headers for asked in server.asked)


def test_redirects_are_not_followed_with_the_key(server, reply, make, talk):
    server.answers(reply([b"{}"], status=307, headers={"location": f"{server.url}/elsewhere"}))
    with pytest.raises(Exception, match="307"):
        talk(make(), "Hi")
    assert len(server.asked) == 1


def test_credentials_are_asked_for_each_request(server, reply, make, talk):
    keys = iter(["one", "two"])
    chat = make(api_key=None, credentials=lambda: next(keys))
    server.answers(reply([answer()]), reply([answer()]))
    talk(chat, "Hi")
    talk(chat, "Hi")
    assert [a.headers["authorization"] for a in server.asked] == ["Bearer one", "Bearer two"]


@pytest.mark.parametrize("key", ["canary\nkey", "canary-ключ"])
def test_a_key_that_no_header_can_hold_is_an_error_that_does_not_show_it(make, talk, key):
    with pytest.raises(UsageError) as caught:
        talk(make(api_key=key), "Hi")
    assert "canary" not in f"{caught.value} {caught.value.__cause__!r}"


def test_the_key_is_in_no_repr_and_no_error(server, reply, make, talk):
    chat = make()
    server.answers(reply([b'{"error": {"message": "no"}}'], status=401))
    with pytest.raises(AuthenticationError) as caught:
        talk(chat, "Hi")
    shown = f"{chat} {chat!r} {chat.wire!r} {vars(chat)!r} {caught.value!r} {vars(caught.value)}"
    assert KEY not in shown


# Answers ----------------------------------------------------------------------------------------------------


def test_every_way_to_split_a_stream_gives_the_same(server, reply, make, talk):
    body = event("Zoë 👩‍👩‍👧 ") + event("日本") + DONE
    chat = make()
    for size in (1, 2, 3, 7, 1000):
        server.answers(reply([body[i : i + size] for i in range(0, len(body), size)], headers=SSE))
        assert talk.stream(chat, "Hi") == ["Zoë 👩‍👩‍👧 ", "日本"]


def test_pieces_come_while_the_server_still_writes(server, reply, make, talk):
    seen = threading.Event()
    server.answers(reply([event("One "), lambda _: seen.wait(5), event("two."), DONE], headers=SSE))
    pieces = talk.stream(make(), "Hi", seen=lambda piece: seen.set())
    assert pieces == ["One ", "two."]


def test_a_compressed_stream_is_read(server, reply, make, talk):
    packed = gzip.compress(event("Hello.") + DONE)
    headers = {**SSE, "content-encoding": "gzip"}
    server.answers(reply([packed[:20], packed[20:]], headers=headers))
    assert talk.stream(make(), "Hi") == ["Hello."]


def test_a_body_instead_of_a_stream_is_an_answer_or_an_error(server, reply, make, talk):
    chat = make()
    server.answers(reply([answer()]), reply([b'{"error": {"message": "overloaded", "code": 503}}']))
    assert talk.stream(chat, "Hi") == ["Hello."]
    with pytest.raises(ServerError, match="overloaded"):
        talk.stream(chat, "Hi")


@pytest.mark.parametrize("end", ["cut", "reset"])
def test_an_answer_that_breaks_off_is_incomplete(server, reply, make, talk, end):
    chat = make()
    server.answers(
        reply([event("Half"), event(" an")], headers=SSE, end=end), reply([answer()[:30]], end=end)
    )
    with pytest.raises(IncompleteResponseError):
        talk.stream(chat, "Hi")
    assert chat.last_turn() == AssistantPartialTurn("Half an", reason="incomplete")
    with pytest.raises(IncompleteResponseError):
        talk(chat, "Hi")
    assert len(chat.get_turns()) == 2


def test_a_failed_request_is_tried_again(server, reply, make, talk, monkeypatch):
    monkeypatch.setattr(retry, "FIRST", 0.001)
    server.answers(
        reply(status=503), reply([b"<html>Bad gateway</html>"], status=502, end="cut"), reply([answer()])
    )
    assert talk(make(max_tries=3), "Hi") == "Hello."
    assert len({asked.body for asked in server.asked}) == 1


# Connections ------------------------------------------------------------------------------------------------


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


# The caller's own client ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["client", "client2"])
def test_a_client_of_the_callers_is_used_and_not_closed(server, reply, make, talk, kind):
    used = []
    hook = used.append if isinstance(talk, Blocking) else _async(used.append)
    client = getattr(talk, kind)(event_hooks={"request": [hook]}, headers={"connection": "close"})
    chat = make(client=client)
    server.answers(reply([event("Hello."), DONE], headers=SSE))

    assert talk.stream(chat, "Hi") == ["Hello."]
    chat.close()

    assert len(used) == 1
    assert not client.is_closed
    client.close() if isinstance(talk, Blocking) else asyncio.run(client.aclose())


def _async(function):
    async def hook(value):
        function(value)

    return hook


@pytest.mark.parametrize("kind", ["client", "client2"])
def test_errors_of_both_clients_are_ours(make, talk, kind):
    chat = make(client=getattr(talk, kind)(), base_url="http://127.0.0.1:1")
    with pytest.raises(ConnectError, match=r"http://127.0.0.1:1/chat/completions"):
        talk(chat, "Hi")
    chat.set_model("n")
    with pytest.raises(UsageError, match="base_url"):
        talk(make(client=getattr(talk, kind)(), base_url="ftp://example.com"), "Hi")


def test_a_client_of_the_wrong_kind_says_so(make):
    with httpx.Client() as client, pytest.raises(UsageError, match="AsyncClient"):
        asyncio.run(make(client=client).chat_async("Hi"))
    with pytest.raises(UsageError, match=r"httpx\.Client"):
        make(client=httpx.AsyncClient()).chat("Hi")


# Timeouts ---------------------------------------------------------------------------------------------------


def test_no_answer_at_all(server, reply, make, talk):
    hold = threading.Event()
    server.answers(_Silent(hold))
    with pytest.raises(TimeoutError, match="idle") as caught:
        talk(make(timeout=0.05, max_tries=3), "Hi")
    hold.set()
    assert caught.value.phase == "idle"
    assert len(server.asked) == 1


class _Silent:
    """Not even a head."""

    status, headers, chunks, end = 200, {}, [], "cut"

    def __init__(self, hold):
        self.hold = hold

    def __getattribute__(self, name):
        if name == "headers":
            object.__getattribute__(self, "hold").wait(5)
        return object.__getattribute__(self, name)


def test_a_stream_that_falls_silent(server, reply, make, talk):
    chat = make(timeout=0.05)
    server.answers(reply([event("One"), server.until_left], headers=SSE))
    with pytest.raises(TimeoutError, match=r"0\.05 s \(timeout: idle\)"):
        talk.stream(chat, "Hi")
    assert chat.last_turn() == AssistantPartialTurn("One", reason="timeout")


def test_a_stream_that_never_ends(server, reply, make, talk):
    chat = make(timeout=Timeouts(idle=5, total=0.1))

    def trickle(server):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            server.local.connection.sendall(b"3\r\n: \n\r\n")

    server.answers(reply([event("One"), trickle], headers=SSE))
    with pytest.raises(TimeoutError, match=r"0\.1 s \(timeout: total\)") as caught:
        talk.stream(chat, "Hi")
    assert caught.value.phase == "total"


@pytest.mark.parametrize("body", [True, False], ids=["in the body", "in a stream"])
def test_a_total_timeout_ends_a_silent_read(server, reply, make, talk, body):
    chat = make(timeout=Timeouts(idle=None, total=0.1))
    server.answers(reply([b" ", server.until_left], headers={} if body else SSE))
    with pytest.raises(TimeoutError, match="total"):
        talk.stream(chat, "Hi")
    assert server.left.wait(5)


def test_no_connection(make, talk):
    def refuse(request):
        raise httpx.ConnectTimeout("timed out", request=request)

    client = talk.client(transport=httpx.MockTransport(refuse))
    chat = make(client=client, timeout=Timeouts(connect=3))
    with pytest.raises(TimeoutError, match=r"No connection .* 3 s \(timeout: connect\)") as caught:
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
    monkeypatch.setattr(retry, "FIRST", 60.0)
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


# Tools ------------------------------------------------------------------------------------------------------

WHO = ContextVar("WHO", default="nobody")


def test_concurrent_tools_overlap_and_keep_the_callers_context(server, reply, make, talk):
    """Each waits for the other: one by one they would never end."""
    chat, both = make(), threading.Barrier(2, timeout=5)

    def meet():
        both.wait()
        return WHO.get()

    for name in "ab":
        chat.register_tool(_named(meet, name))
    server.answers(reply([calls("a", "b")]), reply([answer()]))
    WHO.set("me")
    talk(chat, "Hi", tool_mode="concurrent")
    told = [m["content"] for m in server.asked[1].json["messages"] if m["role"] == "tool"]
    assert told == ["me", "me"]


def _named(function, name):
    from ellmer_core.tools.definition import tool

    return tool(function, "Does it.", name=name)


def test_async_tools_and_callbacks(server, reply, make):
    chat, seen = make(), []

    async def later():
        await asyncio.sleep(0)
        return "later"

    async def note(result):
        seen.append(result.value)

    chat.register_tool(_named(later, "a"))
    chat.on_tool_result(note)
    server.answers(reply([calls("a", "a")]), reply([answer()]))
    assert asyncio.run(chat.chat_async("Hi")) == "Hello."
    assert seen == ["later", "later"]


def test_async_tools_and_callbacks_in_a_blocking_chat_are_a_clear_error(server, reply, make):
    async def later(_content=None):
        return "later"

    chat = make()
    chat.register_tool(_named(lambda: "now", "a"))
    remove = chat.on_tool_request(later)
    server.answers(reply([calls("a")]))
    with pytest.raises(AsyncToolError, match=r"later.*chat_async"):
        chat.chat("Hi")
    remove()
    server.answers(reply([answer()]))
    assert chat.chat("Go on") == "Hello."

    async def tool():
        return "later"

    chat.register_tool(_named(tool, "a"))
    server.answers(reply([calls("a")]))
    with pytest.raises(AsyncToolError, match="chat_async"):
        chat.chat("Hi")


def test_an_exception_in_one_of_several_tools_loses_no_result(server, reply, make, talk):
    class Stop(BaseException):
        pass

    def stop():
        raise Stop

    chat = make()
    chat.register_tools([_named(lambda: "fine", "a"), _named(stop, "b")])
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

    chat.register_tools([_named(wait, "a"), _named(leave, "b")])
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

    chat.register_tools([_named(give_up, "a"), _named(lambda: "fine", "b")])
    server.answers(reply([calls("a", "b")]), reply([answer()]))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(chat.chat_async("Hi"))
    chat.chat("Go on")
    told = [m["content"] for m in server.asked[1].json["messages"] if m["role"] == "tool"]
    assert "interrupted" in told[0]
    assert told[1] == "fine"


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

    history, loop, line = start(blocking.BlockingDriver)
    driven = blocking.drive(loop, line)
    next(driven), next(driven)
    driven.close()
    assert history.turns[-1] == AssistantPartialTurn("One")

    async def run():
        history, loop, line = start(asynchronous.AsyncDriver)
        driven = asynchronous.adrive(loop, line)
        await anext(driven), await anext(driven)
        await driven.aclose()
        assert history.turns[-1] == AssistantPartialTurn("One")

    asyncio.run(run())


def test_what_is_shown_is_not_for_the_line():
    line = blocking.BlockingDriver(None, StreamController())
    with pytest.raises(AssertionError):
        line.do(Emit(None))
