"""Hostile MCP servers: they are silent, list tools without an end, rename them after the list, hide what they say, and send
schemas and messages that grow when they are read.
"""

import json
import sys
import tracemalloc
import zlib
from contextlib import asynccontextmanager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from time import process_time, sleep

import pytest

from ellmer_core import ConnectError, ContentToolRequest, chat, tool
from ellmer_core._chat.console import ask_at_console
from ellmer_core.base.budget import MCP_CALL, MCP_SERVER
from ellmer_core.errors import UsageError
from ellmer_core.render.tool_card import card
from ellmer_core.testing import ScriptedModel
from ellmer_core.tool_execution import invoke
from ellmer_core.wire.shared.schemas import json_schema

pytest.importorskip("mcp")
import anyio
from mcp import MCPError, types
from mcp.server import Server
from mcp.shared.message import SessionMessage

from ellmer_core.mcp import mcp_tools
from ellmer_core.mcp.questions import Asking
from ellmer_core.mcp.reading import few_requests

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


def test_the_schema_of_results_takes_no_time():
    with mcp_tools([*HOSTILE, "is checked for long"], timeout=20) as tools:
        began = process_time()

        assert called(tools).value == "a note"
        assert process_time() - began < 1


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


@pytest.mark.slow
@pytest.mark.parametrize("how", ["pings", "long ids", "questions", "notices"])
def test_what_a_server_sends_unasked_takes_no_memory(how):
    with mcp_tools([*HOSTILE, how], timeout=0.5) as tools, traced() as peak:
        assert "did not answer the call within 0.5 seconds" in str(called(tools).error)
        assert peak() < 40_000_000


LISTED = {"name": "read_note", "inputSchema": {"type": "object"}}
ITSELF: dict[str, object] = {}
ITSELF["itself"] = ITSELF
DEEP: list[object] = []
for _ in range(1000):
    DEEP = [DEEP]


def own_transport(result, *, before=()):
    """Returns a transport as a program brings it: its messages are values that no reader of ours has bounded."""

    @asynccontextmanager
    async def opened():
        sending, reading = anyio.create_memory_object_stream(0)
        writing, asked = anyio.create_memory_object_stream(0)

        async def answered():
            async for item in asked:
                answer = answer_to(item.message)
                if answer is result:
                    for each in before:
                        await sending.send(each)
                if answer is not None:
                    response = types.JSONRPCResponse(jsonrpc="2.0", id=item.message.id, result=answer)
                    await sending.send(SessionMessage(response))

        def answer_to(message):
            who = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "serverInfo": {"name": "h", "version": "1"},
            }
            checked = LISTED | {"outputSchema": {"properties": {"a": {"pattern": "^(a+)+$"}}}}
            known = {"initialize": who, "tools/list": {"tools": [checked]}, "tools/call": result}
            return known.get(message.method, {} if hasattr(message, "id") else None)

        async with sending, reading, writing, asked, anyio.create_task_group() as tasks:
            tasks.start_soon(answered)
            yield reading, writing
            tasks.cancel_scope.cancel()

    return opened()


@pytest.mark.parametrize(
    "value", [ITSELF, DEEP, [[]] * 500_000, "a" * 64_000_001], ids=["itself", "deep", "many", "long"]
)
def test_the_messages_of_a_transport_of_ones_own_are_bounded(value):
    with mcp_tools(
        own_transport({"content": [], "structuredContent": {"a": value}}), protocol="legacy"
    ) as tools:
        assert "has more than 64,000,000 bytes or 500,000 values" in str(called(tools).error)


def test_a_transport_of_ones_own_is_read_as_the_others_are():
    many = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": [0] * 600_000}}
    before = [ValueError("no message"), SessionMessage(types.JSONRPCNotification(**many))]
    result = {"content": [], "structuredContent": {"a": "a" * 27 + "b"}}
    with mcp_tools(own_transport(result, before=before), protocol="legacy") as tools:
        assert called(tools).value == result["structuredContent"], "it is not checked by its schema"


def test_requests_are_read_again_when_others_have_their_answer():
    async def played():
        sending, reading_ = anyio.create_memory_object_stream(1000)
        writing, answers = anyio.create_memory_object_stream(1000)

        @asynccontextmanager
        async def transport():
            yield reading_, writing

        def asked(number, method="ping", **more):
            return SessionMessage(types.JSONRPCRequest(jsonrpc="2.0", id=number, method=method, **more))

        def told(number):
            return SessionMessage(types.JSONRPCResponse(jsonrpc="2.0", id=number, result={}))

        async with few_requests(transport()) as (received, sent):
            for number in range(MCP_CALL.events):
                await sending.send(asked(number))
                assert (await received.receive()).message.id == number
            await sending.send(asked(0))  # the id of another one: it gets no answer
            await sending.send(told(1))
            assert (await received.receive()).message == told(1).message
            await sending.send(asked(2000))
            found = []

            async def receive():
                found.append(await received.receive())

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(receive)
                await anyio.wait_all_tasks_blocked()
                assert found == []
                await sent.send(told(5))
            assert found[0].message.id == 2000
            sending.close()
            with pytest.raises(anyio.EndOfStream):
                await received.receive()
        assert answers.receive_nowait() == told(5)
        for stream in (reading_, writing, answers):
            stream.close()

    anyio.run(played)


def test_what_is_no_message_shows_no_key(caplog, capfd):
    key = "q7RtLm29XzAb55VnKpWcZz"
    with mcp_tools([*HOSTILE, "quotes its key"], env={"SERVICE_API_KEY": key}, timeout=20) as tools:
        assert called(tools).value == "a note"
    logged = "".join(f"{caplog.handler.format(each)}" for each in caplog.records)
    shown = capfd.readouterr().err
    assert "[key]" in logged
    assert "\\x1b]0;[key]" in shown
    assert key not in logged + shown
    assert "\x1b" not in shown


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


# --- without an end --------------------------------------------------------------------------------------


def server(**handlers):
    """Returns a server of the SDK with one tool, in this process."""

    async def listed(_context, _params):
        return types.ListToolsResult(tools=[types.Tool(name="go", input_schema={"type": "object"})])

    return Server("hostile", **{"on_list_tools": listed, **handlers})


async def never(_context, _params):
    await anyio.sleep(60)


async def samples_again(context, _params):
    words = types.SamplingMessage(role="user", content=types.TextContent(text="Again?"))
    while True:
        with suppress(MCPError):
            await context.session.create_message(messages=[words], max_tokens=5)


async def samples_at_once(_context, _params):
    words = types.SamplingMessage(role="user", content=types.TextContent(text="Again?"))
    params = types.CreateMessageRequestParams(messages=[words], max_tokens=5)
    asked = {f"{n}": types.CreateMessageRequest(params=params) for n in range(200)}
    return types.InputRequiredResult(input_requests=asked, request_state="")


async def asks_again(context, _params):
    while True:
        await context.session.elicit_form("Again?", {"type": "object", "properties": {}})


@pytest.mark.filterwarnings("ignore:The sampling capability is deprecated")
@pytest.mark.parametrize(
    ("asks", "protocol"), [(samples_again, "legacy"), (samples_at_once, "auto"), (asks_again, "legacy")]
)
def test_a_server_that_asks_without_an_end_ends_its_call(asks, protocol):
    model = ScriptedModel(*["Yes."] * 300)
    options = {"sampling": model.chat(), "ask_before_sampling": False, "protocol": protocol}
    with mcp_tools(server(on_call_tool=asks), **options) as tools:
        result = called(tools)

        assert "asked the user or the model more than 100 times" in str(result.error)
        assert len(model.asked) <= MCP_CALL.events


def test_a_server_that_answers_no_call_is_left():
    assert mcp_tools("http://x").timeout == MCP_CALL.seconds
    for limit, ask in [
        ("timeout", lambda opened, tools: called(tools).error),
        ("timeout", lambda opened, tools: opened.read("file:///x")),
        ("timeout", lambda opened, tools: opened.prompt("x")),
        ("connect_timeout", lambda opened, tools: opened.prompts()),
    ]:
        silent = {
            f"on_{name}": never for name in ("call_tool", "read_resource", "get_prompt", "list_prompts")
        }
        opened = mcp_tools(server(**silent))
        with opened as tools:
            setattr(opened, limit, 0.05)
            try:
                said = ask(opened, tools)
            except ConnectError as error:
                said = error
        assert f"(`{limit}`)" in str(said)


def test_the_time_of_the_user_is_not_the_servers(monkeypatch):
    async def asks(context, _params):
        answer = await context.session.elicit_form("Name?", {"type": "object", "properties": {}})
        return types.CallToolResult(content=[types.TextContent(text=answer.action)])

    def slow(*_):
        sleep(0.3)
        return {}

    monkeypatch.setattr(Asking, "ask", slow)
    with mcp_tools(server(on_call_tool=asks), protocol="legacy", timeout=0.25) as tools:
        assert called(tools).value == "accept"


@pytest.mark.parametrize(("name", "known"), [("", "_"), ("1st", "_1st"), ("-x", "_-x"), ("данные", "______")])
def test_the_name_of_a_tool_is_one_that_every_provider_accepts(name, known):
    async def listed(_context, _params):
        return types.ListToolsResult(tools=[types.Tool(name=name, input_schema={"type": "object"})])

    with mcp_tools(server(on_list_tools=listed)) as tools:
        assert tools[0].name == known


def test_tools_whose_names_a_model_sees_as_one_have_names_of_their_own():
    async def listed(_context, _params):
        names = ["a b", "a.b", "a_b_2"]
        return types.ListToolsResult(
            tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in names]
        )

    with pytest.warns(match="The second is 'a_b_3'"), mcp_tools(server(on_list_tools=listed)) as tools:
        assert [each.name for each in tools] == ["a_b", "a_b_3", "a_b_2"]


# --- over HTTP -------------------------------------------------------------------------------------------


@contextmanager
def over_http(answer, let_go=None):
    """Yields the URL of a server with this answer, and the paths and headers of what it was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append((self.path, dict(self.headers)))
            answer(self)
            self.close_connection = True

        def do_GET(self):
            begun(self, 405, content_length="0")

        def do_DELETE(self):
            if let_go:
                let_go(10)
            begun(self, 405, content_length="0")

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


def answering(call):
    """Answers as a server with one tool does, and a call as `call(handler, id)` does."""

    def answer(handler):
        asked = handler.asked
        known = {"initialize": WHO, "tools/list": {"tools": [NOTE]}}
        if asked["method"] == "tools/call":
            call(handler, asked["id"])
        elif "id" not in asked:
            begun(handler, 202, content_length="0")
        else:
            begun(handler, content_type="application/json", mcp_session_id="s")
            told = {"result": known[asked["method"]]} if asked["method"] in known else {"error": UNKNOWN}
            handler.wfile.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}).encode())

    return answer


WHO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "hostile", "version": "1"},
}
NOTE = {"name": "read_note", "inputSchema": {"type": "object"}}
UNKNOWN = {"code": -32601, "message": "no such method"}
MANY = '{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"a":[%s[]]}}}' % ("[]," * 600_000)


def many_in_json(handler, _id):
    begun(handler, content_type="application/json")
    handler.wfile.write(MANY.encode())


def many_in_an_event(handler, _id):
    begun(handler, content_type="text/event-stream")
    handler.wfile.write(f"data: {MANY}\n\n".encode())


def packed_call(handler, _id):
    begun(handler, content_type="text/event-stream", content_encoding="gzip")
    handler.wfile.write(b"\x1f\x8b")


def some_in_many_events(handler, number):
    begun(handler, content_type="text/event-stream")
    note = {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "info", "data": [1] * 1000},
    }
    handler.wfile.write(f"data: {json.dumps(note)}\n\n".encode() * 30)
    said = {
        "jsonrpc": "2.0",
        "id": number,
        "result": {"content": [{"type": "text", "text": "x" * 1_200_000}]},
    }
    handler.wfile.write(f"data: {json.dumps(said)}\n\n".encode())


@pytest.mark.invariants
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (many_in_json, "more than 64,000,000 bytes or 500,000 values"),
        (many_in_an_event, "more than 64,000,000 bytes or 500,000 values"),
        (packed_call, "compressed its answer"),
        (some_in_many_events, "None"),
        (lambda handler, _id: handler.connection.close(), "Connection closed"),
    ],
)
def test_a_call_that_fails_fails_alone(call, said):
    with over_http(answering(call)) as (url, asked), mcp_tools(url, protocol="legacy") as tools:
        assert said in str(called(tools).error)
    assert len(asked) > 2


def test_a_server_that_does_not_let_go_is_left(monkeypatch):
    monkeypatch.setattr("ellmer_core.mcp.client.CLOSING", 0.05)
    left, held = Event(), []
    with over_http(answering(many_in_json), lambda seconds: held.append(left.wait(seconds))) as (url, _):
        with mcp_tools(url, protocol="legacy"):
            pass
        assert held == []  # it still waits
        left.set()


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
