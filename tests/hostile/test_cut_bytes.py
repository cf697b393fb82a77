"""The answer does not depend on how the bytes were cut: after the end marker nothing counts, and before an error all
that was decoded counts.

One recorded stream of each wire format, in many forms, is played in one piece, byte by byte, and in two parts.
"""

import asyncio
import gzip
import json
import os
import random
import re
import zlib
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

import ellmer_core as ec
from ellmer_core.web import ag_ui, endpoint, vercel
from ellmer_harness.format.serializer import Serializer

pytestmark = pytest.mark.invariants

CASSETTES = Path(__file__).parents[2] / "cassettes"
MODELS = {
    "openai-chat/groq": "groq",
    "openai-responses/openai": "openai",
    "anthropic/anthropic": "anthropic",
    "gemini/google": "google_gemini",
    "bedrock/bedrock": "aws_bedrock",
    "mistral/mistral": "mistral",
    "ollama/ollama": "ollama",
    "cohere/cohere": "cohere",
}
NO_END_MARKER = {"gemini/google"}  # its stream ends with the connection
BINARY = {"bedrock/bedrock"}
LINES = {"ollama/ollama"}
#: Random places of two-part splits, besides those around the end and the change. `nox -s invariants` has more.
SPLITS = 12 if os.environ.get("INVARIANTS") else 4


def recorded(name):
    """Returns the two answers of a case with a tool call, as bytes, and their content type."""
    path = CASSETTES / name / "one_tool.stream.json"
    cassette = Serializer(path.parent).deserialize(path.read_text(encoding="utf-8"))
    answers = [each["response"] for each in cassette["interactions"]]
    [kind] = {answer["headers"]["content-type"][0] for answer in answers}
    return [answer["body"]["string"] for answer in answers], kind


def forms(name):
    """Yields `(form, headers, body)` of the first answer. `after:` marks bytes after the end marker."""
    (first, second), _ = recorded(name)
    yield "as recorded", {}, first
    yield "compressed", {"content-encoding": "gzip"}, gzip.compress(first, mtime=0)
    yield "deflated", {"content-encoding": "deflate"}, zlib.compress(first)
    yield "deflated without a header", {"content-encoding": "deflate"}, zlib.compress(first)[2:-4]
    packed = bytearray(gzip.compress(first, 0, mtime=0))
    packed[len(packed) // 2 :] = b"\xff" * (len(packed) - len(packed) // 2)
    yield "damaged compression", {"content-encoding": "gzip"}, bytes(packed)
    yield "after: a second answer", {}, first + second
    yield "after: the same answer", {}, first + first
    yield "after: garbage", {}, first + b"data: <html>\n\n{]\n\x00\xff\n\n"
    yield "cut", {}, first[: len(first) * 2 // 3]
    if name in BINARY:
        damaged = bytearray(first)
        damaged[len(first) // 2] ^= 1
        yield "a damaged frame", {}, bytes(damaged)
        return
    yield "CRLF", {}, first.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    yield "CR", {}, first.replace(b"\r\n", b"\n").replace(b"\n", b"\r")
    yield "BOM", {}, b"\xef\xbb\xbf" + first
    end, frame = (b"\n", "{}\n") if name in LINES else (b"\n\n", "data: {}\n\n")
    first = first.replace(b"\r\n", b"\n")
    error = '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'
    yield "after: an error", {}, first + frame.format(error).encode()
    middle = first.rindex(end, 0, -len(end)) if name in LINES else first.index(end, len(first) // 2)
    middle += len(end)
    for form, inserted in (("an error", error), ("an event that is not JSON", "<html>")):
        yield f"{form} before the end", {}, first[:middle] + frame.format(inserted).encode() + first[middle:]


def cuts(body):
    """Yields the same bytes in one piece, byte by byte, and in two parts."""
    yield [body]
    yield [body[place : place + 1] for place in range(len(body))]
    places = set(random.Random(7).sample(range(1, len(body)), SPLITS))
    places |= {1, 2, 3, *range(len(body) - 12, len(body))}
    for place in sorted(places):
        yield [body[:place], body[place:]]


class Chunks(httpx.SyncByteStream, httpx.AsyncByteStream):
    def __init__(self, chunks):
        self.chunks = chunks

    def __iter__(self):
        return iter(self.chunks)

    async def __aiter__(self):
        for chunk in self.chunks:
            yield chunk


def played(name, chunks, headers):
    """Returns all that a caller sees: turns, pieces, tool runs, callbacks, the error."""
    (_, second), kind = recorded_once(name)
    answers = [Chunks(chunks), *(Chunks([second]) for _ in range(3))]

    def answer(request):
        stream = answers.pop(0)
        extra = headers if stream.chunks is chunks else {}
        return httpx.Response(200, headers={"content-type": kind, **extra}, stream=stream)

    runs, requests, shown, error = [], [], [], None
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        chat = chat_of(name, client)

        def get_weather(city: str) -> str:
            runs.append(city)
            return "sunny"

        chat.register_tool(ec.tool(get_weather, "Weather."))
        chat.on_tool_request(lambda request: requests.append((request.name, dict(request.arguments))))
        try:
            for content in chat.stream("What's the weather in Paris?", content="all"):
                joined(shown, content)
        except ec.EllmerError as raised:
            error = (type(raised), str(raised))
    turns = [
        (type(turn), turn.contents, getattr(turn, "finish_reason", None), getattr(turn, "reason", None))
        for turn in chat.get_turns()
    ]
    return turns, shown, runs, requests, error


def joined(shown, content):
    kind, text = type(content), getattr(content, "text", None) or getattr(content, "thinking", None)
    if text is not None and shown and shown[-1][0] is kind:
        shown[-1] = (kind, shown[-1][1] + text)
    elif text is None and not isinstance(content, ec.ContentToolRequest | ec.ContentToolResult):
        shown.append((kind, content))
    else:
        shown.append(
            (kind, text if text is not None else content.name if kind is ec.ContentToolRequest else "")
        )


CACHE = {}


def recorded_once(name):
    if name not in CACHE:
        CACHE[name] = recorded(name)
    return CACHE[name]


def chat_of(name, client):
    options = {"api_key": "key", "region": "us-east-1"} if name in BINARY else {"api_key": "key"}
    if name in LINES:
        options = {}
    return ec.chat(f"{MODELS[name]}/model", client=client, max_tries=1, echo="none", **options)


CASES = [pytest.param(name, *form, id=f"{name}: {form[0]}") for name in MODELS for form in forms(name)]


@pytest.mark.parametrize(("name", "form", "headers", "body"), CASES)
@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_the_answer_does_not_depend_on_how_the_bytes_were_cut(name, form, headers, body):
    whole, *others = [played(name, chunks, headers) for chunks in cuts(body)]

    assert [other for other in others if other != whole] == []
    if form.startswith("after:") and name not in NO_END_MARKER:
        assert whole == played(name, [recorded_once(name)[0][0]], {})
    if form in {"as recorded", "compressed", "deflated", "deflated without a header", "CRLF", "CR", "BOM"}:
        assert (whole[2], whole[4]) == (["Paris"], None)
    if "before the end" in form and (name, "JSON" in form) != ("cohere/cohere", False):
        assert whole[4] is not None


# --- Web clients -----------------------------------------------------------------------------------------


ASKED = {
    vercel: {
        "id": "chat-1",
        "trigger": "submit-message",
        "messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Zürich 😀?"}]}],
    },
    ag_ui: {
        "threadId": "chat-1",
        "runId": "r1",
        "state": {},
        "messages": [{"id": "m1", "role": "user", "content": "Zürich 😀?"}],
        "tools": [],
        "context": [],
        "forwardedProps": {},
    },
}
#: What differs in each run.
RANDOM = re.compile(r'[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|"timestamp":\s*\d+')


def answered(protocol, name, chunks, headers, asked):
    """Returns the status and the events of a web client's request, which came in pieces, as the answer did."""
    (_, second), kind = recorded_once(name)
    answers = [(chunks, headers), *[([second], {})] * 3]

    async def answer(_):
        body, more = answers.pop(0)
        return httpx.Response(200, headers={"content-type": kind, **more}, stream=Chunks(body))

    chat = chat_of(name, httpx.AsyncClient(transport=httpx.MockTransport(answer)))

    def get_weather(city: str) -> str:
        return f"sunny in {city}"

    chat.register_tool(ec.tool(get_weather, "Weather."))
    pieces = [{"type": "http.request", "body": each, "more_body": True} for each in asked]
    pieces.append({"type": "http.request"})
    sent = []

    async def receive():
        return pieces.pop(0) if pieces else await asyncio.Event().wait()

    async def send(piece):
        sent.append(piece)

    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", b"application/json")]}
    asyncio.run(endpoint(protocol, lambda *_: chat)(scope, receive, send))
    events, known = b"".join(piece.get("body", b"") for piece in sent).decode(), {}
    return sent[0]["status"], RANDOM.sub(lambda found: known.setdefault(found[0], f"#{len(known)}"), events)


@pytest.mark.parametrize("protocol", ASKED, ids=["vercel", "ag_ui"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_the_events_for_a_web_client(protocol, name, record_property):
    asked, lots, compared = json.dumps(ASKED[protocol], ensure_ascii=False).encode(), random.Random(name), 0
    for form, headers, body in [*forms(name)][:: 1 if SPLITS > 4 else 3]:
        whole = answered(protocol, name, [body], headers, [asked])
        assert whole[0] == 200
        for chunks in [*cuts(body)][1 : 3 if SPLITS == 4 else 12]:
            places = [0, *sorted(lots.sample(range(len(asked)), 3)), len(asked)]
            pieces = [asked[start:stop] for start, stop in pairwise(places)]
            assert answered(protocol, name, chunks, headers, pieces) == whole, form
            compared += 1
    record_property("cases", compared)
