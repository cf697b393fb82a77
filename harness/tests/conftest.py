"""A server on 127.0.0.1 that sends exactly the bytes of a test, at its time, and breaks off as told."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
from collections import deque
from dataclasses import dataclass, field

# Loaded here once: an inner run forgets what it imports. C extensions do not like that, and httpx would not know
# the exceptions of another httpcore.
import httpcore  # noqa: F401
import httpcore2  # noqa: F401
import httpx
import httpx2
import pytest
import vcr  # noqa: F401

API = "https://api.example.com"
SSE = "text/event-stream"

CONFTEST = """
import httpx, pytest

@pytest.fixture
def cassette_options():
    return {"routes": {"https://api.example.com": "%s"}, "recorded_from": "test-server"}

@pytest.fixture
def ask():
    return lambda n=0: httpx.post("https://api.example.com/x", json={"n": n}).json()
"""


RESET = object()


OTHER_SESSIONS = {"services", "sdks", "habits"}


def pytest_ignore_collect(collection_path, config):
    """Leaves out the tests of other sessions. `nox -s services`, `nox -s oracles` and `nox -s habits` have real services, official
    SDKs and other plugins, which are not installed elsewhere.
    """
    name = collection_path.name
    asked = any(name in argument for argument in config.args)
    return True if name in OTHER_SESSIONS and not asked else None


def head(*headers, status="200 OK"):
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode()


def body_of(lines, headers):
    if "transfer-encoding" not in headers:
        yield lines.read(int(headers.get("content-length", 0)))
        return
    while size := int(lines.readline(), 16):
        yield lines.read(size)
        lines.readline()
    lines.readline()


@dataclass
class Server:
    """Answers with queued items: bytes to send, events to wait for (`over`: for ever), RESET. Without items, it
    echoes.
    """

    listener: socket.socket
    replies: deque = field(default_factory=deque)
    requests: list = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    RESET = RESET

    @staticmethod
    def events(*values):
        return [f"data: {json.dumps(value, separators=(',', ':'))}\n\n".encode() for value in values]

    def whole(self, body, content_type="application/json", *headers, status="200 OK"):
        """Queues an answer with a length."""
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        fields = [f"content-type: {content_type}", f"content-length: {len(body)}", *headers]
        self.replies.append([head(*fields, status=status) + body])

    def chunked(self, chunks, content_type=SSE, *headers, end=True):
        """Queues an answer in chunks, each sent separately. Events among them are waited for."""
        frames = [b"%x\r\n%s\r\n" % (len(c), c) if isinstance(c, bytes) else c for c in chunks]
        fields = [f"content-type: {content_type}", "transfer-encoding: chunked", *headers]
        self.replies.append([head(*fields), *frames, *([b"0\r\n\r\n"] if end else [])])

    def raw(self, *parts):
        """Queues exactly these bytes, after which the connection is closed."""
        self.replies.append([*parts, None])

    @property
    def url(self):
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    @property
    def routes(self):
        return {API: self.url}

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        with connection, contextlib.suppress(OSError, ValueError), connection.makefile("rb") as lines:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while first := lines.readline():
                headers = dict(
                    line.decode().strip().lower().split(": ", 1) for line in iter(lines.readline, b"\r\n")
                )
                body = b"".join(body_of(lines, headers))
                self.requests.append((first.decode().split()[:2], headers, body))
                if not self.replies:
                    self.whole({"echo": body.decode("latin-1")})
                for part in self.replies.popleft():
                    if isinstance(part, threading.Event):
                        part.wait()
                    elif part is None:
                        return
                    elif part is RESET:
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        return
                    else:
                        connection.sendall(part)


@pytest.fixture
def server():
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener)
    threading.Thread(target=server.serve, daemon=True).start()
    yield server
    server.over.set()
    listener.close()


@pytest.fixture(params=[httpx, httpx2], ids=lambda module: module.__name__)
def http(request):
    """Runs each test with both clients."""
    return request.param


@pytest.fixture
def record(server, tmp_path):
    """Options to record from the server into one cassette."""
    return {"mode": "rewrite", "routes": server.routes, "recorded_from": "test-server"}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    """Removes keys from the environment, so that it does not affect the tests."""
    for name in os.environ:
        if any(
            word in name.upper() for word in ("KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "CASSETTE")
        ):
            monkeypatch.delenv(name)


@pytest.fixture
def suite(pytester, server, monkeypatch):
    """Runs a test file; `suite(None, …)` runs the existing files again. `plugins` are further plugins."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in [name for name in os.environ if name.startswith("PYTEST_XDIST")]:
        monkeypatch.delenv(name)  # who runs us is no worker's business
    pytester.makeconftest(CONFTEST % server.url)
    # As here: what a test leaves open, or warns about, is a failure.
    pytester.makeini(
        "[pytest]\nfilterwarnings =\n error\n ignore:Module already imported\naddopts = --strict-markers -p ellmer_harness.pytest.plugin\n"
    )

    def suite(code, *arguments, process=False):
        if code:
            pytester.makepyfile(test_it=code)
        return (pytester.runpytest_subprocess if process else pytester.runpytest_inprocess)(*arguments)

    return suite


@pytest.fixture
def cassettes(pytester):
    """The cassettes that an inner run has written."""

    def cassettes():
        folder = pytester.path / "cassettes"
        return sorted(str(path.relative_to(folder)) for path in pytester.path.rglob("cassettes/**/*.json"))

    return cassettes
