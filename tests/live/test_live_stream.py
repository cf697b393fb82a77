"""The stream for a user's own Shiny app: contents in order, with the progress of tools."""

import asyncio
import json
import threading
from dataclasses import dataclass
from itertools import groupby

import pytest

pytest.importorskip("shinychat", reason="The chat app is an extra: ellmer-core[shiny].")
import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server.strict_server import StrictServer
from ellmer_core.contents.content import ContentText
from ellmer_core.live.stream_to_shinychat import ToolProgress, Words


@dataclass(frozen=True)
class Flights(ec.ContentToolResult):
    """A tool's own class of result."""


@ec.tool
def search() -> Flights:
    """Searches."""
    line = ec.local_shinychat()
    line.append("asked 1")
    line.append(", 2")
    line.replace("done")
    return Flights(["TP1"], extra={"display": {"title": "One flight"}})


@ec.tool
def count():
    """Counts."""
    yield "one"
    yield "two"
    return "counted"


@ec.tool
async def wait() -> str:
    """Waits."""
    ec.local_shinychat().append("waiting")
    return "waited"


class ChatBase:
    """A chat whose model plays `steps`, with its requests."""

    def __init__(self, server, *tools):
        self.server = server
        url = f"{server.url('talk', '1')}/v1"
        self.chat = ec.chat_anthropic(base_url=url, api_key="none", model="claude-sonnet-5", echo="none")
        self.chat.register_tools(tools)

    def sent(self):
        return "".join(json.dumps(e.request.body) for e in self.server.exchanges("talk", "1"))


@pytest.fixture
def talk():
    servers = []

    def opened(steps, *tools):
        server = StrictServer({"talk": Script(steps)})
        servers.append(server.__enter__())
        return ChatBase(server, *tools)

    yield opened
    for server in servers:
        server.__exit__(None, None, None)


@pytest.fixture
def said(monkeypatch):
    """Yields the progress of tools on the page: call and text."""
    said = []

    async def tell(self):
        said.append((self.call, self.text))

    monkeypatch.setattr(ToolProgress, "tell", tell)
    return said


def collected(stream):
    async def collect():
        return [content async for content in stream]

    return asyncio.run(collect())


STEPS = [Answer((Say("I look."), Call("search", {}))), Answer((Say("There is one."),))]


def test_contents_come_in_order_and_progress_between_request_and_result(talk, said):
    it = talk(STEPS, search)
    contents = collected(ec.shinychat_stream(it.chat, "Flights?"))

    order = [type(c).__name__ for c in contents]
    assert [name for name, _ in groupby(order)] == [
        "ContentText",
        "ContentToolRequest",
        "Flights",
        "ContentText",
    ]
    request, result = (c for c in contents if not isinstance(c, ec.ContentText))
    assert "".join(c.text for c in contents if isinstance(c, ec.ContentText)) == "I look.There is one."
    assert result.request == request
    assert [text for call, text in said if call == request.id] == ["asked 1", "asked 1, 2", "done", ""]


def test_the_model_does_not_hear_what_tools_say_nor_how_results_look(talk, said):
    it = talk(STEPS, search)
    collected(ec.shinychat_stream(it.chat, "Flights?"))

    assert "TP1" in it.sent()
    assert not [word for word in ("asked", "done", "One flight") if word in it.sent()]
    assert "asked" not in json.dumps(it.chat.record())


def test_generators_and_async_tools_say_how_far_they_are(talk, said):
    it = talk([Answer((Call("count", {}), Call("wait", {}))), Answer((Say("So."),))], count, wait)
    contents = collected(ec.shinychat_stream(it.chat, "Go"))

    counting, waiting = (c.id for c in contents if isinstance(c, ec.ContentToolRequest))
    assert [text for call, text in said if call == counting] == ["one", "two", ""]
    assert [text for call, text in said if call == waiting] == ["waiting", ""]


def test_without_a_page_a_tool_says_it_to_nobody(talk):
    it = talk(STEPS, search)

    assert it.chat.chat("Flights?") == "There is one."
    assert search().value == ["TP1"]
    ec.local_shinychat().append("nobody hears this")


def test_what_was_never_called_is_marked_when_the_stream_is_stopped(talk, said):
    it, controller = (
        talk([Answer((Call("wait", {}), Call("search", {})))], wait, search),
        ec.StreamController(),
    )
    it.chat.on_tool_request(lambda _request: controller.cancel())
    contents = collected(ec.shinychat_stream(it.chat, "Go", controller=controller))

    requests = [c for c in contents if isinstance(c, ec.ContentToolRequest)]
    results = [c for c in contents if isinstance(c, ec.ContentToolResult)]
    assert [c.request for c in results] == requests != []
    assert {c.error for c in results} == {"Chat ended before the tool could be invoked."}


def test_an_error_ends_the_stream_and_is_raised(talk, said):
    it = talk([], search)

    with pytest.raises(ec.ContentError, match="not standard base64"):
        collected(ec.shinychat_stream(it.chat, ec.ContentImageInline("image/png", "no base64!")))


def test_leaving_the_stream_frees_the_chat(talk, said):
    started = threading.Event()

    @ec.tool
    async def endless():
        """Never ends."""
        started.set()
        await asyncio.Event().wait()

    it = talk([Answer((Say("I wait."), Call("endless", {}))), Answer((Say("Fine."),))], endless)

    async def leave():
        stream = ec.shinychat_stream(it.chat, "Go")
        async for content in stream:
            if isinstance(content, ec.ContentToolRequest):
                break
        await stream.aclose()
        return await it.chat.chat_async("Go on")

    assert asyncio.run(leave()) == "Fine."


PARAGRAPH = "word " * 240 + "\n\n"
LIST = "1. one\n2. two\n\n   still two\n3. three\n\n" * 30
LONG_TEXTS = {
    "paragraphs": (PARAGRAPH * 4 + "The end.", 4),
    "one list": (LIST + "The end.", 1),
    "a tag that stays open": ("<details>\n\n" + PARAGRAPH * 4 + "</details>\n\n" + PARAGRAPH + "The end.", 2),
    "code": ("```\n" + "x = 1\n\n" * 400 + "```\n\nThe end.", 1),
}


@pytest.mark.parametrize(("text", "times"), LONG_TEXTS.values(), ids=LONG_TEXTS)
def test_blocks_of_a_long_text_that_are_whole_are_drawn_no_more(text, times):
    words, shown = Words(), []
    for place in range(0, len(text), 7):
        shown += words.take(ContentText(text[place : place + 7]))
    shown += words.end()
    parts = [[]]
    for one in shown:
        parts[-1].append(one.text) if isinstance(one, ContentText) else parts.append([])

    assert "".join(map("".join, parts)) == text
    assert len(parts) == times + 1
    assert all("".join(part)[:1].strip() for part in parts)
