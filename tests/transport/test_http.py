"""The drivers with a real server on 127.0.0.1: requests, answers, clients, blocking and async."""

import asyncio
import gzip
import threading

import httpx
import pytest
from chats.answers import KEY, SSE, answer
from chats.http_talk import DONE, Async, Blocking, event

from ellmer_core.contents.turns import AssistantPartialTurn
from ellmer_core.conversation import retries
from ellmer_core.errors import (
    AuthenticationError,
    ConnectError,
    IncompleteResponseError,
    ServerError,
    UsageError,
)

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
    monkeypatch.setattr(retries, "FIRST", 0.001)
    server.answers(
        reply(status=503), reply([b"<html>Bad gateway</html>"], status=502, end="cut"), reply([answer()])
    )
    assert talk(make(max_tries=3), "Hi") == "Hello."
    assert len({asked.body for asked in server.asked}) == 1


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
