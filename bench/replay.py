"""Measures the harness against plain vcrpy and `httpx.MockTransport`, in one run, and prints one table.

Both sides replay the same bodies and compare requests by method, URL and JSON body. `--quick` gives vcrpy fewer interactions, because it takes minutes. This favours vcrpy, whose time grows with
the square of their number: the target of 300× for 1,000 interactions is 30× for 100. The exit code is 1 if a target
is missed.
"""

# ruff: noqa: PLC0415, S311, S603, T201
# Imports are measured, so they are where they are needed; an image is drawn by lot; it runs itself, and prints.

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from argparse import Namespace
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from statistics import median

import httpx

from .generated_cassettes import URL, Json, cassettes, requests, response, write

REPEATS = 3


@dataclass(frozen=True)
class Row:
    """One line of the table. `value` is judged against `target`; `most` says that it is an upper bound."""

    what: str
    theirs: str
    ours: str
    value: float
    target: float
    most: bool = False

    @property
    def met(self) -> bool:
        return self.value <= self.target if self.most else self.value >= self.target

    def __str__(self) -> str:
        bound = f"{'≤' if self.most else '≥'} {self.target:g}×"
        return f"{self.what:<52}{self.theirs:>12}{self.ours:>12}{self.value:>9.1f}×  {bound:<8}{'ok' if self.met else 'MISSED'}"


def run(options: Namespace) -> int:
    """Prints the table and returns the exit code."""
    print(f"{'':<52}{'other':>12}{'harness':>12}{'ratio':>10}  target")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(Path(folder), quick=options.quick):
            print(row, flush=True)
            missed += not row.met
    return 1 if missed else 0


def rows(folder: Path, *, quick: bool) -> Iterator[Row]:
    """Yields all measurements, in order."""
    yield imports()
    for size, count in ((1, 100 if quick else 1000), (70, 10 if quick else 100)):
        yield against_vcrpy(folder, size, count)
    yield flat(folder, 2000 if quick else 10_000)
    for size in (1, 70):
        yield against_mock(folder, size)
    yield from loading(folder, 100 if quick else 1200)
    yield sizes(folder)
    for size in (1, 30):
        yield recording(folder, size, 20 if quick else 100, pause=0.02)


def imports() -> Row:
    """Measures the import up to the first cassette, compared with vcrpy."""
    ours = child(
        "import sys, time; t=time.perf_counter(); import ellmer_harness; t=time.perf_counter()-t;"
        "assert 'vcr' not in sys.modules; print(t)"
    )
    theirs = child("import time; t=time.perf_counter(); import vcr; print(time.perf_counter()-t)")
    return Row("import (vcrpy itself only at the first cassette)", ms(theirs), ms(ours), theirs / ours, 1)


def against_vcrpy(folder: Path, kilobytes: int, count: int) -> Row:
    """Measures loading and replaying a cassette in recorded order, compared with vcrpy."""
    ours, theirs = cassettes(folder, kilobytes, count)
    bodies = [json.loads(body) for body in requests(kilobytes, count)]
    mine = min(replay_ours(ours, bodies)[0] for _ in range(REPEATS))
    stock, _ = replay_theirs(theirs, bodies)
    return Row(
        f"load and replay {count} interactions of {kilobytes} KB (vcrpy)",
        s(stock),
        s(mine),
        stock / mine,
        300 * count / 1000,
    )


def flat(folder: Path, most: int) -> Row:
    """Measures one request among many, compared with one among few."""
    few = per_request(folder, 1, 10)
    many = per_request(folder, 1, most)
    return Row(
        f"a request among {most}, compared to one among 10", us(few), us(many), many / few, 1.5, most=True
    )


def against_mock(folder: Path, kilobytes: int) -> Row:
    """Measures one request, compared with httpx's own mock."""
    bodies = [json.loads(body) for body in requests(kilobytes, 300)]
    answer = json.dumps(response(0)).encode()
    mock = httpx.MockTransport(
        lambda _: httpx.Response(200, content=answer, headers={"content-type": "application/json"})
    )
    with httpx.Client(transport=mock) as client:
        floor = min(median(laps(client, bodies)) for _ in range(REPEATS))
    mine = per_request(folder, kilobytes, 300)
    return Row(
        f"a request of {kilobytes} KB (MockTransport)", us(floor), us(mine), mine / floor, 3, most=True
    )


def loading(folder: Path, count: int) -> Iterator[Row]:
    """Measures loading a text cassette of 12 MB (1,200 exchanges) in separate processes: the time, then the maximum memory (of Python)."""
    ours, theirs = cassettes(folder, 7, count)
    first, _ = cassettes(
        folder, 1, 1
    )  # opened before the clock starts, because it imports what loading needs
    sides = [
        ("import vcr; from vcr.cassette import Cassette", f"Cassette.load(path={str(theirs)!r})"),
        (
            f"from ellmer_harness import use_cassette\nwith use_cassette({str(first)!r}, mode='replay', allow_unused=True, allow_idle=True): pass\n",
            f"use_cassette({str(ours)!r}, mode='replay').__enter__()",
        ),
    ]
    clock = "{}\nimport time; t=time.perf_counter(); {}; print(time.perf_counter()-t)"
    peak = "{}\nimport tracemalloc; tracemalloc.start(); {}; print(tracemalloc.get_traced_memory()[1])"
    stock, mine = (child(clock.format(*side)) for side in sides)
    megabytes = theirs.stat().st_size / 1e6
    yield Row(
        f"load {megabytes:.1f} MB of text (vcrpy, YAML with libyaml)", ms(stock), ms(mine), stock / mine, 8
    )
    stock, mine = (child(peak.format(*side)) for side in sides)
    yield Row("  memory for it", mb(stock), mb(mine), stock / mine, 1)


def sizes(folder: Path) -> Row:
    """Measures the bytes on disk of a chat of 20 turns that sends the same image each time."""
    image = {"type": "image", "data": b64encode(Random(1).randbytes(1 << 20)).decode()}
    turns = [
        {"role": "user", "content": [image]},
        *({"role": "user", "content": f"turn {n}"} for n in range(19)),
    ]
    bodies = [json.dumps({"messages": turns[: n + 1]}).encode() for n in range(20)]
    ours, theirs = write(folder / "image", bodies)
    mine = sum(path.stat().st_size for path in ours.parent.rglob("*") if path != theirs and path.is_file())
    stock = theirs.stat().st_size
    return Row("20 turns with one image of 1 MiB, on disk (vcrpy)", mb(stock), mb(mine), stock / mine, 19.9)


def recording(folder: Path, kilobytes: int, count: int, pause: float) -> Row:
    """Measures recording from a local server that waits some seconds: the whole run without the import."""
    bodies = requests(kilobytes, count)
    with answering(pause) as url:
        runs = [
            (recorded(folder, url, bodies, ours=False), recorded(folder, url, bodies, ours=True))
            for _ in range(REPEATS)
        ]
    stock, mine = (min(times) for times in zip(*runs, strict=True))
    told = f"record {count} requests of {kilobytes} KB, answered in {pause * 1e3:.0f} ms (vcrpy)"
    return Row(told, ms(stock), ms(mine), mine / stock, 1.1, most=True)


def recorded(folder: Path, url: str, bodies: list[bytes], *, ours: bool) -> float:
    """Returns the seconds until the cassette is written."""
    import vcr

    from ellmer_harness import use_cassette

    path = folder / "recorded" / ("c.json" if ours else "c.yaml")
    with httpx.Client() as client:
        start = time.perf_counter()
        with use_cassette(path, mode="rewrite") if ours else vcr.use_cassette(path, record_mode="all"):
            for body in bodies:
                client.post(url, content=body, headers={"content-type": "application/json"}).read()
        return time.perf_counter() - start


@contextmanager
def answering(pause: float) -> Iterator[str]:
    """Yields the URL of a local server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            time.sleep(pause)
            body = json.dumps(response(0)).encode()
            head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            self.wfile.write(head.encode() + body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/chat"
        server.shutdown()


def per_request(folder: Path, kilobytes: int, count: int) -> float:
    """Returns the median seconds of a replayed request."""
    ours, _ = cassettes(folder, kilobytes, count, yaml=False)
    bodies = [json.loads(body) for body in requests(kilobytes, count)]
    return min(median(replay_ours(ours, bodies)[1]) for _ in range(REPEATS))


def replay_ours(path: Path, bodies: list[Json]) -> tuple[float, list[float]]:
    from ellmer_harness import use_cassette

    with httpx.Client() as client:
        start = time.perf_counter()
        with use_cassette(path, mode="replay"):
            found = laps(client, bodies)
        return time.perf_counter() - start, found


def replay_theirs(path: Path, bodies: list[Json]) -> tuple[float, list[float]]:
    import vcr

    options = {"record_mode": "none", "match_on": ["method", "uri", "body"]}
    with httpx.Client() as client:
        start = time.perf_counter()
        with vcr.use_cassette(path, **options):
            found = laps(client, bodies)
        return time.perf_counter() - start, found


def laps(client: httpx.Client, bodies: list[Json]) -> list[float]:
    """Returns the seconds of each request."""
    found = []
    for body in bodies:
        start = time.perf_counter()
        client.post(URL, json=body).read()
        found.append(time.perf_counter() - start)
    return found


def child(code: str) -> float:
    """Returns the minimum number that the code prints in several separate processes."""
    runs = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True) for _ in range(REPEATS)
    ]
    return min(float(done.stdout) for done in runs)


def s(seconds: float) -> str:
    return f"{seconds:.2f} s"


def ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"


def us(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} us"


def mb(size: float) -> str:
    return f"{size / 1e6:.1f} MB"
