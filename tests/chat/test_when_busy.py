"""`when_busy="wait"`: calls of one chat wait for each other, in threads and in event loops."""

import asyncio
import json
import threading

import httpx
import pytest
from chats.scripted import CHAT

import ellmer_core as ec
from ellmer_core.errors import UsageError


class Provider(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers with the last message. `asked` is set when a request is there; it is answered after `go`."""

    def __init__(self):
        self.asked, self.go = threading.Event(), threading.Event()
        self.seen = []

    def answer(self, request):
        messages = json.loads(request.content)["messages"]
        self.seen.append([message["content"] for message in messages])
        message = {"role": "assistant", "content": f"<{messages[-1]['content']}>"}
        return httpx.Response(200, json={"choices": [{"message": message, "finish_reason": "stop"}]})

    def handle_request(self, request):
        self.asked.set()
        assert self.go.wait(30)
        return self.answer(request)

    async def handle_async_request(self, request):
        self.asked.set()
        await asyncio.to_thread(self.go.wait, 30)
        return self.answer(request)


@pytest.fixture
def provider():
    return Provider()


@pytest.fixture
def chat(provider):
    clients = httpx.Client(transport=provider), httpx.AsyncClient(transport=provider)
    chat = ec.Chat(CHAT, client=clients, max_tries=1)
    chat.when_busy = "wait"
    return chat


def test_threads_wait_in_their_order(chat, provider):
    answers = []
    threads = []
    for word in ("one", "two", "three"):
        threads.append(threading.Thread(target=lambda word=word: answers.append(chat.chat(word))))
        threads[-1].start()
        while len(chat._turn._queue) < len(threads) - 1:
            pass
        assert provider.asked.wait(30)
    provider.go.set()
    for thread in threads:
        thread.join(30)

    assert answers == ["<one>", "<two>", "<three>"]
    assert provider.seen[2] == ["one", "<one>", "two", "<two>", "three"]


def test_tasks_wait_and_one_that_is_cancelled_waits_no_longer(chat, provider):
    async def talk():
        first, second, third = (
            asyncio.create_task(chat.chat_async(word)) for word in ("one", "two", "three")
        )
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(chat._turn._queue) == 2
        second.cancel()
        provider.go.set()
        with pytest.raises(asyncio.CancelledError):
            await second
        return await first, await third

    assert asyncio.run(talk()) == ("<one>", "<three>")
    assert provider.seen[1] == ["one", "<one>", "three"]
    assert chat.chat("Again") == "<Again>"


def test_a_call_that_the_answer_waits_for_cannot_wait_for_it(chat, provider):
    provider.go.set()
    stream = chat.stream("one")
    next(stream)
    with pytest.raises(UsageError, match=r"cannot wait for it. Use a fork\(\)"):
        chat.chat("two")
    assert chat.fork().chat("two") == "<two>"
    stream.close()

    assert chat.chat("three") == "<three>"


def test_without_the_setting_a_second_call_raises(chat, provider):
    chat.when_busy = "raise"
    thread = threading.Thread(target=chat.chat, args=["one"])
    thread.start()
    assert provider.asked.wait(30)
    with pytest.raises(UsageError, match='or set when_busy="wait"'):
        chat.chat("two")
    provider.go.set()
    thread.join(30)


def test_a_wrong_setting_is_told(chat, provider):
    with pytest.raises(UsageError, match='"raise" or "wait"'):
        chat.when_busy = "queue"
    assert ec.chat_openai(model="m", api_key="k", when_busy="wait").when_busy == "wait"
