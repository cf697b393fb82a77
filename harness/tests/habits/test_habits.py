"""Habits of pytest and its plugins, each in a project of its own: recorded from a server, and replayed without it.

The tables beside this file (`*.toml`) have a row for each habit. Of each row must hold:

- The recording run has the outcome `record`, sends `requests`, and writes the number of cassettes `saved`.
- Each replay (`replay`; by default one with the same outcome) sends nothing, changes no cassette, and finds no unused one.
  Its output has the lines `shows`.

A row's `plugins` are loaded before ours when it records, and after ours when it replays.
"""

import json
import os
import re
import shlex
import threading
import time
import tomllib
from collections import Counter
from fnmatch import fnmatch
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from warm_pytest import run_pytest

ROWS = [
    row
    for file in sorted(Path(__file__).parent.glob("*.toml"))
    for row in tomllib.loads(file.read_text("utf-8")).get("habit", ())
]
OURS = ["-p", "ellmer_harness.pytest.plugin"]
API = """
import httpx

def ask(n=1, path="x"):
    answer = httpx.post(f"https://api.example.com/{path}", json={"n": n}, timeout=5)
    answer.raise_for_status()
    return answer.json()["n"]
"""
CONFTEST = """
import os
import pytest

@pytest.fixture
def cassette_options():
    return {"routes": {"https://api.example.com": os.environ["SERVER"]}, "recorded_from": "test-server"}
"""
INI = "[pytest]\npythonpath = .\naddopts = --strict-markers -rA\n"
OUTCOME = re.compile(r"\b(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|rerun|retried|deselected)\b")


class Api(ThreadingHTTPServer):
    """Sends a request's number back. `fails-once` refuses each number once, `counts` counts, and `slow` takes its time."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.up = True
        self.asked = []
        self.connections = 0
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def verify_request(self, request, client_address):
        self.connections += 1
        return self.up

    def answer(self, path, n):
        first = (path, n) not in self.asked
        self.asked.append((path, n))
        if path == "/slow":
            time.sleep(3)
        if path == "/fails-once" and first:
            return 500, {"n": None}
        return 200, {"n": sum(asked == path for asked, _ in self.asked) if path == "/counts" else n}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        status, answer = self.server.answer(self.path, json.loads(body)["n"])
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Prints nothing."""


@pytest.fixture
def api():
    with Api() as server:
        yield server
        server.shutdown()


@pytest.fixture
def project(tmp_path, api):
    """Writes the project of a row, and runs pytest in it."""

    def run(row, step, *, first, last):
        plugins = [word for name in row.get("plugins", ()) for word in ("-p", name)]
        ordered = [*plugins, *OURS] if first else [*OURS, *plugins]
        words = [*ordered, *shlex.split(row.get("options", "")), *shlex.split(step.get("with", ""))]
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST", "CASSETTE", "COV", "DJANGO"))
        }
        environment |= {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "SERVER": f"http://127.0.0.1:{api.server_port}",
        }
        return run_pytest(
            [*words, *last],
            cwd=tmp_path / "project" / step.get("in", ""),
            env=environment | step.get("env", {}),
            text=step.get("input", ""),
            logs=tmp_path / "logs",
        )

    return run


def written(folder, files):
    for name, text in {"api.py": API, "conftest.py": CONFTEST, "pytest.ini": INI, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def outcome(output):
    """Returns the numbers of pytest's last line, or of pytest-sugar's last lines."""
    _, sugar, last = output.rpartition("Results (")
    last = last if sugar else output.strip().rpartition("\n")[2]
    return Counter({name.removesuffix("s"): int(n) for n, name in OUTCOME.findall(last)})


def expected(text):
    return Counter({name.removesuffix("s"): int(n) for n, name in OUTCOME.findall(text)})


def cassettes(folder):
    found = folder.rglob("cassettes/**/*.json")
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in found}


def steps(row, name):
    """Returns the runs of a row: a table or an outcome for each."""
    given = row.get(name, row["record"])
    return [
        each if isinstance(each, dict) else {"outcome": each}
        for each in (given if isinstance(given, list) else [given])
    ]


def held(step, done):
    """Checks the outcome and the lines of a run."""
    told = f"{done.stdout}\n{done.stderr}"
    assert outcome(done.stdout) == expected(step["outcome"]), told
    assert "INTERNALERROR" not in told, told
    for pattern in step.get("shows", ()):
        assert any(fnmatch(line, pattern) for line in done.stdout.splitlines()), f"{pattern}\n{told}"
    unused = [line for line in done.stdout.splitlines() if line.startswith(("ORPHAN", "UNUSED"))]
    assert unused == [], told


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['plugin']}: {row['habit']}" for row in ROWS])
def test_habit(row, project, api, tmp_path):
    folder = tmp_path / "project"
    written(folder, row["files"])
    for step in steps(row, "record"):
        done = project(row, step, first=True, last=["--cassette-mode=record"])
        held(step, done)
    told = f"{done.stdout}\n{done.stderr}"
    before = cassettes(folder)
    assert (len(api.asked), len(before)) == (row["requests"], row["saved"]), f"{api.asked}\n{before}\n{told}"

    api.up, api.connections = False, 0
    for step in steps(row, "replay"):
        for name, (old, new) in step.get("edits", {}).items():
            (folder / name).write_text((folder / name).read_text("utf-8").replace(old, new), "utf-8")
        done = project(row, step, first=False, last=[])
        held(step, done)
        told = f"{done.stdout}\n{done.stderr}"
        assert api.connections == 0, told
        assert cassettes(folder) == before, told


def test_a_row_names_each_habit_once():
    names = [(row["plugin"], row["habit"]) for row in ROWS]
    assert len(set(names)) == len(names) >= 50
