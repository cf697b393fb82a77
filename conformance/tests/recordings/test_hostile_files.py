"""Hostile recordings: each is an error of one file, is reported on its line, and the other files are judged."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from base64 import b64encode
from contextlib import suppress
from pathlib import Path

import pytest

from ellmer_conformance.recordings.calibrate import calibrate
from ellmer_conformance.recordings.lint import lint
from ellmer_conformance.recordings.lint_report import _gist
from ellmer_conformance.report.formats.terminal_escaping import printable
from ellmer_core.base.budget import RECORDING, VIOLATIONS, YAML, Budget
from ellmer_harness.bulk.sources import sources
from ellmer_harness.format.blobs import Blobs, bounded_bodies
from ellmer_harness.recordings import Unreadable, read
from ellmer_harness.recordings.untrusted_files import unzipped

pytestmark = pytest.mark.invariants

URL = "https://api.openai.com/v1/chat/completions"
LEGAL = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}]}


def recording(body=LEGAL, status=200, **more):
    exchange = {
        "request": {"method": "POST", "uri": URL, "headers": {"authorization": ["Bearer x"]}, "body": body},
        "response": {"status": {"code": status}, "body": {"string": "{}"}},
        **more,
    }
    return {"version": 1, "interactions": [exchange]}


def yaml_of(body):
    return f"interactions:\n- request: {{method: POST, uri: '{URL}', body: {body}}}\n  response: {{status: {{code: 200}}}}\n"


def laughs(levels=12, each=10):
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * each)}]" for n in range(1, levels)]
    return "\n".join([*lines, f"interactions: *a{levels - 1}"])


def merges(levels=14, each=8):
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * each)}]}}" for n in range(1, levels)]
    return "\n".join([*lines, f"interactions: *a{levels - 1}"])


def bomb(levels=20):
    keys = "abcdefgh"
    defs = {
        f"d{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in keys}}
        for n in range(levels)
    }
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/d0"}},
        "$defs": defs,
        "additionalProperties": False,
    }
    return schema | {"required": ["x"]}


def tool(schema):
    return {"type": "function", "function": {"name": "f", "parameters": schema, "strict": True}}


DEEP = "[" * 100_000 + "]" * 100_000
FILES = {
    "half a character.json": json.dumps(recording({**LEGAL, "model": "\ud83d", "user": "\udc00"})),
    "a strange date.json": json.dumps(recording(recorded_at="0001-01-01T00:00:00+14:00")),
    "a strange date header.yaml": yaml_of("'{}'") + "  recorded_at: 9999-12-31T23:59:59-14:00\n",
    "deep.json": DEEP,
    "deep body.json": json.dumps(
        recording(json.dumps(LEGAL)[:-1] + ', "x": ' + '{"a":' * 900 + "1" + "}" * 901)
    ),
    "deep.yaml": "interactions: " + DEEP,
    "deep by indentation.yaml": "interactions:\n" + "".join(" " * n + "-\n" for n in range(1, 1500)),
    "laughs.yaml": laughs(),
    "merges.yaml": merges(),
    "references.json": json.dumps(recording({**LEGAL, "tools": [tool(bomb())]})),
    "large number.json": json.dumps(
        recording(json.dumps(LEGAL)[:-1] + ', "temperature": 1e999, "n": ' + "9" * 5000 + "}")
    ),
    "status.json": json.dumps(recording(status="x" * 100)),
    "escapes.json": json.dumps(
        recording({**LEGAL, "model": "\x1b]52;c;aGk=\x07", "tools": [{"type": "\x1b[2J"}]})
    ),
    "not there.json": json.dumps(recording({"on_disk": "../../../../../../etc/passwd"})),
    "nul.json": json.dumps(recording({"on_disk": "a\x00b"})),
    "zeros.json": "\x00" * 1000,
    "a list.json": "[" + "1," * 1000 + "1]",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    for name, text in FILES.items():
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    (folder / "bomb.json.gz").write_bytes(gzip.compress(b" " * 300 * 1024 * 1024, 1))
    (folder / "good.json").write_text(json.dumps(recording()), encoding="utf-8")
    (folder / "zero.json").symlink_to("/dev/zero")
    (folder / "vanished.json").symlink_to("gone")
    for name in ("pipe.json", "pipe.jsonl", "pipe.yaml.gz"):
        os.mkfifo(folder / name)
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    return folder


def run(*arguments):
    code = "import sys; from ellmer_conformance.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], check=False, capture_output=True, timeout=120
    )


@pytest.mark.parametrize("command", ["lint", "calibrate"])
def test_hostile_files_are_lines_of_their_own(folder, command):
    ended = run(command, str(folder))

    assert b"Traceback" not in ended.stderr, ended.stderr.decode()[-2000:]
    assert ended.returncode == 2
    for out in (ended.stdout, ended.stderr):
        assert not set(out) & set(b"\x1b\x07\x00")
        assert b"root:" not in out


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_no_format_says_what_a_terminal_obeys(folder, form):
    ended = run("lint", "--format", form, str(folder / "escapes.json"), str(folder / "half a character.json"))

    assert b"Traceback" not in ended.stderr
    assert not set(ended.stdout) & set(b"\x1b\x07\x00")
    ended.stdout.decode("utf-8")


def test_the_good_file_is_judged_all_the_same(folder):
    reports = {Path(file.path).name: file for file in lint([folder]).files}

    assert reports["good.json"].judged == 1
    assert reports["good.json"].problem is None
    for name in ("deep.yaml", "laughs.yaml", "merges.yaml", "not there.json"):
        assert reports[name].problem, name
    assert [*reports["bomb.json.gz"].skipped] == [
        "the file has more than 256 MB and may be a recording (--max-size)"
    ]


def test_a_crash_of_a_rule_is_that_files_trouble(folder, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("ellmer_conformance.recordings.lint.request_of", broken)
    monkeypatch.setattr("ellmer_conformance.recordings.calibrate.request_of", broken)
    assert "ZeroDivisionError" in lint([folder / "good.json"]).files[0].problem
    assert "ZeroDivisionError" in calibrate([folder / "good.json"]).unreadable[0]


def test_a_file_that_takes_too_long_is_that_files_trouble(folder, monkeypatch):
    def endless(*_):
        with suppress(Exception):  # as whoever reads a file on trial
            while True:
                pass

    monkeypatch.setattr(
        "ellmer_harness.recordings.untrusted_files.RECORDING", RECORDING._replace(seconds=0.05)
    )
    monkeypatch.setattr("ellmer_conformance.recordings.lint.request_of", endless)
    monkeypatch.setattr("ellmer_conformance.recordings.calibrate.request_of", endless)
    assert lint([folder / "good.json"]).files[0].problem == "it took longer than 0.05 seconds"
    assert calibrate([folder / "good.json"]).unreadable[0].endswith("0.05 seconds")
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


LISTS = "[" + "[]," * 40_000 + "[]]"
MANY = {
    "a list.json": LISTS,
    "lines.json": "[]\n" * 40_000,
    "a line.jsonl": f"{LISTS}\n",
    "objects.json": LISTS.replace("[]", "{}"),
    "texts.json": LISTS.replace("[]", '"ab"'),
    "vcr.json": f'{{"interactions": {LISTS}}}',
    "har.json": f'{{"log": {{"entries": {LISTS}}}}}',
    "a list.yaml": f"interactions: {LISTS}",
    "ours.json": f'{{"metadata": {{"ellmer_harness": {{}}}}, "interactions": {LISTS}}}',
    "a body.json": json.dumps(recording(f'{{"messages": {LISTS}}}')),
    "spans.json": f'{{"gen_ai": {LISTS}}}',
}


@pytest.mark.parametrize("name", MANY)
def test_many_small_values_are_not_read(tmp_path, monkeypatch, name):
    few = RECORDING._replace(values=8_000)
    for module in ("recordings.untrusted_files", "format.serializer"):
        monkeypatch.setattr(f"ellmer_harness.{module}.RECORDING", few)
    monkeypatch.setattr("ellmer_harness.recordings.untrusted_files.YAML", few)
    monkeypatch.setattr("ellmer_conformance.recordings.recorded_requests.RECORDED_REQUEST", few)
    lint([tmp_path])  # imports
    (tmp_path / name).write_text(MANY[name], encoding="utf-8")

    tracemalloc.start()
    (report,) = lint([tmp_path / name]).files
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert report.judged == 0
    assert peak < 12 * len(MANY[name])  # most of these values need twenty to three hundred times their bytes


def amplified(folder, kind, count=40):
    """Returns a recording whose bodies have fifty times as many bytes as its files."""
    plain = b"a" * 1_000_000
    (folder / "body.txt").write_bytes(plain)
    packed = b64encode(gzip.compress(plain)).decode()
    blobs = Blobs(folder / "blobs")
    name = blobs.put(plain)
    blobs.save()
    bodies = {
        "on disk": {"on_disk": "body.txt"},
        "packed": {"raw_gzip": packed},
        "blob": {"json": {"a": {"$blob": name}}, "blobs": True},
        "blobs": {"json": {"a": [{"$blob": name}] * count}, "blobs": True},
    }
    if kind == "har":
        content = {"_file": "body.txt"}
        entry = {
            "request": {"url": URL, "postData": {"text": "{}"}},
            "response": {"status": 200, "content": content},
        }
        return {"log": {"entries": [entry] * count}}
    found = recording()
    found["interactions"][0]["response"]["body"] = bodies[kind]
    found["interactions"] *= 1 if kind == "blobs" else count
    for each in found["interactions"] if kind.startswith("blob") else ():
        each["request"] |= {"body": None, "headers": {}}
        each["response"] |= {"headers": {}, "status": {"code": 200, "message": "OK"}}
    ours = {"metadata": {"ellmer_harness": {"format": 1, "recorded_from": "test"}}}
    return found | ours if kind.startswith("blob") else found


@pytest.mark.parametrize("kind", ["on disk", "packed", "har", "blob", "blobs"])
def test_bodies_that_name_the_same_bytes_often_are_not_all_read(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(bounded_bodies.__wrapped__, "__defaults__", (5_000_000,))
    (tmp_path / "a.json").write_text(json.dumps(amplified(tmp_path, kind)), encoding="utf-8")
    lint([tmp_path / "a.json"])  # imports

    tracemalloc.start()
    (report,) = lint([tmp_path / "a.json"]).files
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert "too large in total" in str(report.problem) + str(dict(report.skipped))
    assert peak < 25_000_000


def test_the_members_of_gzip_cost_the_same_however_many_follow():
    one = gzip.compress(b"word", mtime=0)
    assert unzipped(one * 3 + b"\0\0") == b"word" * 3

    few, many = (seconds(lambda n=n: unzipped(one * n)) for n in (5_000, 40_000))

    assert many < 16 * few  # eight times as many; with copies of what follows, it is sixty times as long


def seconds(work):
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.mark.parametrize("host", ["[]", "[x]", "a[1]", "[::1", "\u2100.com"])
def test_an_exchange_with_a_malformed_url_is_left_out_alone(tmp_path, host):
    found = recording()
    other = json.loads(json.dumps(found["interactions"][0]))
    other["request"]["uri"] = f"https://{host}/v1/chat/completions"
    found["interactions"].insert(0, other)
    (tmp_path / "a.json").write_text(json.dumps(found), encoding="utf-8")
    (report,) = lint([tmp_path / "a.json"]).files
    assert (report.problem, report.judged, report.skipped["the URL is malformed"]) == (None, 1, 1)


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/hostname", "link.txt", "../../x/secret.txt"])
def test_only_files_beside_a_recording_are_bodies(tmp_path, name):
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    inner = tmp_path / "recordings"
    inner.mkdir()
    (inner / "link.txt").symlink_to("../secret.txt")
    for body in ({"on_disk": name}, {"file": True, "string": name}):
        (inner / "a.json").write_text(json.dumps(recording(body)), encoding="utf-8")
        assert "secret" not in str(lint([inner / "a.json"]).files[0].problem).replace("secret.txt", "")
        with pytest.raises(Unreadable, match="is missing"):
            read(inner / "a.json")


def test_a_body_beside_a_recording_is_read(tmp_path):
    (tmp_path / "body.json").write_text(json.dumps(LEGAL), encoding="utf-8")
    (tmp_path / "a.json").write_text(
        json.dumps(recording({"on_disk": "old/place/body.json"})), encoding="utf-8"
    )
    assert read(tmp_path / "a.json").interactions[0].body == json.dumps(LEGAL).encode()


def test_yaml_may_nest_and_repeat_itself_a_little(tmp_path):
    inner = YAML.depth - 10
    body = "'" + json.dumps(LEGAL) + "'"
    (tmp_path / "a.yaml").write_text(
        yaml_of(body) + "x: " + "[" * inner + "]" * inner + "\ny: &y [1]\nz: [*y, *y]\n"
    )
    assert len(read(tmp_path / "a.yaml").interactions) == 1


def test_what_a_terminal_obeys_is_escaped():
    assert printable("a\x1b[2J\x9b\u202eb\ud800\tc\n") == "a\\u001b[2J\\u009b\\u202eb\\ud800\tc\n"


def test_what_is_noted_of_a_request_is_bounded(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(recording({"messages": [[]] * 10_000})), encoding="utf-8")

    (report,) = lint([tmp_path / "a.json"]).files

    assert report.judged == 1
    assert VIOLATIONS.events <= len(report.complaints) < 3 * VIOLATIONS.events


def test_a_fix_is_looked_for_for_some_kinds_of_violations_only(tmp_path, monkeypatch):
    tried = []
    monkeypatch.setattr("ellmer_conformance.recordings.lint.fix_of", lambda *_: tried.append(1) or ())
    body = {**LEGAL, **{f"field{at}": 1 for at in range(200)}}
    (tmp_path / "a.json").write_text(json.dumps(recording(body)), encoding="utf-8")

    (report,) = lint([tmp_path / "a.json"]).files

    assert len(report.complaints) >= 200
    assert len(tried) <= 50  # each judges the whole request again


def test_what_is_noted_of_a_file_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("ellmer_conformance.recordings.lint.COMPLAINTS", Budget(events=100))
    exchange = json.dumps(recording({"messages": [[]] * 10})["interactions"][0])
    (tmp_path / "a.jsonl").write_text(f"{exchange}\n" * 1000, encoding="utf-8")

    (report,) = lint([tmp_path / "a.jsonl"]).files

    assert report.problem == "it breaks rules in more than 100 places; the rest is not judged"
    assert 1 < report.judged < 20


def test_folders_of_any_depth_are_walked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(1100):
        Path("d").mkdir()
        os.chdir("d")
    (tmp_path / "a.txt").write_text("x")
    found = list(sources([tmp_path]))
    for _ in range(1100):  # pytest would remove them as deep as the stack
        os.chdir("..")
        Path("d").rmdir()
    assert 1 <= len(found) < 5


COMMAND = "x\n::error file=a.py::owned"


@pytest.mark.parametrize("options", [["lint", "-v", "--warnings"], ["lint"], ["calibrate"]])
def test_what_a_recording_says_begins_no_command(tmp_path, options):
    told = {**LEGAL, COMMAND: 1, "tools": [tool({"type": COMMAND})], "messages": [{"role": COMMAND}]}
    (tmp_path / "a.json").write_text(json.dumps(recording(told)))

    said = run(*options, str(tmp_path)).stdout.decode()
    assert "owned" in said
    assert not [line for line in said.splitlines() if line.lstrip().startswith("::")]


def test_a_long_word_in_a_message_is_grouped_in_linear_time():
    began = time.process_time()
    assert _gist("a" * 200_000) == "a" * 200_000
    assert time.process_time() - began < 1  # it was minutes
    assert _gist("toolu_01abcdef at 17 of call-9") == "# at # of call-#"
