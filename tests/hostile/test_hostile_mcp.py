"""Hostile MCP servers: they are silent, list tools without an end, rename them after the list, hide what they say, and send
schemas and messages that grow when they are read.
"""

import json
import sys
import tracemalloc
import zlib
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from ellmer_core import ConnectError, ContentToolRequest, chat, tool
from ellmer_core._chat.console import ask_at_console
from ellmer_core.base.budget import MCP_SERVER
from ellmer_core.errors import UsageError
from ellmer_core.render.tool_card import card
from ellmer_core.tool_execution import invoke
from ellmer_core.wire.shared.schemas import json_schema

pytest.importorskip("mcp")

from ellmer_core.mcp import mcp_tools

HOSTILE = [sys.executable, str(Path(__file__).with_name("hostile_mcp_server.py"))]


@pytest.mark.slow
def test_a_server_that_says_nothing_is_left():
    silent = mcp_tools([*HOSTILE, "mute"], connect_timeout=0.5)
    with pytest.raises(ConnectError, match=r"said nothing.* for 0\.5 seconds"), silent:
        pass


@pytest.mark.parametrize("lists", ["pages", "crowd"])
def test_a_list_of_tools_without_an_end_is_refused(lists):
    with pytest.raises(UsageError, match="more than 1000 tools"), mcp_tools([*HOSTILE, lists]):
        pass


def test_references_to_references_of_a_server_are_not_written_out():
    with mcp_tools([*HOSTILE, "bomb"]) as tools:
        assert len(json.dumps(json_schema(tools[0].arguments))) < 20_000


def called(tools):
    return invoke(ContentToolRequest("1", tools[0].name, {}, tool=tools[0]))


def test_a_tool_that_is_renamed_after_the_list_is_an_error_of_the_call():
    with mcp_tools([*HOSTILE, "renames"], timeout=20) as tools:
        before = [(each.name, each.description, each.annotations) for each in tools]
        result = called(tools)
        again = called(tools)

        assert "Unknown tool" in str(result.error)
        assert "Unknown tool" in str(again.error)
        assert [(each.name, each.description, each.annotations) for each in tools] == before


@pytest.mark.parametrize("how", ["answers nobody", "says nonsense"])
def test_what_answers_no_call_is_left_out(how):
    with mcp_tools([*HOSTILE, how], timeout=20) as tools:
        assert called(tools).value == "a note"


@pytest.mark.parametrize("how", ["lacks content", "knows other content"])
def test_a_malformed_result_is_an_error_of_the_call(how):
    with mcp_tools([*HOSTILE, how], timeout=20) as tools:
        assert called(tools).error is not None


def test_what_a_server_hides_in_names_is_seen_by_who_approves(monkeypatch):
    asked = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or "n")
    with mcp_tools([*HOSTILE, "odd"], timeout=20) as tools:
        request = ContentToolRequest("1", tools[0].name, {"a\u202e": 1}, tool=tools[0])
        ask_at_console(request)
        shown = card(request)

        assert tools[0].name.isascii()
        assert "root:" not in json.dumps(json_schema(tools[0].arguments))  # no file of a reference is read
        for text in (*asked, shown.title, shown.call, shown.arguments, repr(tools[0])):
            assert [letter for letter in text if letter in "\x1b\u202e\U000e0041"] == []


def test_who_approves_sees_the_name_and_the_arguments_and_not_what_a_description_says(monkeypatch):
    asked = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or "n")
    with mcp_tools([*HOSTILE, "pretends"], timeout=20) as tools:
        request = ContentToolRequest("1", tools[0].name, {"path": "/\x1b[2K\ny\u202e"}, tool=tools[0])
        ask_at_console(request)
        shown = card(request)

        assert asked
        for text in (asked[-1], f"{shown.call} {shown.arguments}"):
            assert "delete_all" in text
            assert "\\x1b[2K" in text or "\\u001b[2K" in text
            assert [letter for letter in text if letter in "\x1b\r\u202e"] == []
        for text in (*asked, shown.call, shown.arguments):
            assert "Ignore what" not in text
            assert "[y/n] y" not in text
        assert "\x1b" not in shown.title


@contextmanager
def traced():
    """Yields a function that returns the bytes that were needed at most."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("how", ["endless", "many"])
def test_a_message_that_is_too_large_ends_its_call(how):
    with mcp_tools([*HOSTILE, how], timeout=60) as tools, traced() as peak:
        result = called(tools)

        assert "has more than 64,000,000 bytes or 500,000 values" in str(result.error)
        assert peak() < 4 * MCP_SERVER.received


def test_a_tool_does_not_take_the_place_of_another_one_silently():
    @tool
    def read_note() -> str:
        """Reads a note of mine."""
        return "mine"

    asked = chat("openai/gpt-4.1", api_key="k")
    asked.register_tool(read_note)
    with mcp_tools([*HOSTILE, "renames"]) as tools:
        with pytest.warns(match="'read_note' was registered before"):
            asked.register_tools(tools)
        asked.register_tools(tools)  # the same one again


# --- over HTTP -------------------------------------------------------------------------------------------


@contextmanager
def over_http(answer):
    """Yields the URL of a server with this answer, and the paths and headers of what it was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            asked.append((self.path, dict(self.headers)))
            answer(self)
            self.close_connection = True

        do_GET = do_POST  # noqa: N815 - its name is given

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", asked
    finally:
        server.shutdown()
        server.server_close()


def begun(handler, status=200, **headers):
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def endless(handler):
    begun(handler, content_type="application/json")
    try:
        while True:
            handler.wfile.write(b"[" + b" " * 1_000_000)
    except OSError:  # the client left
        pass


def many(handler):
    begun(handler, content_type="application/json")
    handler.wfile.write(b"[" + b"[]," * 2_000_000 + b"[]]")


def bomb():
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b" " * 1_000_000) for _ in range(300)), packer.flush()])


def packed(handler):
    begun(handler, content_type="application/json", content_encoding="gzip")
    handler.wfile.write(bomb())


@pytest.mark.parametrize("answer", [endless, many, packed])
def test_an_answer_over_http_is_bounded(answer):
    with over_http(answer) as (url, asked), traced() as peak:
        with pytest.raises(ConnectError), mcp_tools(url, connect_timeout=30):
            pass

        assert asked
        assert peak() < 3 * MCP_SERVER.received


def test_the_headers_of_a_server_follow_no_redirect():
    def moved(handler):
        port = handler.server.server_port
        begun(handler, 307, location=f"http://localhost:{port}/stolen", content_length="0")

    with (
        over_http(moved) as (url, asked),
        pytest.raises(ConnectError),
        mcp_tools(url, headers={"authorization": "Bearer of-mine"}, connect_timeout=5),
    ):
        pass

    assert {path for path, _ in asked} == {"/mcp"}
