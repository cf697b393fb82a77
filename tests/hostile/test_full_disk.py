"""Everything that is written, on a disk that is full or only read: what was there is unchanged, no half file is left, and the error says
what to do. The disk is one of the memory, in a namespace of its own, so it takes a system that lets a user make one.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from broken_runs import report as broken_report

from ellmer_conformance.report import finished, report_json

pytestmark = pytest.mark.invariants

ROOT = Path(__file__).parents[2]
MOUNTED = 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"'
#: Writes as `WRITERS[sys.argv[2]]` does to the disk `sys.argv[1]`: when it is full, when only old files fit, and when it is only read.
PROGRAM = """
import contextlib, gc, io, json, os, subprocess, sys, warnings
from pathlib import Path
import httpx
import ellmer_core as ec
from ellmer_core.render.html import export
warnings.simplefilter("ignore")
disk, name, recording, asked = Path(sys.argv[1]), sys.argv[2], sys.argv[3], []

def chat():
    def answer(request):
        asked.append(request)
        return httpx.Response(200, json={"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]})
    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    return ec.chat_openai_completions(api_key="k", model="m", client=client, max_tries=1, echo="none")

def exported(file):
    export([ec.UserTurn("a" * 9000)], disk / file, overwrite=True)

def stored(_):
    from ellmer_core.live.conversation_store import Store
    Store(disk / "chats.sqlite").save("ann", "1", "Title", "words", {"a": "a" * 9000})

def journal(file):
    ec.parallel_chat_text(chat(), ["one", "two"], path=disk / file)

def command(main, *words):
    def run(file):
        said = io.StringIO()
        sys.argv = ["command", *(word.replace("FILE", str(disk / file)).replace("RECORDING", recording) for word in words)]
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                code = main()
            except SystemExit as ended:
                code = ended.code
        if code == 2:
            raise OSError(said.getvalue())
    return run

def suite():
    from ellmer_conformance.cli import main
    return main()

def harness():
    from ellmer_harness.cli import main
    return main()

WRITERS = {
    "export, page": (exported, "chat.html"), "export, Markdown": (exported, "chat.md"),
    "store of the chat app": (stored, "chats.sqlite"), "parallel prompts": (journal, "answers.jsonl"),
    "merge": (command(suite, "merge", recording, "-o", "FILE"), "report"),
    "lint --write": (command(suite, "lint", "RECORDING", "--write", "json=FILE", "--write", "sarif=FILE.sarif"), "lint"),
    "lint --resume": (command(suite, "lint", "RECORDING", "--resume", "FILE"), "judged"),
    "export of a recording": (command(harness, "export", "RECORDING", "--out", "FILE"), "a.yaml"),
    "scan --resume": (command(harness, "scan", "RECORDING", "--resume", "FILE"), "scanned"),
}
use, file = WRITERS[name]

def files():
    return {str(each.relative_to(disk)): len(each.read_bytes()) for each in disk.rglob("*") if each.is_file() and each.name != "filler"}

def tried():
    try:
        use(file)
    except Exception as error:
        return str(error)

def full():
    room = os.statvfs(disk)
    (disk / "filler").write_bytes(b"x" * (room.f_bavail * room.f_frsize))

full()
told = {"full": (tried(), files(), {})}
(disk / "filler").unlink()
for left in sorted(disk.rglob("*"), reverse=True):
    left.rmdir() if left.is_dir() else left.unlink()
gc.collect()  # an open file keeps the disk writable
subprocess.run(["mount", "-o", "remount,ro", "none", str(disk)], check=True)
told["only read"] = (tried(), files(), {})
subprocess.run(["mount", "-o", "remount,rw", "none", str(disk)], check=True)
if name == "parallel prompts":  # what a finished job has is there, and nothing is asked
    use(file)
    gc.collect()
    subprocess.run(["mount", "-o", "remount,ro", "none", str(disk)], check=True)
    use(file)
    gc.collect()
    subprocess.run(["mount", "-o", "remount,rw", "none", str(disk)], check=True)
if name != "merge":
    error, old = tried(), {each: (disk / each).read_bytes() for each in files()}
    full()
    tried()
    told["full beside old files"] = (None, files(), {each: len(data) for each, data in old.items() if (disk / each).read_bytes() != data})
    assert error is None, error
print(json.dumps([told, len(asked)]))
"""
WRITERS = {
    "export, page": "Make room",
    "export, Markdown": "Make room",
    "store of the chat app": "Make room",
    "parallel prompts": "Nothing was sent. Make room",
    "merge": "Make room",
    "lint --write": "Make room",
    "lint --resume": "Make room",
    "export of a recording": "Make room",
    "scan --resume": "Make room",
}
#: SQLite makes its file before it writes.
DATABASES = {"store of the chat app", "lint --resume", "scan --resume"}
CASSETTE = ROOT / "cassettes" / "openai-chat" / "groq" / "one_tool.stream.json"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Returns the folder of a small report."""
    folder = tmp_path_factory.mktemp("report")
    run = broken_report.played(broken_report.Ours(), "plain_text")
    report_json.write(finished(run), folder / "report.json")
    return folder


@pytest.fixture
def written_on_a_small_disk(tmp_path):
    """Returns a function that runs the program, and returns what it said."""

    def run(name, recording):
        words = ["unshare", "-rm", "sh", "-c", MOUNTED, "sh", "700k", str(tmp_path)]
        if not shutil.which("unshare") or subprocess.run([*words, "true"], check=False).returncode:
            pytest.skip("the system makes no disk for a test")
        done = subprocess.run(
            [*words, sys.executable, "-c", PROGRAM, str(tmp_path), name, str(recording)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_loses_nothing_and_leaves_nothing_half(written_on_a_small_disk, report, name):
    told, asked = written_on_a_small_disk(name, report if name == "merge" else CASSETTE)

    for state, (error, files, changed) in told.items():
        assert error is None or WRITERS[name] in error, state
        assert error is None or error.count("Make room") == 1, state
        assert (
            state == "full beside old files" or not files or (name in DATABASES and not any(files.values()))
        ), state
        assert changed == {}, state
    assert told["full"][0]
    assert told["only read"][0]
    assert asked == (2 if name == "parallel prompts" else 0)
