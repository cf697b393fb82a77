"""A key goes out by another way than an answer: the words of our own errors, the variables in tracebacks, the keys of the program's
own HTTP client, and an MCP server that quotes what it was given.
"""

import asyncio
import copy
import json
import logging
import os
import pickle
import re
import subprocess
import sys
import traceback
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
import pytest

import ellmer_core as ec
from ellmer_core.errors import chained
from ellmer_core.transport.key_forms import HIDDEN

KEY = "sk-ant-Zq7XvB2nM9kLp4RtY6wE8sD1fG3hJ5cV0aXz"
NOWHERE = {"model": "m", "base_url": "http://127.0.0.1:9/v1", "max_tries": 1, "echo": "none"}
LEAKS = (KEY, KEY[10:22], KEY[-12:])


def variables(error):
    """Returns the variables of all frames in the tracebacks of an exception but those of this file, as trackers show them."""
    found = []
    for each in chained(error):
        for frame, _ in traceback.walk_tb(each.__traceback__):
            if frame.f_code.co_filename != __file__:
                found += [
                    f"{frame.f_code.co_name}: {name} = {value!r}" for name, value in frame.f_locals.items()
                ]
    return found


def shown(error):
    """Returns the texts of an exception and of those that it followed, and the variables of their frames."""
    texts = [text for each in chained(error) for text in (str(each), repr(each), repr(vars(each)))]
    return [*texts, pickle.dumps(error).decode("latin-1"), *variables(error)]


def made(**options):
    return ec.chat_openai_completions(**{**NOWHERE, "api_key": "k", **options})


def asked(**options):
    return made(**options).chat("Hi")


WRONG = {
    "headers in a list": lambda: made(api_headers=[("x-api-key", KEY)]),
    "headers as a text": lambda: made(api_headers=KEY),
    "a header in bytes": lambda: made(api_headers={"x-api-key": KEY.encode()}),
    "a key in a list": lambda: made(api_key=[KEY]),
    "a key in bytes": lambda: made(api_key=KEY.encode()),
    "two keys": lambda: made(api_key=KEY, credentials=lambda: KEY),
    "a key as the function": lambda: made(api_key=None, credentials=KEY),
    "a function that returns bytes": lambda: asked(api_key=None, credentials=KEY.encode),
    "another name": lambda: made(apikey=KEY),
    "a proxy without a scheme": lambda: made(proxy=f"user:{KEY}@host:3128"),
    "a proxy beside a client": lambda: made(proxy=f"http://user:{KEY}@host:3128", client=httpx.Client()),
    "a proxy of another scheme": lambda: asked(proxy=f"ftp://user:{KEY}@host:3128"),
    "a proxy with a wrong port": lambda: asked(proxy=f"http://user:{KEY}@host:31x28"),
    "a proxy that is not there": lambda: asked(proxy=f"http://user:{KEY}@127.0.0.1:9"),
    "a URL with a query": lambda: made(base_url=f"https://user:{KEY}@host/v1?x=1"),
    "a URL without a scheme": lambda: asked(base_url=f"user:{KEY}@host/v1"),
    "a URL with a broken address": lambda: asked(base_url=f"https://user:{KEY}@[::1/v1"),
    "a URL with a wrong port": lambda: asked(base_url=f"https://user:{KEY}@host:8x/v1"),
    "a server that is not there": lambda: asked(api_key=KEY),
    "a key that is no header": lambda: asked(api_key=f"{KEY}é…"),
    "AWS's token in a list": lambda: ec.AwsKeys("AKIA", KEY, [KEY]),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_no_error_of_ours_shows_a_key_in_its_words_or_in_the_variables_of_its_frames(wrong, caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(Exception) as raised:
        wrong()
    assert [
        text[:200] for text in [*shown(raised.value), caplog.text] for leak in LEAKS if leak in text
    ] == []


def refusing(request):
    """Quotes all that was sent."""
    said = f"{request.url} {request.headers.raw}"
    return httpx.Response(401, json={"error": {"message": said}})


def misshaped(kind, streamed):
    """Answers with success, in a shape that the API does not have, and with the letters of the key apart."""

    def answer(request):
        said = json.dumps("\u200b".join(KEY))
        body = f"data: {said}\n\ndata: [DONE]\n\n" if kind == "text/event-stream" else said
        return httpx.Response(200, headers={"content-type": kind}, text=body)

    chat = made(api_key=KEY, client=httpx.Client(transport=httpx.MockTransport(answer)))
    return [*chat.stream("Hi")] if streamed else chat.chat("Hi")


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_no_variable_shows_a_key_that_an_answer_of_another_shape_quotes_with_marks_between_its_letters(
    kind, streamed
):
    with pytest.raises(ec.errors.ResponseError) as raised:
        misshaped(kind, streamed)
    texts = [text.replace("\\u200b", "").replace("\u200b", "") for text in shown(raised.value)]
    assert [text[:200] for text in texts for leak in LEAKS if leak in text] == []


OWN = {
    "a header": {"headers": {"x-gateway-key": KEY}},
    "a user": {"auth": ("user", KEY)},
    "a query": {"params": {"api_key": KEY}},
    "a cookie": {"cookies": {"session": KEY}},
}


@pytest.mark.parametrize("options", OWN.values(), ids=OWN)
def test_a_key_of_the_program_s_own_client_is_replaced_too(options):
    client = httpx.Client(transport=httpx.MockTransport(refusing), **options)
    with pytest.raises(ec.AuthenticationError) as raised:
        asked(client=client)
    pair = b64encode(f"user:{KEY}".encode()).decode()
    texts = shown(raised.value)
    assert [text[:200] for text in texts for leak in (*LEAKS, pair[6:30]) if leak in text] == []
    assert HIDDEN in str(raised.value)


class Proxy(BaseHTTPRequestHandler):
    """Refuses a request, and quotes the password."""

    def do_POST(self):
        body = str(self.headers).encode()
        self.send_response(407)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Prints nothing."""


def test_the_password_of_a_proxy_is_replaced():
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        Thread(target=proxy.serve_forever, args=(0.01,), daemon=True).start()
        with pytest.raises(ec.ProviderError) as raised:
            asked(proxy=f"http://user:{KEY}@127.0.0.1:{proxy.server_port}")
        proxy.shutdown()
    pair = b64encode(f"user:{KEY}".encode()).decode()
    assert [text for text in shown(raised.value) for leak in (*LEAKS, pair[6:30]) if leak in text] == []
    assert "proxy-authorization" in str(raised.value).lower()


SSE = {"content-type": "text/event-stream"}
UNREADABLE = {
    "an event": lambda: httpx.Response(200, headers=SSE, text=f'data: {{"{KEY}\n\n'),
    "an event of bytes": lambda: httpx.Response(200, headers=SSE, text=f"data: {KEY.encode()!r}\n\n"),
    "an answer": lambda: httpx.Response(200, text=f'{{"error": "{KEY}'),
    "the name of a header": lambda: httpx.Response(500, headers={f"x-{KEY.encode().hex()}": "1"}),
    "an error that is too large": lambda: httpx.Response(500, text=f"{KEY} " * 100_000),
}


@pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("streamed", [False, True])
def test_no_frame_that_read_an_answer_has_its_key(answer, streamed):
    def handle(request):
        return answer()

    client = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    chat = made(api_key=KEY, client=(httpx.Client(transport=httpx.MockTransport(handle)), client))
    with pytest.raises(ec.EllmerError) as raised:
        list(chat.stream("Hi")) if streamed else chat.chat("Hi")
    with pytest.raises(ec.EllmerError) as raised_async:
        asyncio.run(chat.chat_async("Hi"))
    texts = [*shown(raised.value), *shown(raised_async.value)]
    assert [
        text[:200] for text in texts for leak in (*LEAKS, KEY[10:22].encode().hex()) if leak in text
    ] == []


# --- MCP -------------------------------------------------------------------------------------------------

SERVER = """
import json, os, sys
key = os.environ["NOTES_API_KEY"]
tool = {"name": "read", "description": f"Reads with {key}.", "inputSchema": {"type": "object"}}
text = {"content": [{"type": "text", "text": f"Read with {key}, {key[:12]}, in {sys.argv[1:]}"}]}
answers = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "notes", "version": "1"}},
    "tools/list": {"tools": [tool, tool | {"name": "fail"}, tool | {"name": "refuse"}]},
    "resources/list": {"resources": [{"uri": "note://1", "name": f"of {key}"}]},
    "resources/read": {"contents": [{"uri": "note://1", "text": f"of {key}"}]},
    "prompts/list": {"prompts": [{"name": "p", "description": f"of {key}"}]},
    "prompts/get": {"messages": [{"role": "user", "content": text["content"][0]}]},
}
for line in sys.stdin:
    asked = json.loads(line)
    name = asked.get("params", {}).get("name")
    answer = {"result": answers.get(asked["method"], {})}
    if asked["method"] == "tools/call":
        answer = {"result": text | {"isError": name == "fail"}}
        if name == "refuse":
            answer = {"error": {"code": -32000, "message": f"Bad key {key}", "data": {"key": key}}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


def test_no_value_of_a_chat_or_a_server_shows_a_key():
    server = mcp(["run", f"--key={KEY}"], headers={"x-key": KEY}, env={"A_KEY": KEY})
    url = mcp(f"http://user:{KEY}@127.0.0.1:9/mcp?key={KEY}")
    connection = made(proxy=f"http://user:{KEY}@127.0.0.1:9")._connection
    for value in (server, url, connection):
        for each in (value, copy.copy(value), copy.deepcopy(value)):
            assert KEY not in repr(each) + repr(vars(each))
        with pytest.raises((TypeError, AttributeError)) as raised:
            pickle.dumps(value)
        assert KEY not in str(raised.value)


def mcp(server, **options):
    pytest.importorskip("mcp")
    from ellmer_core.mcp import mcp_tools

    return mcp_tools(server, protocol="legacy", **options)


def test_a_server_that_quotes_its_key_tells_it_neither_the_model_nor_anyone_else(caplog):
    caplog.set_level(logging.DEBUG)
    from ellmer_core.tool_execution import invoke

    other = KEY[::-1]
    server = mcp(
        [sys.executable, "-c", SERVER, "--api-key", other, "--header", f"x-key: {other}"],
        env={"NOTES_API_KEY": KEY},
    )
    with server as tools:
        said = [f"{tool!r} {tool.description}" for tool in tools]
        requests = [ec.ContentToolRequest("1", tool.name, {}, tool=tool) for tool in tools]
        results = [invoke(request) for request in requests]
        said += [repr(result) + repr(vars(result)) for result in results]
        said += map(
            repr, [server.resources(), server.read("note://1"), server.prompts(), server.prompt("p"), server]
        )
    assert [text for text in [*said, caplog.text] for leak in (*LEAKS, other) if leak in text] == []
    assert f"Read with {HIDDEN}" in str(results[0].value)
    assert KEY[:12] not in repr(results[1])
    assert results[2].error is not None


UNREACHABLE = {
    "a header": lambda: mcp("http://127.0.0.1:9/mcp", headers={"authorization": f"Bearer {KEY}"}),
    "headers as a text": lambda: mcp("http://127.0.0.1:9/mcp", headers=KEY),
    "a header in a list": lambda: mcp("http://127.0.0.1:9/mcp", headers={"authorization": [KEY]}),
    "a header that is none": lambda: mcp("http://127.0.0.1:9/mcp", headers={"authorization": f"{KEY}…"}),
    "a user of the address": lambda: mcp(f"http://user:{KEY}@127.0.0.1:9/mcp"),
    "a query": lambda: mcp(f"http://127.0.0.1:9/mcp?exaApiKey={KEY}"),
    "a path": lambda: mcp(f"http://127.0.0.1:9/{KEY}/mcp"),
    "a word of the command": lambda: mcp(
        [sys.executable, "-c", "", "--header", f"Authorization: Bearer {KEY}"]
    ),
    "the environment": lambda: mcp([sys.executable, "-c", ""], env={"API_KEY": KEY}),
    "what is no environment": lambda: mcp([sys.executable], env=[("API_KEY", KEY)]),
    "what is no authentication": lambda: mcp("http://127.0.0.1:9/mcp", auth=("user", KEY)),
}


@pytest.mark.parametrize("connect", UNREACHABLE.values(), ids=UNREACHABLE)
def test_no_error_of_an_mcp_server_shows_its_key(connect, caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ec.EllmerError) as raised:
        connect().__enter__()
    assert [
        text[:200] for text in [*shown(raised.value), caplog.text] for leak in LEAKS if leak in text
    ] == []


# --- The output of a failing test --------------------------------------------------------------------------


TESTS = """
import base64, json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
import pytest
import ellmer_core as ec

def forms(key):
    return [key, "".join(f"%{ord(letter):02x}" for letter in key), base64.b64encode(key.encode()).decode(), key[:12] + "*****" + key[-4:], key.upper()]

@pytest.fixture(params=range(5))
def chat(request):
    class Quoting(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            said = forms(self.headers["authorization"].split()[-1])[request.param]
            body = json.dumps({"error": {"message": f"Incorrect API key provided: {said}"}}).encode()
            self.send_response(401, f"no {said}")
            self.send_header("x-request-id", said)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def log_message(self, *_):
            pass
    with ThreadingHTTPServer(("127.0.0.1", 0), Quoting) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        yield ec.chat_openai_completions(base_url=url, api_key=Path(__file__).with_name("key").read_text(), model="gpt-4.1", echo="none")
        server.shutdown()

def test_an_answer(chat):
    answer = chat.chat("Hi")

def test_a_stream(chat):
    answer = list(chat.stream("Hi"))

def test_the_fields_of_an_error(chat):
    with pytest.raises(ec.errors.EllmerError) as raised:
        chat.chat("Hi")
    assert vars(raised.value) == {}

def test_the_results_of_many(chat):
    assert ec.parallel_chat(chat, ["a", "b"], on_error="continue", progress=False) == []
"""


@pytest.mark.slow
def test_the_output_of_a_failing_test_has_no_key(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "key").write_text("sk-proj-Zq7Xv9Lm2Rt5Wb8Nc4Kd6Hf1")
    options = ["-vv", "--showlocals", "--tb=long", "--log-level=1", f"--junitxml={tmp_path / 'junit.xml'}"]
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, "test_it.py"]
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    ended = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert "20 failed" in ended.stdout, ended.stdout[-2000:]
    for text in (ended.stdout, ended.stderr, (tmp_path / "junit.xml").read_text()):
        assert not re.search("Zq7Xv9|c2stcHJvai|%5a%71%37|ZQ7XV9|6Hf1", text)
