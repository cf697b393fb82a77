"""Attacks on the files: processes that are killed while they record, full disks, and many processes with one
cassette.

`python harness/attacks.py [kill|disk|together …] [--count N]` prints a line for each attack: cases, failures. Exit code 1
if there was a failure. It needs `fork`, so Linux or macOS.
"""

# ruff: noqa: T201, S311  # a script, which prints, and kills at random moments

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from random import Random

import httpx
import vcr  # noqa: F401  # children find it imported

from ellmer_harness import CassetteError, use_cassette
from ellmer_harness.recordings import read

API = "https://api.example.com"
LOTS = Random(7)
PICTURE = b"\x89PNG\r\n\x1a\n" + LOTS.randbytes(200_000)


class Echo(BaseHTTPRequestHandler):
    """Answers with the path, many words and an image."""

    def log_message(self, *_: object) -> None:
        """Prints nothing."""

    def do_GET(self) -> None:
        picture = b64encode(PICTURE + self.path.encode()).decode()
        body = json.dumps({"path": self.path, "words": ["word"] * 3000, "picture": picture}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> int:
    """Prints the table and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attacks", nargs="*", help=f"only these: {', '.join(ATTACKS)}")
    parser.add_argument("--count", type=int, default=100, help="cases of each attack")
    options = parser.parse_args()
    failures = 0
    with answering() as url:
        for name in options.attacks or ATTACKS:
            with tempfile.TemporaryDirectory() as folder:
                failed = sum(not ATTACKS[name](Path(folder, str(n)), url, n) for n in range(options.count))
            print(f"| {DOES[name]} | {options.count} | {failed} |", flush=True)
            failures += failed
    return 1 if failures else 0


@contextlib.contextmanager
def answering() -> Iterator[str]:
    """Yields a server in a separate process, so that this one has a single thread and may fork."""
    server = HTTPServer(("127.0.0.1", 0), Echo)
    server.socket.listen(64)
    child = forked(server.serve_forever)
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        server.server_close()


def killed(folder: Path, url: str, case: int) -> bool:
    """Kills a process that records the same cassette repeatedly. The file and its media are complete."""
    path = folder / "c.json"
    record(path, url, case, mode="rewrite")
    child = forked(lambda: [record(path, url, n, mode="rewrite") for n in range(10_000)])
    time.sleep(LOTS.uniform(0.01, 0.2))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return len(whole(path)) == 1


def disk_full(folder: Path, url: str, case: int) -> bool:
    """Limits the file size of a process. It gets an error, and the previous file stays."""
    path, limit = folder / "c.json", int(LOTS.uniform(0, 199_000))
    record(path, url, 0, mode="rewrite")
    before = path.read_bytes()

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with contextlib.suppress(CassetteError):
            record(path, url, case + 1, mode="rewrite")
            os._exit(1)

    return exit_code(forked(limited)) == 0 and path.read_bytes() == before and len(whole(path)) == 1


def together(folder: Path, url: str, case: int) -> bool:
    """Runs sixteen processes that record into one cassette at the same time. It has all of their interactions."""
    path, run = folder / "c.json", f"run-{case}-{time.time_ns()}"
    record(path, url, 99, mode="rewrite")
    children = [forked(lambda n=n: record(path, url, n, mode="rewrite", run=run)) for n in range(16)]
    ended = [exit_code(child) for child in children]
    return not any(ended) and sorted(whole(path)) == sorted(f"{API}/{n}" for n in range(16))


def record(path: Path, url: str, number: int, **options: str) -> None:
    """Records one interaction."""
    with use_cassette(path, routes={API: url}, recorded_from="echo", **options):  # type: ignore[arg-type]  # a mode
        httpx.get(f"{API}/{number}", timeout=60)


def whole(path: Path) -> list[str]:
    """Returns the URLs of a cassette if every body can be read, else `[]`."""
    found = read(path)
    assert found is not None
    bodies = [json.loads(one.content or b"null") for one in found.interactions]
    paths = [f"{API}{body['path']}" for body in bodies if len(body["words"]) == 3000]
    return paths if paths == [one.url for one in found.interactions] else []


def forked(task: Callable[[], object]) -> int:
    """Returns the id of a process that runs a function, and ends with 0 if it succeeded."""
    child = os.fork()
    if child == 0:
        try:
            task()
        except BaseException as error:  # noqa: BLE001  # every error is reported to the parent
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return child


def exit_code(child: int) -> int:
    """Returns the exit code of a child."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


ATTACKS = {"kill": killed, "disk": disk_full, "together": together}
DOES = {
    "kill": "A process is killed while it records: the cassette and its media are whole",
    "disk": "The disk is full while a cassette is written: an error, and the good file stays",
    "together": "Sixteen processes record into one cassette: it has all sixteen interactions",
}


if __name__ == "__main__":
    sys.exit(main())
