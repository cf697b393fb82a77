"""A cassette on a port: recorded requests get their recorded answers as bytes."""

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import httpx
import pytest

from ellmer_harness import CassetteError, use_cassette
from ellmer_harness.faults import Status
from ellmer_harness.serving import serving

API = "https://api.example.com"


@pytest.fixture
def path(server, record, tmp_path):
    server.chunked(server.events({"t": "Hel"}, {"t": "lo"}))
    server.whole({"n": 1})
    server.whole({"n": 2})
    server.whole(b"", "text/plain", f"location: {API}/y", status="302 Found")
    server.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort")
    with use_cassette(tmp_path / "c.json", **record), httpx.Client() as client:
        client.post(f"{API}/v1/chat", json={"stream": True, "user": "me"})
        client.get(f"{API}/n?a=1")
        client.get(f"{API}/n?a=1")
        client.get(f"{API}/moved")
        with pytest.raises(httpx.RemoteProtocolError):
            client.get(f"{API}/short")
    return tmp_path / "c.json"


def test_what_was_recorded_is_answered(path):
    with serving(path) as served, httpx.Client(base_url=served.url) as client:
        with client.stream("POST", "/v1/chat", json={"user": "me", "stream": True}) as streamed:
            chunks = [*streamed.iter_raw()]
        assert b"".join(chunks) == b'data: {"t":"Hel"}\n\ndata: {"t":"lo"}\n\n'
        assert streamed.headers["content-type"] == "text/event-stream"
        assert [client.get("/n?a=1").json()["n"] for _ in range(3)] == [1, 2, 1]
        assert client.get("/moved").headers["location"] == f"{served.url}/y"
        with pytest.raises(httpx.RemoteProtocolError):
            client.get("/short")
    assert served.missed == []


def test_anything_else_is_told_what_is_nearest(path):
    with serving(path) as served:
        answer = httpx.post(f"{served.url}/v1/chat", json={"stream": True, "user": "you"})
    assert (answer.status_code, len(served.missed)) == (404, 1)
    assert "~ /user: [-me-]{+you+}" in answer.text


def test_options_are_those_of_a_cassette(path):
    with serving(path, on_repeat="error", faults=[Status(429)]) as served:
        codes = [httpx.get(f"{served.url}/n?a=1").status_code for _ in range(4)]
    assert codes == [429, 200, 200, 404]


def test_a_cassette_that_is_not_there(tmp_path):
    with pytest.raises(CassetteError, match="there is no cassette"), serving(tmp_path / "c.json"):
        pass


def test_a_client_may_send_its_body_in_chunks(path):
    with serving(path) as served:
        chunks = (part.encode() for part in ('{"stream": true, ', '"user": "me"}'))
        headers = {"content-type": "application/json"}
        assert httpx.post(f"{served.url}/v1/chat", content=chunks, headers=headers).status_code == 200


@pytest.mark.slow
def test_the_command_serves_a_program_of_another_process(path):
    program = "from ellmer_harness.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", program, "serve", str(path)]
    with subprocess.Popen(
        [*command, "--ignore", "/user"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        url, _, told = process.stdout.readline().partition(" ")
        assert "5 interactions" in told
        request = urllib.request.Request(
            f"{url}/v1/chat",
            json.dumps({"stream": True, "user": "you"}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            assert answer.read().startswith(b'data: {"t":"Hel"}')
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{url}/other")
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "GET https://api.example.com/other is not in cassette" in complaint


def test_its_own_port_is_free_again(path):
    with serving(path) as served:
        port = int(served.url.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)):
        pass


STOPPED = """
import signal, sys, threading
from ellmer_harness.cli import main, serve

def soon(text):
    threading.Timer(0.1, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]).start()
    sys.settrace(stopped)

def stopped(frame, event, arg):
    name, caller = frame.f_code.co_name, frame.f_back
    begins = name == "wait" and "cli/serve.py" in str(caller and caller.f_back and caller.f_back.f_code.co_filename)
    if begins and event == "call":
        sys.settrace(None)
        signal.raise_signal(signal.SIGINT)

serve.say = soon
sys.exit(main(["serve", sys.argv[1]]))
"""


def test_a_stop_just_as_the_command_begins_to_wait_ends_it(path):
    done = subprocess.run([sys.executable, "-c", STOPPED, str(path)], timeout=120, check=False)
    assert done.returncode == 0
