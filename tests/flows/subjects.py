"""The six flows. `python -m flows.subjects NAME` follows one in a fresh process and prints its files as JSON."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from multiprocessing import Process
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .follow import ROOT, Path_, follow

__all__ = ["FLOWS", "passed"]

#: The title of a flow, and what follows it.
Flow = tuple[str, Callable[[], Path_]]

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc000000301"
    "0100c9fe92ef0000000049454e44ae426082"
)


@contextlib.contextmanager
def served(*answers: bytes, kind: str = "application/json", cut: bool = False) -> Iterator[str]:
    """Yields the URL of a server that gives these answers, the last one again and again."""
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def _answer(self) -> None:
            body = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body) + cut))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = cut

        def log_message(self, *_: object) -> None:
            """Prints nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def completion(message: Mapping[str, Any], reason: str) -> bytes:
    """Returns an answer of Chat Completions."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return json.dumps({"id": "c", "model": "gpt-4.1", "choices": [choice], "usage": usage}).encode()


def image_turn() -> Path_:
    import ellmer_core as ec

    file = Path(tempfile.mkdtemp()) / "dot.png"
    file.write_bytes(PNG)
    picture = ec.content_image_file(file, resize="none")

    def draw() -> ec.ContentImageInline:
        """Draws."""
        return picture

    call = {"id": "call_1", "type": "function", "function": {"name": "draw", "arguments": "{}"}}
    first = completion({"content": None, "tool_calls": [call]}, "tool_calls")
    last = completion({"content": "A dot."}, "stop")
    with served(first, last) as url:
        chat = ec.chat_openai_completions(base_url=url, api_key="k", model="gpt-4.1")
        chat.register_tool(draw)
        return follow(lambda: chat.chat("Draw a dot.", echo="none"), ("ellmer_core",))


def cut_stream() -> Path_:
    import ellmer_core as ec

    events = b'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}\n\n'
    with served(events, kind="text/event-stream", cut=True) as url:
        chat = ec.chat_openai_completions(base_url=url, api_key="k", model="gpt-4.1", max_tries=1)

        def stream() -> None:
            with contextlib.suppress(ec.EllmerError):
                list(chat.stream("Hello"))

        return follow(stream, ("ellmer_core",))


def get(folder: str, url: str, mode: str) -> None:
    """Gets a page within a cassette."""
    import httpx

    import ellmer_harness

    with ellmer_harness.use_cassette(str(Path(folder) / "get.json"), mode=mode):
        httpx.get(f"{url}/things?page=1")


def record() -> Path_:
    with tempfile.TemporaryDirectory() as folder, served(b'{"things": []}') as url:
        return follow(lambda: get(folder, url, "record"), ("ellmer_harness",))


def replay() -> Path_:
    with tempfile.TemporaryDirectory() as folder, served(b'{"things": []}') as url:
        before = Process(
            target=get, args=(folder, url, "record")
        )  # caches of the recording would warm the replay
        before.start()
        before.join()
        return follow(lambda: get(folder, url, "replay"), ("ellmer_harness",))


def judged_request() -> Path_:
    from ellmer_conformance.server import StrictServer

    message = {"role": "user", "content": "Hello"}
    body = json.dumps({"model": "gpt-4.1", "messages": [message], "temperature": 3}).encode()

    def ask() -> None:
        import http.client

        with StrictServer() as server:
            url = urlsplit(server.url("any", "1"))
            connection = http.client.HTTPConnection(url.netloc)
            headers = {"content-type": "application/json", "authorization": "Bearer k"}
            connection.request("POST", f"{url.path}/v1/chat/completions", body, headers)
            assert connection.getresponse().status == 400
            connection.close()

    return follow(ask, ("ellmer_conformance",))


def _command(*arguments: str) -> Path_:
    """Follows a command of the suite, whose output is not shown. Raises `RuntimeError` if it fails."""
    from ellmer_conformance.cli import main

    sys.argv[1:] = arguments

    def call() -> None:
        try:
            with contextlib.redirect_stdout(StringIO()):
                main()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"{arguments[0]} ended with {end.code}, so it is not the flow") from end

    return follow(call, ("ellmer_conformance", "ellmer_harness"))


def one_case() -> Path_:
    with tempfile.TemporaryDirectory() as folder:
        where = ("--wire", "openai-chat", "--mode", "sync", "--report", folder)
        return _command("run", "--case", "plain_text", *where, "--cassettes", str(ROOT / "cassettes"))


#: A cassette in vcrpy's own form, as other projects have them.
FOREIGN = """
interactions:
- request:
    method: POST
    uri: https://api.openai.com/v1/chat/completions
    headers: {content-type: [application/json]}
    body: '{"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}]}'
  response:
    status: {code: 200, message: OK}
    headers: {content-type: [application/json]}
    body: {string: '{"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}'}
version: 1
"""


def lint() -> Path_:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "test_hello.yaml"
        file.write_text(FOREIGN, encoding="utf-8")
        return _command("lint", str(file))


FLOWS: dict[str, Flow] = {
    "image": ("A chat turn with a tool that returns an image", image_turn),
    "cut": ("A stream that is cut", cut_stream),
    "record": ("Recording a request", record),
    "replay": ("Replaying a request", replay),
    "judged": ("A request that the strict server judges", judged_request),
    "case": ("A case, from the command line to the report", one_case),
    "lint": ("Linting a cassette of another project", lint),
}


def passed(name: str) -> Path_:
    """Follows a flow in a fresh process and returns what it passed."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    command = [sys.executable, "-m", "flows.subjects", name]
    output = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    found: Path_ = json.loads(output.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    print("\n" + json.dumps(FLOWS[sys.argv[1]][1]()))  # noqa: T201
