"""Measures the strict server against aimock, in one run, and prints one table.

`--aimock` names the folder where `npm install @copilotkit/aimock` was run. Each server, and the client that loads them, is a process of its own; the rounds
alternate, and the medians are compared. All rules are applied and the journal is kept. Equal requests are those of
a test that is run again: the strict server remembers what it found and what it answered. A conversation's requests have
all of it, with calls, results, images, thinking and long texts; those of its 60th turn are to take no more than twice the time of
its first, in each format. The last row has different requests, and a script of 200 rules in each server, of which the last one fits. Exit code 1 if a target is missed; without aimock only the streams and the conversations have one.
"""

# ruff: noqa: S603, T201 - it runs the servers and this module, and prints
from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from math import inf
from pathlib import Path
from selectors import EVENT_READ, BaseSelector, DefaultSelector
from statistics import median
from typing import TYPE_CHECKING, Any, cast

sys.path.append(str(Path(__file__).parent.parent / "tests" / "support"))
from conversations import FORMATS, KINDS, bodies

if TYPE_CHECKING:
    from conversations import OpenAIChat

EQUAL, DIFFERENT = 2.0, 1.0  # times the requests per second of aimock
GROWTH = 2.0  # times the first request of a conversation, for those of its last turns
REQUESTS, CONNECTIONS, STREAMS = 20_000, 16, 200
CONVERSATIONS, TURNS, LAST = 6, 60, 5
TEXT = "Hello! Your request is legal, and this is the answer to it."  # what the strict server says to anybody
PATH = "/v1/chat/completions"
HEADERS = {
    "host": "127.0.0.1",
    "accept": "application/json",
    "content-type": "application/json",
    "authorization": "Bearer any-key",
    "user-agent": "bench",
}
KEYS = {"x-api-key": "any-key", "x-goog-api-key": "any-key", "anthropic-version": "2023-06-01"}
STRICT = f"""
import sys
from ellmer_conformance.scenarios.script import Answer, Delivery, Say, Script
from ellmer_conformance.server import StrictServer
slow = Script((Delivery(Answer((Say({TEXT!r}),)), delay=0.05),))
StrictServer({{"slow": slow}}, port=int(sys.argv[1])).serve_forever(lambda: None)
"""
SCRIPTED = """
import json, sys
from ellmer_conformance.server import StrictServer
StrictServer(script=json.loads(sys.argv[1]), port=int(sys.argv[2])).serve_forever(lambda: None)
"""
RULES = 200
WORDS = [*(f"subject {number}." for number in range(RULES - 1)), "Hello"]  # what each rule looks for


def run(options: Namespace) -> int:
    """Prints the table and returns the exit code."""
    rounds, count, talks = (1, 500, 1) if options.quick else (9, REQUESTS, CONVERSATIONS)
    with ExitStack() as stack:
        ours = stack.enter_context(running([sys.executable, "-c", STRICT]))
        ended = streams(ours)
        print(f"{ended} of {STREAMS} streams that were open at once came to their end")
        grown = 0.0
        for name, format in FORMATS.items():
            times = growth(ours, format, talks)
            print(
                f"turn {TURNS} of a conversation ({name}): {times:.1f}x its first: {_told(times <= GROWTH)}"
            )
            grown = max(grown, times)
        theirs = stack.enter_context(mocking(options.aimock, WORDS[-1:]))
        print(f"{'requests a second':<20}{'strict':>10}" + (f"{'aimock':>10}{'ratio':>9}" if theirs else ""))
        equal = compared("equal", ours, theirs, rounds, count, step=0) >= EQUAL
        different = compared("all different", ours, theirs, rounds, count, step=1) >= DIFFERENT
        scripted = compared("with 200 rules", *_scripted(stack, options), rounds, count, step=1) >= DIFFERENT
        if theirs:
            print(f"the target is {EQUAL:g}x for equal ones: {_told(equal)}")
            print(f"the target is {DIFFERENT:g}x for different ones: {_told(different)}")
            print(f"the target is {DIFFERENT:g}x with {RULES} rules: {_told(scripted)}")
    return 0 if equal and different and scripted and ended == STREAMS and grown <= GROWTH else 1


def _scripted(stack: ExitStack, options: Namespace) -> tuple[int, int | None]:
    """Starts both servers with the script of many rules, and returns their ports."""
    script = {"answers": [{"when": {"user": {"contains": word}}, "text": TEXT} for word in WORDS]}
    ours = stack.enter_context(running([sys.executable, "-c", SCRIPTED, json.dumps(script)]))
    return ours, stack.enter_context(mocking(options.aimock, WORDS))


def _told(reached: bool) -> str:
    return "ok" if reached else "MISSED"


# servers --------------------------------------------------------------------------------------------------


@contextmanager
def running(command: list[str]) -> Iterator[int]:
    """Runs a server whose last argument is its port, and yields the port when it listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    process = subprocess.Popen([*command, str(port)], stdout=subprocess.DEVNULL)
    try:
        connect(port, patience=30).close()
        yield port
    finally:
        process.terminate()
        process.wait()


@contextmanager
def mocking(folder: Path, words: list[str]) -> Iterator[int | None]:
    """Runs aimock with a fixture for each word, which answers as the strict server does. It is `None` if aimock is not
    installed.
    """
    script = folder / "node_modules/@copilotkit/aimock/dist/cli.js"
    node = shutil.which("node")
    if not node or not script.is_file():
        print(f"aimock is not measured: there is {f'no {script}' if node else 'no node'}")
        yield None
        return
    with tempfile.TemporaryDirectory() as fixtures:
        answers = [{"match": {"userMessage": word}, "response": {"content": TEXT}} for word in words]
        Path(fixtures, "hello.json").write_text(json.dumps({"fixtures": answers}))
        command = [node, str(script), "--log-level", "silent", "--fixtures", fixtures, "--port"]
        with running(command) as port:
            yield port


def connect(port: int, *, patience: float = 1) -> socket.socket:
    """Returns a connection after waiting for a starting server."""
    end = time.monotonic() + patience
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=30)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


# the client -----------------------------------------------------------------------------------------------


def compared(what: str, ours: int, theirs: int | None, rounds: int, count: int, *, step: int) -> float:
    """Loads both servers in turn, prints their medians and returns the ratio, which is infinite for one server alone."""
    rates: dict[int, list[float]] = {port: [] for port in (theirs, ours) if port}
    for turn in range(rounds + 1):
        for port, found in rates.items():
            command = [
                sys.executable,
                "-m",
                __name__,
                str(port),
                str(turn * count * step),
                str(step),
                str(count),
            ]
            found.append(float(subprocess.run(command, check=True, capture_output=True).stdout))
    mine, other = (
        median(rates[port][1:]) if port else 0 for port in (ours, theirs)
    )  # the first is to warm up
    ratio = mine / other if other else inf
    print(f"{what:<20}{mine:>10,.0f}" + (f"{other:>10,.0f}{ratio:>8.2f}x" if other else ""))
    return ratio


def load(port: int, first: int, step: int, count: int) -> float:
    """Sends requests over a few connections, one after another on each. Returns the requests per second."""
    requests = iter([request(PATH, f"Hello, this is number {first + i * step}.") for i in range(count)])
    connections = [connect(port) for _ in range(CONNECTIONS)]
    received = dict.fromkeys(connections, b"")
    start = time.perf_counter()
    with DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection, EVENT_READ)
            connection.sendall(next(requests))
        while selector.get_map():
            for key, _ in selector.select():
                exchange(selector, cast("socket.socket", key.fileobj), received, requests)
    return count / (time.perf_counter() - start)


def exchange(
    selector: BaseSelector,
    connection: socket.socket,
    received: dict[socket.socket, bytes],
    requests: Iterator[bytes],
) -> None:
    """Reads a response. After a complete one, it sends the next request or ends the connection."""
    received[connection] += connection.recv(65536)
    if not whole(received[connection]):
        return
    received[connection] = b""
    if following := next(requests, None):
        connection.sendall(following)
    else:
        selector.unregister(connection)


def growth(port: int, format: OpenAIChat, talks: int) -> float:
    """How many times the time of a conversation's first request its last ones take, all at their medians of so many
    conversations.
    """
    said = [kind for kind in KINDS if kind != "cached"]  # four marks for the cache are allowed
    kinds = [said[turn % len(said)] for turn in range(TURNS)]
    first, last = [], []
    for number in range(talks):
        seconds = []
        with connect(port) as connection:
            for body in bodies(format, kinds, number * TURNS):
                asked = posted(format.path, format.limited(body, 3000 + number), KEYS | format.headers)
                began = time.perf_counter()
                connection.sendall(asked)
                read(connection)
                seconds.append(time.perf_counter() - began)
        first.append(seconds[0])
        last += seconds[-LAST:]
    return median(last) / median(first)


def request(path: str, text: str, *, stream: bool = False) -> bytes:
    """Returns an HTTP request for a simple completion."""
    return posted(
        path, {"model": "gpt-4.1", "messages": [{"role": "user", "content": text}], "stream": stream}
    )


def posted(path: str, asked: dict[str, Any], more: Mapping[str, str] = {}) -> bytes:
    """Returns an HTTP request with a body."""
    body = json.dumps(asked).encode()
    headers = HEADERS | dict(more) | {"content-length": str(len(body))}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def whole(response: bytes) -> bool:
    """Tells whether the response is complete. It must be a completion."""
    head, end, body = response.partition(b"\r\n\r\n")
    if not end:
        return False
    if not head.startswith(b"HTTP/1.1 200 "):
        raise ValueError(f"the server said {response!r}")
    head = head.lower()
    if b"chunked" in head:
        return body.endswith(b"\r\n0\r\n\r\n")
    return len(body) >= int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])


def streams(port: int) -> int:
    """Opens streams all at once, and then reads them. Returns the number of complete ones."""
    connections = [connect(port) for _ in range(STREAMS)]
    for number, connection in enumerate(connections):
        connection.sendall(request(f"/c/slow/{number}{PATH}", TEXT, stream=True))
    return sum(b"data: [DONE]\n\n" in read(connection) for connection in connections)


def read(connection: socket.socket) -> bytes:
    """Returns a whole response."""
    received = b""
    while not whole(received):
        received += connection.recv(65536)
    return received


if __name__ == "__main__":
    print(load(*map(int, sys.argv[1:])))
