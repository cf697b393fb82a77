"""The ASGI app, with a chat behind it: statuses, a queue, a client that goes away."""

import asyncio
import json

import httpx
import pytest
from chats.many import chat_with, provider

from ellmer_core.web import ag_ui, endpoint, vercel

JSON = {"content-type": "application/json"}


ANSWERED = {
    "type": "tool-look",
    "toolCallId": "c1",
    "state": "approval-responded",
    "input": {},
    "approval": {"id": "c1", "approved": True},
}
RESUMED = {"interruptId": "c1", "status": "resolved", "payload": {"approved": True}}
SHOWN = [{"id": str(n), "role": "user", "parts": [{"type": "text", "text": "other"}]} for n in range(2)]


def post(app, body, **options):
    async def talk():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
            return await client.post("/", **{"content": body, "headers": JSON, **options})

    return asyncio.run(talk())


def message(text, id="c"):
    return json.dumps({"id": id, "messages": [{"role": "user", "parts": [{"type": "text", "text": text}]}]})


def run(text, thread="c"):
    return json.dumps({"threadId": thread, "runId": "r", "messages": [{"role": "user", "content": text}]})


@pytest.fixture
def chat():
    def answer(messages):
        last = messages[-1]["content"]
        return 500 if last == "Fail" else {"role": "assistant", "content": f"<{last}>"}

    with provider(answer) as url:
        chat = chat_with(url)
        chat.max_tries = 1
        yield chat


def find(chat):
    return lambda name, _scope: chat if name == "c" else None


def events(response):
    return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]


def test_an_answer_of_each_protocol(chat):
    response = post(endpoint(vercel, find(chat)), message("Hi"))
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert response.headers["content-type"] == "text/event-stream"
    assert [event["delta"] for event in events(response) if event["type"] == "text-delta"] == ["<Hi>"]
    assert response.text.endswith("data: [DONE]\n\n")

    response = post(endpoint(ag_ui, find(chat)), run("Ho"))
    assert events(response)[-1]["outcome"] == {"type": "success"}
    assert events(response)[-1]["usage"] == [
        {"provider": "OpenAI-compatible", "model": "m", "inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
    ]
    assert [turn.text for turn in chat.get_turns()] == ["Hi", "<Hi>", "Ho", "<Ho>"]


@pytest.mark.parametrize(
    ("body", "options", "status"),
    [
        (b"{", {}, 400),
        (b'{"id": "c", "messages": []}', {}, 400),
        (message("Hi", "other"), {}, 404),
        (message("Hi"), {"headers": {"content-type": "text/plain"}}, 415),
        (message("x" * 2000), {}, 413),
    ],
)
def test_requests_that_are_refused(chat, body, options, status):
    response = post(endpoint(vercel, find(chat), max_bytes=1000), body, **options)

    assert response.status_code == status
    assert chat.get_turns() == []


@pytest.mark.parametrize(
    ("protocol", "body", "words"),
    [
        (
            vercel,
            {"id": "c", "messages": [{"role": "assistant", "parts": [ANSWERED]}]},
            "no decision about a call",
        ),
        (vercel, {"id": "c", "trigger": "regenerate-message", "messages": SHOWN}, "Load it again"),
        (
            ag_ui,
            {"threadId": "c", "runId": "r", "messages": [], "resume": [RESUMED]},
            "about all waiting calls",
        ),
    ],
)
def test_what_only_the_history_refuses_is_refused_before_the_stream(chat, caplog, protocol, body, words):
    chat.chat("Hi")
    response = post(endpoint(protocol, find(chat)), json.dumps(body))

    assert response.status_code == 400
    assert words in response.text
    assert [turn.text for turn in chat.get_turns()] == ["Hi", "<Hi>"]
    assert caplog.records == []  # it is the client's mistake


def test_a_busy_conversation_is_refused_before_the_stream(chat):
    stream = chat.stream("Hi")
    next(stream)
    response = post(endpoint(vercel, find(chat)), message("Ho"))
    stream.close()

    assert (response.status_code, response.text.partition(".")[0]) == (
        409,
        "The answer to another message of this conversation is not complete",
    )


def test_only_posts(chat):
    async def get():
        transport = httpx.ASGITransport(endpoint(vercel, find(chat)))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            return await client.get("/")

    assert asyncio.run(get()).status_code == 405


def test_an_error_is_told_in_plain_words_and_without_details(chat):
    failed = events(post(endpoint(vercel, find(chat)), message("Fail")))[-1]
    assert failed == {
        "type": "error",
        "errorText": "The provider is overloaded or has a problem. Nothing is lost: retry in a moment.",
    }
    assert events(post(endpoint(ag_ui, find(chat)), run("Fail")))[-1]["type"] == "RUN_ERROR"


@pytest.mark.parametrize("mode", ["raise", "wait"])
def test_two_requests_of_one_conversation(chat, mode):
    chat.when_busy = mode
    app = endpoint(vercel, find(chat))

    async def both():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
            return await asyncio.gather(*(client.post("/", content=message(t), headers=JSON) for t in "ab"))

    answers = asyncio.run(both())
    ends = [events(each)[-1]["type"] if each.status_code == 200 else each.status_code for each in answers]
    assert sorted(map(str, ends)) == (["finish", "finish"] if mode == "wait" else ["409", "finish"])
    assert len(chat.get_turns()) == (4 if mode == "wait" else 2)


def test_a_client_that_goes_away_ends_the_answer(server, reply):
    from ellmer_core import chat_openai_completions

    piece = {"choices": [{"index": 0, "delta": {"content": "Half"}}]}
    chunk = f"data: {json.dumps(piece)}\n\n".encode()
    server.answers(
        reply([chunk, lambda server: server.until_left()], headers={"content-type": "text/event-stream"})
    )
    chat = chat_openai_completions(model="m", api_key="k", base_url=server.url)

    async def talk():
        left = asyncio.Event()
        requests = [{"type": "http.request", "body": message("Hi").encode()}]

        async def receive():
            if requests:
                return requests.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(sent):
            if b"Half" in sent.get("body", b""):
                left.set()

        scope = {"type": "http", "method": "POST", "headers": [(b"content-type", b"application/json")]}
        await endpoint(vercel, lambda _name, _scope: chat)(scope, receive, send)

    asyncio.run(talk())
    assert server.left.wait(30)
    assert chat.get_turns()[-1].text == "Half"
    assert chat.get_turns()[-1].reason == "interrupted"


def test_a_server_may_start_and_stop_it():
    async def talk():
        messages = [{"type": "lifespan.shutdown"}, {"type": "lifespan.startup"}]
        sent = []

        async def receive():
            return messages.pop()

        async def send(message):
            sent.append(message["type"])

        await endpoint(vercel, find(None))({"type": "lifespan"}, receive, send)
        return sent

    assert asyncio.run(talk()) == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
