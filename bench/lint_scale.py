"""Measures the commands that read many recordings over simulated stores: the cost of an interaction and the client's memory, as
their number grows.

The store is a file system of fsspec whose objects are made when they are read, so a million interactions need no disk.
Every object has 100 interactions, and one object of 100 breaks a rule. The reports of all engines must be equal.

Up to 30,000 interactions are judged. Above, a worker reads each object and repeats the report of an earlier one, since the
cost of an interaction is known by then: the table of a million shows the listing, the engine, the report and the client.
"""

# ruff: noqa: T201, S603, S311 - it prints and starts itself; random numbers only make text
from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from hashlib import sha256
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import fsspec
from fsspec.spec import AbstractFileSystem

from ellmer_conformance.cli import main
from ellmer_conformance.recordings import calibrate, lint, rule_coverage
from ellmer_harness.bulk.sources import Source
from ellmer_harness.cli import main as harness
from ellmer_harness.cli import scan

from .generated_cassettes import TEXT

EACH = 100  # interactions of an object
FOLDER = 200  # objects of a folder
WORDS = TEXT.split(" ")
REPEATS = bool(
    os.environ.get("LINT_SCALE_REPEATS")
)  # the workers judge two objects, and repeat their reports
URL = "https://api.openai.com/v1/chat/completions"


class Simulated(AbstractFileSystem):  # type: ignore[misc]  # fsspec publishes no types
    """A store of N interactions at `simulated://N`."""

    protocol = "simulated"
    cachable = False

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[dict[str, Any]]:  # noqa: ARG002 - fsspec's
        """Lists the folders of a store, or the objects of a folder."""
        top, _sep, folder = self._strip_protocol(path).partition("/")
        count = int(top) // EACH
        if folder:
            first = int(folder) * FOLDER
            numbers = range(first, min(count, first + FOLDER))
            return [
                {"name": f"{top}/{folder}/{n:07}.json", "type": "file", "size": 1, "ETag": "1"}
                for n in numbers
            ]
        folders = range(-(-count // FOLDER))
        return [{"name": f"{top}/{n:05}", "type": "directory", "size": 0} for n in folders]

    def cat_file(self, path: str, *_: Any, **__: Any) -> bytes:
        """Makes the object: a cassette with a conversation in each interaction."""
        number = int(path.rpartition("/")[2].removesuffix(".json"))
        return _made(0 if number % 100 == 0 else 1) if REPEATS else _made(number)

    def get_file(self, rpath: str, lpath: str, *_: Any, **__: Any) -> None:
        """Writes the object to a file."""
        Path(lpath).write_bytes(self.cat_file(rpath))


@lru_cache(2)
def _made(number: int) -> bytes:
    """Returns the object with a number: one of 100 is broken."""
    random = Random(number)
    interactions = [_interaction(random, broken=not (at or number % 100)) for at in range(EACH)]
    return json.dumps({"version": 1, "interactions": interactions}).encode()


def _interaction(random: Random, *, broken: bool) -> dict[str, Any]:
    start = random.randrange(len(WORDS) - 20)
    text = f"{random.random()} {' '.join(WORDS[start : start + 20])}"
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_2" if broken else "call_1", "content": text},
    ]
    body = {"model": "gpt-4.1", "messages": messages}
    request = {"method": "POST", "uri": URL, "headers": {}, "body": json.dumps(body)}
    return {
        "request": request,
        "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": "{}"}},
    }


fsspec.register_implementation("simulated", Simulated, clobber=True)

# --- Measuring -------------------------------------------------------------------------------------------


def client() -> None:
    """Runs the command, and prints its seconds and the most memory in MB on standard error. The processes that it
    starts import this module, because it is the main one, and so they know the store.
    """
    begin = time.monotonic()
    try:
        if sys.argv[1] == "scan":
            sys.exit(harness())
        main()
    finally:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"MEASURED {time.monotonic() - begin} {most}", file=sys.stderr)


@dataclass(frozen=True)
class Measured:
    """A run: its seconds, the most memory of the client in MB, and the digest of the report."""

    seconds: float
    memory: float
    digest: str


#: The commands with their exit codes. Lint and calibration find the broken objects.
COMMANDS = {
    ("lint", "--format", "json"): 1,
    ("calibrate", "--format", "json"): 1,
    ("coverage", "--format", "json"): 0,
    ("scan",): 0,
}


def measured(name: Sequence[str], count: int, engine: str, address: str) -> Measured:
    """Runs a command over a store with one engine and two workers."""
    command = [sys.executable, "-m", __name__, *name, f"simulated://{count}", "--engine", engine, "-j", "2"]
    environment = {**os.environ, "DASK_SCHEDULER_ADDRESS": address}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=False
    ) as client:
        digest = sha256()
        if client.stdout is None or client.stderr is None:
            raise RuntimeError("the client has no pipes")
        while piece := client.stdout.read(1 << 20):
            digest.update(piece)
        told = client.stderr.read().decode()
    line = next((line for line in told.splitlines() if line.startswith("MEASURED")), "")
    if not line or client.returncode != COMMANDS[tuple(name)]:
        raise RuntimeError(f"{' '.join(command[3:])} ended with {client.returncode}:\n{told[-2000:]}")
    _, seconds, memory = line.split()
    return Measured(float(seconds), float(memory), digest.hexdigest())


def repeat_results() -> None:
    """Makes this process judge one good and one broken object with each command, and repeat their results for all others."""
    for module, name in (
        (lint, "lint_file"),
        (calibrate, "file_outcomes"),
        (rule_coverage, "file_coverage"),
        (scan, "searched"),
    ):
        setattr(module, name, repeating(getattr(module, name)))


def repeating(judge: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function with its result for an earlier object like this one. The requests have other digests."""
    memory: dict[bool, Any] = {}

    @wraps(judge)
    def repeat(source: Source, *others: Any, **options: Any) -> Any:
        number = int(Path(str(source)).stem)
        broken = not number % 100
        if broken not in memory:
            memory[broken] = judge(source, *others, **options)
        else:
            with source.local():  # type: ignore[union-attr]  # an object of the store
                pass
        found = replace(memory[broken], path=str(source))
        if isinstance(found, calibrate.FileOutcomes):
            digests = (sha256(f"{number} {each.hex()}".encode()).digest() for each in found.requests)
            found = replace(found, requests=dict(zip(digests, found.requests.values(), strict=True)))
        return found

    return repeat


if REPEATS:
    repeat_results()


def run(options: argparse.Namespace) -> int:
    """Prints the table. Returns 1 if two engines disagree."""
    title = f"{'interactions':>12} {'engine':>10} {'seconds':>9} {'µs each':>8} {'client MB':>10}"
    print(f"{'command':9} {title}  same report")
    names = [*COMMANDS][:1] if options.quick else [*COMMANDS]
    wrong = table(names, (1_000,) if options.quick else (10_000, 30_000))
    print("The results repeat; only the first objects are judged:")
    os.environ["LINT_SCALE_REPEATS"] = "1"
    return int(wrong | table([*COMMANDS], (2_000,) if options.quick else (100_000, 1_000_000)))


def table(names: Sequence[tuple[str, ...]], counts: Sequence[int]) -> bool:
    """Prints the lines of each command with both engines for each number of interactions, and tells whether they disagree."""
    from distributed import LocalCluster  # noqa: PLC0415 - an extra, needed here only

    wrong = False
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, preload=["bench.lint_scale"]
    ) as cluster:
        for name, count in product(names, counts):
            digests = set()
            for engine in ("dask", "processes"):
                found = measured(name, count, engine, cluster.scheduler_address)
                digests.add(found.digest)
                each, same = 1e6 * found.seconds / count, "yes" if len(digests) == 1 else "NO"
                numbers = f"{found.seconds:9.1f} {each:8.0f} {found.memory:10.0f}"
                print(f"{name[0]:9} {count:12,} {engine:>10} {numbers}  {same}", flush=True)
            wrong = wrong or len(digests) > 1
    return wrong


if __name__ == "__main__":
    client()
