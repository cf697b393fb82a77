"""Commands that read recordings, on a real Dask scheduler with two workers, over the objects of a real S3 server."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from servers.s3 import absent, s3

from ellmer_conformance.recordings.lint import lint

FILES = 60
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
#: The command. A child of a shell's background job would ignore Ctrl-C.
COMMAND = """
import signal
from {module} import main
signal.signal(signal.SIGINT, signal.default_int_handler)
raise SystemExit(main())
"""
SUITE, HARNESS = (COMMAND.format(module=each) for each in ("ellmer_conformance.cli", "ellmer_harness.cli"))


def cassette(number):
    """Returns a recording. Every tenth one breaks a rule."""
    messages = [{"role": "user", "content": f"Hello {number}"}]
    messages += [{"role": "tool", "tool_call_id": "a", "content": "x"}] if number % 10 == 0 else []
    request = {"method": "POST", "uri": "https://api.openai.com/v1/chat/completions", "headers": {}}
    request["body"] = json.dumps({"model": "gpt-4.1", "messages": messages})
    response = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": "{}"}}
    return json.dumps({"version": 1, "interactions": [{"request": request, "response": response}] * 20})


@pytest.fixture
def bucket(monkeypatch):
    """Yields the URL of a bucket with recordings of two years, one of them damaged and with a secret, and one in a pair of files."""
    with s3(monkeypatch) as server:
        import s3fs

        files = s3fs.S3FileSystem()
        top = server.url.removeprefix("s3://")
        for number in range(FILES):
            files.pipe_file(f"{top}/2026/{number % 12:02}/{number:04}.json", cassette(number).encode())
        damaged = cassette(1).replace("Hello", f"My token is {TOKEN}")[:-9]
        files.pipe_file(f"{top}/2026/01/damaged.json", damaged.encode())
        files.pipe_file(f"{top}/2025/old.json", cassette(0).encode())
        body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}]}
        files.pipe_file(f"{top}/2026/12/x.request.json", json.dumps(body).encode())
        files.pipe_file(f"{top}/2026/12/x.response.json", b'{"object": "chat.completion"}')
        yield server.url


class Cluster:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self, stack, folder):
        self.stack, self.folder = stack, folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        port = self.address.rpartition(":")[2]
        self._start("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
        self.workers = [self._worker() for _ in range(2)]

    def _worker(self):
        return self._start("worker", self.address, "--no-nanny", "--no-dashboard", "--nthreads", "1")

    def _start(self, kind, *more):
        command = [sys.executable, "-m", "distributed.cli.dask_" + kind, *more]
        process = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.DEVNULL)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process


@pytest.fixture
def cluster(bucket, tmp_path):
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        absent(f"Dask is not installed ({error}; PyPI: distributed)")
    with ExitStack() as stack:
        yield Cluster(stack, tmp_path)


def linted(where, *options, env=None):
    return started(SUITE, "lint", where, "--format", "json", *options, env=env)


def started(program, *arguments, env=None):
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        bufsize=0,  # `communicate()` would not see what a buffer keeps
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(env or {})},
    )


def report(process, begin=b"", code=2):  # of the damaged file
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, err.decode()
    return begin + out


def begun(process):
    """Returns what a run has written when a first file is judged. It cannot end before somebody reads the rest."""
    lines = [process.stdout.readline()]
    while b'"path"' not in lines[-1]:
        assert lines[-1], "the run ended without a report of a file"
        lines.append(process.stdout.readline())
    return b"".join(lines)


@contextmanager
def lists_only():
    """Yields the URL of a server that passes on the lists of the S3 server, and refuses every object."""
    target = urlsplit(os.environ["AWS_ENDPOINT_URL"])
    refused = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if "list-type" not in self.path:
                refused.append(self.path)
                self.send_error(403)
                return
            upstream = HTTPConnection(target.hostname, target.port)
            upstream.request("GET", self.path, headers=dict(self.headers))
            answer = upstream.getresponse()
            data = answer.read()
            self.send_response(answer.status)
            self.send_header("content-type", "application/xml")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            """Prints nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", refused
    finally:
        server.shutdown()
        server.server_close()


def test_workers_read_what_the_client_may_only_list(bucket, cluster):
    where = f"{bucket}/2026/**"
    alone = report(linted(where))
    with lists_only() as (url, refused):
        env = {"DASK_SCHEDULER_ADDRESS": cluster.address, "AWS_ENDPOINT_URL": url}
        assert report(linted(where, "--engine", "dask", env=env)) == alone
    assert report(linted(where, "-j", "2")) == alone
    assert refused == []

    files = {file["path"]: file for file in json.loads(alone)["files"]}
    assert len(files) == FILES + 3
    assert f"{bucket}/2025/old.json" not in files
    assert files[f"{bucket}/2026/12/x.request.json"]["format"] == "a pair of files"
    assert files[f"{bucket}/2026/01/damaged.json"]["problem"]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ((SUITE, "calibrate", "--format", "json"), 2),
        ((SUITE, "coverage", "--format", "json"), 2),
        ((HARNESS, "scan"), 1),
    ],
    ids=["calibrate", "coverage", "scan"],
)
def test_other_commands_do_so_too(bucket, cluster, tmp_path, command, code):
    run = (*command, f"{bucket}/2026/**")
    alone = report(started(*run), code=code)
    with lists_only() as (url, refused):
        env = {"DASK_SCHEDULER_ADDRESS": cluster.address, "AWS_ENDPOINT_URL": url}
        kept = ("--resume", str(tmp_path / "journal"))
        assert report(started(*run, "--engine", "dask", *kept, env=env), code=code) == alone
        env = {"AWS_ENDPOINT_URL": url}  # no object is there for this run, which takes them from the journal
        again = started(*run, *kept, env=env)
        assert report(again, code=code) == alone
    assert report(started(*run, "-j", "2"), code=code) == alone
    assert [path for path in refused if "version" not in path] == []


def stored(journal):
    """Returns how many reports are in the journal of a run."""
    with sqlite3.connect(journal) as base:
        return base.execute("SELECT COUNT(*) FROM files").fetchone()[0]


def test_the_loss_of_a_worker_does_not_change_the_report(bucket, cluster, tmp_path):
    alone = report(linted(bucket))
    env = {"DASK_SCHEDULER_ADDRESS": cluster.address}
    running = linted(bucket, "--engine", "dask", "--resume", str(tmp_path / "journal"), env=env)
    begin = begun(running)
    assert running.poll() is None, "the run ended before the worker could be lost"
    cluster.workers[0].send_signal(signal.SIGKILL)

    assert report(running, begin) == alone


def test_an_interrupted_run_goes_on_from_there(bucket, tmp_path):
    alone = report(linted(bucket))
    journal = tmp_path / "journal"
    first = linted(bucket, "--resume", str(journal))
    begun(first)
    first.send_signal(signal.SIGINT)
    _, err = first.communicate(timeout=60)
    assert first.returncode == 130, err.decode()
    assert "it goes on from there" in err.decode()
    kept = stored(journal)
    assert 0 < kept < FILES

    with sqlite3.connect(journal) as base:
        base.execute("UPDATE files SET report = replace(report, '\"vcrpy\"', '\"from the journal\"')")
    second = report(linted(bucket, "--resume", str(journal)))

    assert second.count(b"from the journal") - 1 in {
        kept,
        kept - 1,
    }  # one for the totals; the damaged file has no format
    changed = second.replace(b"from the journal", b"vcrpy")
    assert json.loads(changed)["files"] == json.loads(alone)["files"]


@pytest.fixture
def recordings(tmp_path):
    for number in range(4):
        (tmp_path / f"{number}.json").write_text(cassette(number))
    return tmp_path


@pytest.mark.slow
def test_a_cluster_of_this_machine(recordings):
    alone = lint([recordings])

    assert lint([recordings], jobs=2, engine="dask") == alone
    assert alone.exit_code == 1


def test_a_scheduler_that_runs_already(recordings):
    import dask
    import distributed

    running = distributed.LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0")
    with running as cluster, dask.config.set({"scheduler-address": cluster.scheduler_address}):
        assert lint([recordings], engine="dask") == lint([recordings])
