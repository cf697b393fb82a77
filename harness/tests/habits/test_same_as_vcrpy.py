"""Habits of vcrpy's users: with our engine, the outcomes, requests and cassettes are those of vcrpy.

Each row of `same_as_vcrpy.toml` is a project, with several runs of pytest. A row has:

- `files`, and the `plugins` that are loaded; by default pytest-recording alone.
- `steps`: for each run, `with` (options), whether the server is `up`, and an `edit` (a file, a text and a new one) before it.
- `unordered`, if the order of the interactions in a cassette depends on threads or tasks.
- `unlike`, if only our engine runs, and why. Then all tests pass in each run.
"""

import gzip
import json
import os
import re
import shlex
import threading
import tomllib
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from warm_pytest import run_pytest

ROWS = tomllib.loads(Path(__file__).with_name("same_as_vcrpy.toml").read_text("utf-8"))["same"]
ASKS = """
import os
import requests

BASE = os.environ["BASE"]

def ask(path="/x", **options):
    return requests.post(BASE + path, **options).json()
"""
OUTCOME = re.compile(r"\b(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)\b")
OUR_LINE = "vcrpy's cassettes, by ellmer_harness"
OF_A_RUN = {"date", "server", "user-agent"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.body()
        path = self.path.partition("?")[0]
        self.server.asked[self.command, self.path] += 1
        self.server.times[path] += 1
        status, headers, content = self.of(path, body, self.server.times[path])
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def body(self):
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def of(self, path, body, times):
        """Returns the status, further headers and the body of the answer to a path."""
        sent = {"path": self.path, "body": body.decode("latin-1"), "auth": self.headers.get("authorization")}
        said = json.dumps(sent).encode()
        counted = json.dumps({"n": times, "done": times >= 3}).encode()
        special = {
            "/count": (200, {}, counted),
            "/gzip": (200, {"content-encoding": "gzip"}, gzip.compress(said, mtime=0)),
            "/binary": (200, {"content-type": "application/octet-stream"}, bytes(range(256))),
            "/flaky": (503 if times == 1 else 200, {}, said),
            "/redirect": (302, {"location": "/final"}, b""),
            "/cookie": (200, {"set-cookie": "sid=abc; Path=/", "x-secret": "s3"}, said),
        }
        status = int(path.rpartition("/")[2]) if path.startswith("/status/") else 200
        return special.get(path, (status, {}, said))

    def log_message(self, *_):
        """Prints nothing."""


for method in ("GET", "POST", "PUT", "DELETE", "HEAD", "PATCH"):
    setattr(Handler, f"do_{method}", Handler.answer)


class Api(ThreadingHTTPServer):
    """Sends back what it gets. Some paths have answers of their own."""

    daemon_threads = allow_reuse_address = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.asked, self.times = Counter(), Counter()
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()


def ran(row, folder, *, ours):
    """Returns for each run its outcome, what the server was asked, and the cassettes that were there after it."""
    written(row, folder / "project")
    server, runs = Api(), []
    port = server.server_port
    for number, step in enumerate(row["steps"]):
        if step.get("up", True) != (server is not None):
            server = stopped(server) if server else Api(port)
        if server:
            server.asked.clear()
        if edit := step.get("edit"):
            file = folder / "project" / edit[0]
            file.write_text(file.read_text("utf-8").replace(*edit[1:]), "utf-8")
        done = pytest_in(folder, row, step, {"BASE": f"http://127.0.0.1:{port}", "TRY": str(number)}, ours)
        last = done.stdout.strip().rpartition("\n")[2]
        outcome = Counter({name.removesuffix("s"): int(n) for n, name in OUTCOME.findall(last)})
        asked = dict(server.asked) if server else {}
        runs.append((outcome, asked, cassettes(folder / "project", str(port), row), done.stdout[-4000:]))
    if server:
        server.stop()
    return runs


def stopped(server):
    server.stop()


def written(row, project):
    for name, text in {"asks.py": ASKS, "pytest.ini": "[pytest]\n", **row["files"]}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, "utf-8")


def pytest_in(folder, row, step, more, ours):
    plugins = row.get("plugins", ["pytest_recording.plugin"])
    engine = ["ellmer_harness.pytest.vcr_engine"] if ours else []
    words = [word for name in (*plugins, *engine) for word in ("-p", name)]
    options = ["-p", "no:cacheprovider", "-o", "pythonpath=."]
    if "pytest_asyncio.plugin" in plugins:
        options += ["-o", "asyncio_mode=auto"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))
    }
    return run_pytest(
        [*words, *options, *shlex.split(step.get("with", ""))],
        cwd=folder / "project",
        env={**environment, **more, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        text="",
        logs=folder / "logs",
    )


def cassettes(project, port, row):
    """Returns the parsed cassettes, without what differs in each run."""
    found = {}
    for path in sorted(project.rglob("*")):
        if path.suffix in (".yaml", ".yml", ".json", ".txt") and "__pycache__" not in path.parts:
            text = path.read_text("utf-8").replace(port, "PORT")
            try:
                value = plain(yaml.safe_load(text))
            except yaml.YAMLError:
                value = text
            if row.get("unordered"):
                value["interactions"].sort(key=str)
            found[str(path.relative_to(project))] = value
    return found


def plain(value):
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if str(name).lower() not in OF_A_RUN}
    return [plain(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("row", ROWS, ids=[row["habit"] for row in ROWS])
def test_a_habit_is_the_same_with_our_engine(row, tmp_path):
    ours = ran(row, tmp_path / "ours", ours=True)
    works = "xdist" in row.get("plugins", ()) or any(OUR_LINE in told for *_, told in ours)
    assert works, ours[0][-1]  # workers of xdist print nothing
    if "unlike" in row:
        assert [set(outcome) for outcome, *_ in ours] == [{"passed"}] * len(ours), ours[-1][-1]
        return
    theirs = ran(row, tmp_path / "vcrpy", ours=False)
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        told = f"run {number}\n{mine[-1]}\n{other[-1]}"
        assert mine[0], told
        assert mine[0] == other[0], told
        assert mine[1] == other[1], told
        assert mine[2] == other[2], told


def test_there_are_34_habits():
    assert len({row["habit"] for row in ROWS}) == len(ROWS) == 34
