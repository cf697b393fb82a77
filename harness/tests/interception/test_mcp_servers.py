"""MCP servers: those that are processes, and sessions over HTTP, are recorded and replayed without the server."""

import json
import sys
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import httpx
import mcp_types as types
import pytest
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.message import SessionMessage

from ellmer_core.base.budget import Budget
from ellmer_harness import Miss, SecretFound, use_cassette
from ellmer_harness.exchange.json_rpc import renumbered
from ellmer_harness.exchange.reply import Reply, cut
from ellmer_harness.interception.clients.mcp_servers import RecordedServer, server_url
from ellmer_harness.interception.open_cassettes import Clock
from ellmer_harness.secrets.redaction import clean_url

SERVER = """
import json, sys

started = open(sys.argv[1], "a")
started.write("started\\n"); started.close()

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        say(id=number, result={"ready": True})
    elif method == "notifications/initialized":
        say(id="s1", method="roots/list")
    elif method == "tools/call" and params["name"] == "die":
        break
    elif method == "tools/call":
        say(method="notifications/progress", params={"progressToken": number, "progress": 1})
        say(id=number, result={"said": params["name"]})
"""


@pytest.fixture
def server(tmp_path):
    """A server of MCP, and the file that has one line for each time it was started."""
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "started").touch()
    return StdioServerParameters(
        command=sys.executable, args=[str(tmp_path / "server.py"), str(tmp_path / "started")]
    )


def starts(server):
    return len(Path(server.args[1]).read_text().splitlines())


def message(**fields):
    return SessionMessage(types.jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **fields}))


def talk(server, *messages, answers):
    """Sends messages, and returns what the server says: `answers` messages."""

    async def talking():
        heard = []
        async with stdio_client(server) as (read, write):
            for each in messages:
                await write.send(message(**each))
            with anyio.fail_after(30):
                for _ in range(answers):
                    said = (await read.receive()).message
                    heard.append(said.model_dump(by_alias=True, exclude_unset=True))
        return heard

    return anyio.run(talking)


def call(name, number, **meta):
    return {"id": number, "method": "tools/call", "params": {"name": name, **meta}}


def said(heard):
    return [(each["id"], each["result"]["said"]) for each in heard if "result" in each]


def test_a_server_is_not_started_in_a_replay(server, tmp_path):
    path = tmp_path / "c.json"
    with use_cassette(path, mode="record") as cassette:
        recorded = talk(server, call("a", 1), call("b", 2), answers=4)
    with use_cassette(path):
        replayed = talk(server, call("a", 1), call("b", 2), answers=4)

    assert said(recorded) == [(1, "a"), (2, "b")]
    assert sorted(map(json.dumps, replayed)) == sorted(map(json.dumps, recorded))
    assert starts(server) == 1
    assert [sent.url for sent in cassette.sent] == ["stdio://python/?server.py&started"] * 2
    assert json.loads(path.read_text())["metadata"]["ellmer_harness"]["recorded_from"] == "this machine"


def test_calls_are_found_in_any_order_and_answered_under_their_own_numbers(server, tmp_path):
    path = tmp_path / "c.json"
    with use_cassette(path, mode="record"):
        talk(server, call("a", 1), call("b", 2), answers=4)
    with use_cassette(path):
        heard = talk(server, call("b", 7), call("a", 8), answers=4)

    assert said(heard) == [(7, "b"), (8, "a")]
    assert [each["params"]["progressToken"] for each in heard if "method" in each] == [7, 8]


def test_what_a_server_asks_comes_after_the_message_that_it_followed(server, tmp_path):
    def ask():
        async def asking():
            async with stdio_client(server) as (read, write):
                await write.send(message(id=0, method="initialize"))
                ready = (await read.receive()).message
                await write.send(message(method="notifications/initialized"))
                question = (await read.receive()).message
                await write.send(message(id=question.id, result={"roots": []}))
                await write.send(message(**call("a", 1)))
                return [ready.id, question.method, (await read.receive()).message.method]

        return anyio.run(asking)

    with use_cassette(tmp_path / "c.json", mode="record") as cassette:
        recorded = ask()
    with use_cassette(tmp_path / "c.json"):
        replayed = ask()

    assert recorded == replayed == [0, "roots/list", "notifications/progress"]
    assert [exchange.status for exchange in cassette.exchanges] == [200, 202, 202, 200]


def test_a_call_that_was_not_recorded_is_refused_and_a_miss(server, tmp_path):
    path = tmp_path / "c.json"
    with use_cassette(path, mode="record"):
        talk(server, call("a", 1), answers=2)
    with pytest.raises(Miss, match=r"name: \[-a-\]\{\+other") as miss, use_cassette(path):
        (refused,) = talk(server, call("other", 1), answers=1)

    assert refused["id"] == 1
    assert str(miss.value) in refused["error"]["message"]
    assert starts(server) == 1


def test_update_starts_the_server_only_for_what_has_changed(server, tmp_path):
    path = tmp_path / "c.json"
    hello = {"id": 0, "method": "initialize"}
    with use_cassette(path, mode="record"):
        talk(server, hello, call("a", 1), answers=3)
    with use_cassette(path, mode="update"):
        assert said(talk(server, hello, call("a", 1), answers=3)[1:]) == [(1, "a")]
    assert starts(server) == 1
    with use_cassette(path, mode="update"):
        heard = talk(server, hello, call("b", 1), answers=3)

    assert [each["id"] for each in heard if "result" in each] == [0, 1]
    assert starts(server) == 2
    with use_cassette(path):
        assert said(talk(server, hello, call("b", 1), answers=3)[1:]) == [(1, "b")]


def test_a_server_that_ends_before_it_answers_ends_in_the_replay(server, tmp_path):
    def dies():
        with pytest.RaisesGroup(anyio.EndOfStream):
            talk(server, call("die", 1), answers=1)

    with use_cassette(tmp_path / "c.json", mode="record"):
        dies()
    with use_cassette(tmp_path / "c.json") as cassette:
        dies()

    assert cassette.exchanges[0].failure.error == "RemoteProtocolError"


def test_a_secret_in_what_a_tool_says_is_not_saved(server, tmp_path):
    with pytest.raises(SecretFound), use_cassette(tmp_path / "c.json", mode="record"):
        talk(server, call("ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8", 1), answers=2)


def test_without_a_cassette_the_client_is_left_alone(server):
    assert said(talk(server, call("a", 1), answers=2)) == [(1, "a")]


@pytest.mark.parametrize(
    ("command", "args", "url"),
    [
        ("npx", ["-y", "@acme/files", "/srv/x/docs"], "stdio://npx/?-y&@acme/files&docs"),
        ("/usr/bin/python3.12", ["-m", "server"], "stdio://python/?-m&server"),
        ("uvx", ["s", "--token", "abc", "--root=/a"], "stdio://uvx/?s&--token=abc&--root=/a"),
        ("uvx", [], "stdio://uvx/"),
        ("a b", ["c d", "e&f", "ü"], "stdio://a%20b/?c%20d&e%26f&%C3%BC"),
    ],
)
def test_the_address_has_nothing_of_this_machine(command, args, url):
    assert server_url(command, args) == url


TOKEN = "h7Gk2mQ9zzRtPwX4bN8cV5"


@pytest.mark.parametrize(
    "args",
    [
        ["--token", TOKEN],
        ["-token", TOKEN],
        ["--token", f"-{TOKEN}"],
        ["--header", f"X-API-Key: {TOKEN}"],
        ["-H", f"Authorization: Bearer {TOKEN}"],
        ["-e", f"MY_TOKEN={TOKEN}"],
        ["--env", f"MY_TOKEN={TOKEN}"],
        ["--env=MY_TOKEN=" + TOKEN],
        ["-c", f"server --token {TOKEN}"],
        ["-c", f"MY_TOKEN={TOKEN} server"],
        ["--config", json.dumps({"apiKey": TOKEN})],
        ["--db", f"Server=x;Password={TOKEN};"],
        [f"/srv/hook?token={TOKEN}"],
    ],
    ids=" ".join,
)
def test_a_credential_in_an_argument_is_masked_wherever_it_stands(args):
    assert TOKEN not in clean_url(server_url("npx", args))


def heard(*pieces):
    server = RecordedServer("stdio://x/", None)
    return [server.heard(piece) for piece in pieces]


@pytest.mark.parametrize("number", [[], {}, [[]], None, 1e999, "\ud800"])
def test_any_number_of_a_message_is_only_looked_up(number):
    answer = json.dumps({"jsonrpc": "2.0", "id": number, "result": 1}).encode() + b"\n"
    report = {"jsonrpc": "2.0", "method": "x", "params": {"progressToken": number}}

    assert heard(answer, json.dumps(report).encode() + b"\n")[0] == answer


def test_a_line_without_an_end_is_not_read_further(monkeypatch):
    monkeypatch.setattr(
        "ellmer_harness.interception.clients.mcp_servers.MCP_RECORDING", Budget(received=1000)
    )
    server = RecordedServer("stdio://x/", None)
    assert [server.heard(b"x" * 100) for _ in range(10)] == [b""] * 10
    with pytest.raises(anyio.EndOfStream):
        server.heard(b"x")


def test_letters_that_end_a_line_elsewhere_do_not_cut_an_answer():
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"said": "a\u2028b\x85c\x1c"}}
    body = json.dumps(answer, ensure_ascii=False).encode() + b"\n"
    reply = Reply(200, "OK", [("content-type", "application/x-ndjson")], cut(body, [len(body)]), "eof", None)

    played = renumbered(reply, b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","id":7}')
    assert json.loads(played.body) == {**answer, "id": 7}


def test_a_path_of_a_project_is_relative_to_it(tmp_path):
    (tmp_path / "servers").mkdir()
    (tmp_path / "pyproject.toml").touch()

    assert server_url("python", [str(tmp_path / "servers" / "a.py")]) == "stdio://python/?servers/a.py"


# --- Over HTTP ---------------------------------------------------------------------------------------------


MCP = "https://mcp.example.com/mcp"


class Answering(BaseHTTPRequestHandler):
    """Answers with the method, and has a session and a stream that does not end."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": asked["method"]}).encode()
        self.send_response(200)
        for header in (
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("mcp-session-id", "very-secret-session"),
        ):
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n')
        self.server.over.wait(30)

    def log_message(self, *_):
        pass


@pytest.fixture
def echo():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        server.over = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {"https://mcp.example.com": f"http://127.0.0.1:{server.server_port}"}
        server.over.set()
        server.shutdown()


def post(client, **fields):
    return client.post(MCP, json={"jsonrpc": "2.0", **fields})


def test_the_number_of_a_request_over_http_does_not_count(tmp_path, echo):
    path = tmp_path / "c.json"
    with use_cassette(path, mode="record", routes=echo), httpx.Client() as client:
        recorded = [post(client, id=n, method=f"m{n}").json() for n in (1, 2)]
    with use_cassette(path), httpx.Client() as client:
        replayed = [post(client, id=n + 10, method=f"m{n}").json() for n in (2, 1)]

    assert [(each["id"], each["result"]) for each in recorded] == [(1, "m1"), (2, "m2")]
    assert [(each["id"], each["result"]) for each in replayed] == [(12, "m2"), (11, "m1")]


def test_what_a_host_and_a_process_said_is_stale_as_one(server, echo, tmp_path):
    """One date is that of the whole cassette, and a policy is shown the requests to both."""
    path, asked = tmp_path / "c.json", []

    def talks(month, **options):
        clock = Clock(today=lambda: datetime(2026, month, 1, tzinfo=UTC))
        with use_cassette(path, clock=clock, routes=echo, **options) as cassette, httpx.Client() as client:
            post(client, id=1, method="tools/list")
            talk(server, call("a", 1), answers=2)
        return cassette.verdict.stale

    def policy(recording):
        asked.extend(sent.url for sent in recording.requests)

    assert talks(3, mode="record") == ""
    assert talks(6, max_age=30, stale="ignore") == "recorded 92 days ago"
    assert talks(6, max_age=100, policies=[policy], stale="ignore") == ""
    assert asked == [MCP, "stdio://python/?server.py&started"]


def test_a_session_is_listened_to_and_ended_or_not(tmp_path, echo):
    path = tmp_path / "c.json"
    with use_cassette(path, mode="record", routes=echo), httpx.Client() as client:
        assert "mcp-session-id" in post(client, id=1, method="initialize").headers
        assert client.delete(MCP).status_code == 200
    with use_cassette(path), httpx.Client() as client:
        assert post(client, id=1, method="initialize").headers["mcp-session-id"] == "REDACTED"
        assert client.get(MCP).status_code == 405

    assert "very-secret-session" not in path.read_text()


def test_a_client_listens_until_it_stops(tmp_path, echo):
    async def listen():
        heard = []
        async with httpx.AsyncClient() as client:
            await client.post(MCP, json={"jsonrpc": "2.0", "id": 1, "method": "initialize"})
            with anyio.move_on_after(0.1):
                async with client.stream("GET", MCP) as answer:
                    async for line in answer.aiter_lines():
                        heard.append(line)  # noqa: PERF401  # the time ends in between
        return heard

    with use_cassette(tmp_path / "c.json", mode="record", routes=echo):
        recorded = anyio.run(listen)
    with use_cassette(tmp_path / "c.json"):
        replayed = anyio.run(listen)

    assert recorded == replayed == ['data: {"jsonrpc":"2.0","method":"notifications/message"}', ""]


@pytest.mark.parametrize("way", ["terminate", "kill"])
def test_a_server_that_runs_is_ended_as_its_client_says(way):
    said = []

    class Real:
        def terminate(self):
            said.append("terminate")

        def kill(self):
            said.append("kill")

    async def ended():
        getattr(RecordedServer("stdio://a", None, Real()), way)()

    anyio.run(ended)
    assert said == [way]
