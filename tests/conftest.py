"""A real HTTP server on 127.0.0.1 that answers by script, chunk by chunk, and stores its requests; and shared
fixtures.
"""

import json
import os
import socket
import struct
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from chats.answers import KEY
from chats.http_talk import Async, Blocking
from chats.loop import ran
from wires.every_provider import PLACES, WIRES

from ellmer_core.providers.openai_compatible import chat_openai_compatible

#: Tests of what surrounds the three packages. `nox -s tools` runs them, and so does a change of what they reach.
TOOLS = ["bench", "devtools", "flows"]
#: Sessions of their own: nox -s browser, nox -s pages, nox -s tools.
collect_ignore = ["browser", "pages", *([] if "ALL_TESTS" in os.environ else TOOLS)]


@dataclass
class Reply:
    """One answer. Each of `chunks` is one HTTP chunk; a function among them is called in its turn with the server
    (for example to wait). `end`: `whole`, `cut` (close without the last chunk), `reset`.
    """

    chunks: list = field(default_factory=list)
    status: int = 200
    headers: dict = field(default_factory=dict)
    end: str = "whole"


@dataclass
class Asked:
    method: str
    path: str
    headers: dict
    body: bytes
    connection: int

    @property
    def json(self):
        return json.loads(self.body)


class Server:
    """`script` holds the next answers, and `asked` the requests. `left` is set when a client disconnects during an
    answer that waits in `until_left`.
    """

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=2000)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.script = deque()
        self.asked = []
        self.left = threading.Event()
        self.closing = threading.Event()
        self.connections = []
        self.local = threading.local()
        threading.Thread(target=self.accept, daemon=True).start()

    def answers(self, *replies):
        self.script.extend(replies)

    def accept(self):
        while not self.closing.is_set():
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(connection)
            number = len(self.connections)
            threading.Thread(target=self.serve, args=[connection, number], daemon=True).start()

    def serve(self, connection, number):
        self.local.connection = connection
        reader = connection.makefile("rb")
        try:
            while line := reader.readline():
                method, path, _ = line.decode().split(" ", 2)
                lines = iter(lambda: reader.readline().decode("latin-1").strip(), "")
                headers = {
                    name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)
                }
                body = reader.read(int(headers.get("content-length", 0)))
                self.asked.append(Asked(method, path, headers, body, number))
                if not self.answer(connection, self.script.popleft()):
                    return
        except OSError:
            pass
        finally:
            reader.close()
            connection.close()

    def answer(self, connection, reply):
        head = {"transfer-encoding": "chunked", "content-type": "application/json", **reply.headers}
        lines = [f"HTTP/1.1 {reply.status} Said", *(f"{name}: {value}" for name, value in head.items())]
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        for chunk in reply.chunks:
            if callable(chunk):
                chunk(self)
            elif chunk:
                connection.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if reply.end == "whole":
            connection.sendall(b"0\r\n\r\n")
        if reply.end == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return reply.end == "whole"

    def until_left(self, _server=None):
        """Waits, as a chunk of a `Reply`, until the client disconnects."""
        if not self.local.connection.recv(1):
            self.left.set()

    def close(self):
        self.closing.set()
        for connection in (self.listener, *self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.listener.close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def reply():
    return Reply


@pytest.fixture
def no_tool_ran_yet():
    """Clears the calls of the tool that the tests of the loop share."""
    ran.clear()


@pytest.fixture
def make(server):
    """Makes a chat with the server; all are closed at the end."""
    made = []

    def make(*args, provider=chat_openai_compatible, **options):
        options = {"base_url": server.url, "model": "m", "api_key": KEY, "max_tries": 1, **options}
        made.append(provider(*args, **options))
        return made[-1]

    yield make
    for chat in made:
        chat.close()


@pytest.fixture(params=["blocking", "async"])
def talk(request):
    """`talk(chat, *inputs)` returns the whole answer and `talk.stream(chat, *inputs)` its pieces, blocking and async."""
    return Blocking() if request.param == "blocking" else Async()


@pytest.fixture
def variables(monkeypatch):
    """Removes the environment variables of providers, except those of `PLACES`."""
    for wire in WIRES:
        for name in (*wire.key_vars, wire.base_url_var or "-"):
            monkeypatch.delenv(name, raising=False)
    for name, value in PLACES.items():
        monkeypatch.setenv(name, value)
    return monkeypatch
