"""Measures what recording costs the processor: with the harness, with vcrpy, with cassetter where it is installed, and with no recorder, in one run.

It records exchanges with a server in another process, first 50 whose sizes are those
of real calls of language models, ten tests of five requests each, then exchanges of one kind and size. The sides take
turns in an order drawn by lot, and garbage is collected before each, so that none pays for what another left. Exit code 1 if recording the 50 takes the processor more than 1.1 times as long as with vcrpy.
"""

# ruff: noqa: PLC0415, S311, S603, T201
# vcrpy is imported when it is measured; texts are drawn by lot; it runs itself, and prints.

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, NamedTuple

import httpx

from .generated_cassettes import TEXT

MOST = 1.1
SIDES = ("vcrpy", *(["cassetter"] if find_spec("cassetter") else []), "harness", "none")
# Bytes of the requests and answers of 900 calls that public projects recorded: every twentieth of each, in order.
ASKED = (
    *(75, 117, 146, 171, 203, 237, 288, 336, 383, 453),
    *(532, 601, 705, 795, 931, 1109, 1295, 2127, 3707, 23004),
)
ANSWERED = (
    *(119, 173, 225, 336, 437, 502, 585, 647, 719, 798),
    *(960, 1153, 1322, 1549, 1917, 2429, 3435, 5083, 8811, 19414),
)


class Call(NamedTuple):
    """The bytes of a request, and the kind and bytes of its answer."""

    asked: int
    kind: str
    answered: int


class Cost(NamedTuple):
    """Seconds of the processor, and on the clock."""

    processor: float
    clock: float


def run(options: Namespace) -> int:
    """Prints the tables and returns the exit code."""
    quick = options.quick
    with serving() as url:
        mixed = compared(url, real_calls(), tests=10, repeats=3 if quick else 9)
        print("50 exchanges as large as real ones, in 10 cassettes")
        for at, what in enumerate(Cost._fields):
            print(f"  {what:<10}", *(f"{side} {mixed[side][at] * 1e3:.0f} ms " for side in SIDES))
        ratio = mixed["harness"].processor / mixed["vcrpy"].processor
        print(f"  the harness takes the processor {ratio:.2f} times as long as vcrpy (at most {MOST})\n")
        print("one exchange of one kind and size, in a cassette of ten: milliseconds of the processor")
        for kind in ("json", "text", "events"):
            for kilobytes in (1, 30) if quick else (1, 20, 70, 300):
                calls = [Call(100, kind, kilobytes * 1000)] * 10
                costs = compared(url, calls, tests=1, repeats=3 if quick else 7)
                each = {side: costs[side].processor / len(calls) * 1e3 for side in SIDES}
                print(
                    f"  {kind:<7}{kilobytes:>4} KB ",
                    *(f"{side} {each[side]:6.2f} " for side in SIDES),
                    end="",
                )
                others = min(each[side] for side in SIDES if side not in ("harness", "none"))
                net = (each["harness"] - each["none"]) / (others - each["none"])
                print(
                    f"{each['harness'] / others:6.2f}× the best other, {net:.2f}× without the client",
                    flush=True,
                )
    return int(ratio > MOST)


def real_calls() -> list[Call]:
    """Returns fifty calls; a fifth of the answers are streams."""
    lots = Random(1)
    kinds = ["json", "json", "events", "json", "json"] * 10
    return [Call(lots.choice(ASKED), kind, lots.choice(ANSWERED)) for kind in kinds]


def compared(url: str, calls: Sequence[Call], tests: int, repeats: int) -> dict[str, Cost]:
    """The median cost of each side; they take turns, because the machine is not always as quick."""
    lots = Random(2)
    turns = [lots.sample(SIDES, len(SIDES)) for _ in range(repeats + 1)]
    runs = [{side: recorded(side, url, calls, tests) for side in sides} for sides in turns]
    return {side: Cost(*(median(run[side][at] for run in runs[1:]) for at in range(2))) for side in SIDES}


def recorded(side: str, url: str, calls: Sequence[Call], tests: int) -> Cost:
    """Makes the calls in so many tests, each with a client and a cassette of its own."""
    each = len(calls) // tests
    bodies = [body("json", call.asked, number) for number, call in enumerate(calls)]
    gc.collect()
    with tempfile.TemporaryDirectory() as folder:
        clock, processor = time.perf_counter(), time.process_time()
        for first in range(0, len(calls), each):
            with cassette(side, Path(folder, str(first))), httpx.Client() as client:
                for number in range(first, first + each):
                    address = f"{url}/{calls[number].kind}/{calls[number].answered}/{number}"
                    headers = {"content-type": "application/json"}
                    client.post(address, content=bodies[number], headers=headers).read()
        return Cost(time.process_time() - processor, time.perf_counter() - clock)


def cassette(side: str, path: Path) -> AbstractContextManager[Any]:
    """The recorder of a side."""
    import vcr

    from ellmer_harness import use_cassette

    if side == "vcrpy":
        recorder: AbstractContextManager[Any] = vcr.use_cassette(f"{path}.yaml", record_mode="all")
        return recorder
    if side == "cassetter":
        other: AbstractContextManager[Any] = import_module("cassetter").use_cassette(
            f"{path}.yaml", record_mode="all"
        )
        return other
    return use_cassette(f"{path}.json", mode="rewrite") if side == "harness" else nullcontext()


def body(kind: str, size: int, number: int) -> bytes:
    """A body of about this size, which differs from all others: messages, a stream of words, or plain text."""
    lots, words = Random(f"{kind}{number}"), TEXT.split(" ")
    if kind == "text":
        return " ".join(lots.choices(words, k=size // 5)).encode()[:size]
    pieces: list[str] = []
    left = size
    while left > 0:
        said = " ".join(lots.choices(words, k=min(50, size // 10 + 1)))
        value = {
            "role": "user",
            "id": f"msg_{lots.getrandbits(96):024x}",
            "content": said,
            "score": lots.random(),
        }
        if kind == "events":
            chosen = [{"index": 0, "delta": {"content": lots.choice(words)}, "finish_reason": None}]
            value = {"id": "chatcmpl-1", "created": 1764000000, "model": "m-2026", "choices": chosen}
        pieces.append(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
        left -= len(pieces[-1])
    text = "".join(f"data: {piece}\n\n" for piece in pieces) if kind == "events" else f"[{','.join(pieces)}]"
    return text.encode()


@contextmanager
def serving() -> Iterator[str]:
    """A server in another process, by its address."""
    with subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout, "it is a pipe"
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


class Handler(BaseHTTPRequestHandler):
    """Answers with a body of the kind and size that the path names."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        kind, size, number = self.path.strip("/").split("/")
        data = body(kind, int(size), int(number))
        of = {"json": "application/json", "events": "text/event-stream"}.get(
            kind, "text/plain; charset=utf-8"
        )
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {of}\r\ncontent-length: {len(data)}\r\n\r\n"
        self.wfile.write(head.encode() + data)


def serve() -> None:
    """Prints the port and serves until it is stopped."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_port, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    serve()
