"""A stranger's folders: other encodings, other things, folders that cannot be opened, patterns, and interrupted runs."""

import gzip
import json
import os
import threading

import pytest
from conformance_command import run
from traffic.every_recorder import BAD, URL, httprr

from ellmer_conformance.recordings import opentelemetry_spans
from ellmer_conformance.recordings.lint import lint, lint_file
from ellmer_harness.bulk.engines import Work, mapped
from ellmer_harness.bulk.sources import sources
from ellmer_harness.recordings import Unreadable
from ellmer_harness.recordings.format_detection import nearest
from ellmer_harness.recordings.untrusted_files import TooSlow, time_limit

#: Held while others start processes, as a thread of an object store's client may hold one.
LOCK = threading.Lock()
LINE = json.dumps({"url": URL, "body": BAD})


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", LINE.encode("utf-16")),
        ("a.json", LINE.encode("utf-8-sig")),
        ("a.json", f"{LINE}\r\n{LINE}\r\n".encode()),
        ("a.jsonl", f"{LINE}\n{LINE}\n".encode("utf-16")),
        ("a.yaml", LINE.encode("utf-16")),
    ],
)
def test_encodings_and_lines_of_windows(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    report = lint_file(tmp_path / name)
    assert report.problem is None
    assert report.judged == data.count(b"\n") or report.judged == 1
    assert report.complaints[0].rule == "PAIR-001"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_letters_that_end_lines_elsewhere_end_none_of_a_log(tmp_path, encoding):
    line = json.dumps({"url": URL, "body": BAD, "note": "a\u2028b\u2029c\x85d"}, ensure_ascii=False)
    (tmp_path / "a.jsonl").write_bytes(f"{line}\n{line}\n".encode(encoding))

    report = lint_file(tmp_path / "a.jsonl")

    assert (report.problem, report.judged) == (None, 2)


def test_an_empty_file_says_so(tmp_path):
    (tmp_path / "a.yaml").touch()
    assert dict(lint_file(tmp_path / "a.yaml").skipped) == {"not a recording of HTTP: an empty file": 1}


def test_a_contract_of_pact_is_no_recording(tmp_path):
    asked = {"description": "x", "request": {"method": "GET", "path": "/a"}, "response": {"status": 200}}
    pact = {"consumer": {"name": "a"}, "provider": {"name": "b"}, "interactions": [asked]}
    (tmp_path / "pact.json").write_text(json.dumps(pact))
    report = lint_file(tmp_path / "pact.json")
    assert report.problem is None
    assert sum(report.skipped.values()) == 1


def test_settings_with_comments_are_no_damaged_recording(tmp_path):
    settings = '{\n  // Who asks what.\n  "request": {"path": "/a"},\n  "response": {}\n}'
    (tmp_path / "rc.json").write_text(settings)
    assert lint_file(tmp_path / "rc.json").problem is None
    (tmp_path / "cut.json").write_text(settings.replace("  // Who asks what.\n", "")[:-1])
    assert "damaged" in lint_file(tmp_path / "cut.json").problem


def test_a_trace_with_other_line_ends_is_damaged_and_says_so(tmp_path):
    path = httprr(tmp_path, BAD)
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n") + b"\n" * 99)
    assert "line ends" in lint_file(path).problem


def test_interactions_without_a_request_are_none_of_vcrpy(tmp_path):
    (tmp_path / "a.yaml").write_text(
        "interactions:\n- inputs: [Hello]\n  expected_output: [{type: generic}]\n"
    )
    assert dict(lint_file(tmp_path / "a.yaml").skipped) == {"not a recording of HTTP": 1}


def test_a_large_file_of_something_else_is_not_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr("ellmer_harness.recordings.format_detection._documents", pytest.fail)
    (tmp_path / "index.yaml").write_text("entries:\n" + "- urls: [https://example.org/a.tgz]\n" * 9000)
    assert lint_file(tmp_path / "index.yaml").problem is None


RECORDED = json.dumps(
    {"version": 1, "interactions": [{"request": {"uri": URL, "body": BAD}, "response": {"status": 200}}]}
)
LARGE = " " * 1_500_000  # larger than the limit of a megabyte, and small when it is packed
PROBLEM = "it is larger than 1 MB"


@pytest.mark.parametrize(
    ("name", "data", "problem", "reason"),
    [
        ("a.json", RECORDED + LARGE, f"{PROBLEM} (--max-size)", None),
        ("a.json.gz", RECORDED + LARGE, f"{PROBLEM} when it is unpacked (--max-size)", None),
        ("a.jsonl", f"{LINE}\n{LINE}{LARGE}\n", "line 2 is larger than 1 MB (--max-size)", None),
        ("a.json", LARGE, None, "the file has more than 1 MB and may be a recording (--max-size)"),
        ("a.json.gz", LARGE, None, "the file has more than 1 MB and may be a recording (--max-size)"),
        ("a.bin", LARGE, None, "not a recording of HTTP: a file of more than 1 MB"),
    ],
)
def test_a_file_above_the_limit_of_size_is_listed_with_its_reason(tmp_path, name, data, problem, reason):
    content = data.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    report = lint_file(tmp_path / name, most=1024**2)
    assert report.problem == problem
    assert [*report.skipped] == ([reason] if reason else [])
    assert lint_file(tmp_path / name, most=2 * 1024**2).problem is None


def test_the_limit_of_size_is_an_option(tmp_path):
    (tmp_path / "a.json").write_text(RECORDED + LARGE)
    small, large = (run("lint", "--max-size", limit, tmp_path) for limit in (1, 2))
    assert (small.exit_code, large.exit_code) == (2, 1)
    assert "larger than 1 MB (--max-size)" in small.output
    assert "1 request judged" in large.output


@pytest.mark.parametrize(("begins", "format_"), [('{"interactions": [{"request":', "vcrpy"), ("", "")])
def test_spaces_at_the_beginning_cost_little(tmp_path, begins, format_):
    (tmp_path / "a.json").write_text(" " * 60_000 + begins)  # a pattern that tries each of them needs minutes
    assert nearest(tmp_path / "a.json") == format_


def test_spans_in_a_packed_file_have_the_limit_of_size_too(tmp_path):
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(LARGE.encode()))
    with pytest.raises(ValueError, match="larger than 1 MB"):
        opentelemetry_spans.read(tmp_path / "a.json.gz", most=1024**2)


def test_recordings_without_a_chat_are_no_failure(tmp_path):
    other = {"request": {"method": "POST", "url": "https://api.openai.com/v1/embeddings", "body": "{}"}}
    (tmp_path / "a.json").write_text(json.dumps({**other, "response": {"status": 200}}))
    outcome = run("lint", tmp_path)
    assert outcome.exit_code == 0
    assert "Nothing was judged: the recordings have no request to a chat endpoint." in outcome.output


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may open every folder")
def test_a_folder_that_cannot_be_opened(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    assert lint([tmp_path]).unreadable[0].path.endswith("closed")


def test_patterns(tmp_path):
    for name in ("2025/a.json", "2026/b.json", "2026/x/c.json", "2026/x/d.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")

    def found(pattern, top=str(tmp_path)):
        return {str(each).removeprefix(f"{top}/") for each in sources([f"{top}/{pattern}"])}

    assert found("2026/**") == {"2026/b.json", "2026/x/c.json", "2026/x/d.yaml"}
    assert found("**/*.json") == {"2025/a.json", "2026/b.json", "2026/x/c.json"}
    assert found("202[56]/*.json", f"file://{tmp_path}") == {"2025/a.json", "2026/b.json"}
    with pytest.raises(Unreadable, match="there is no such file"):
        found("2027/**")


# --- Engines, and going on -------------------------------------------------------------------------------


def doubled(number):
    if number == 3:
        os._exit(1)
    return 2 * number


@pytest.mark.slow
def test_a_process_that_dies_costs_only_its_item():
    work = Work(doubled, lambda number: f"{number} died", lambda number: "ready" if number == 5 else None)
    expected = [0, 2, 4, "3 died", 8, "ready", 12, 14]
    assert list(mapped(work, range(8), 2, "processes")) == expected


def test_a_limit_of_time_in_a_thread():
    from concurrent.futures import ThreadPoolExecutor

    def endless():
        with time_limit(0.05):
            while True:
                pass

    with ThreadPoolExecutor(1) as pool, pytest.raises(TooSlow, match=r"longer than 0.05 seconds"):
        pool.submit(endless).result()


def test_a_later_run_reads_only_what_has_changed(tmp_path, monkeypatch):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(LINE)
    journal = tmp_path.with_name("journal")
    first = run("lint", tmp_path, "--resume", journal)
    (tmp_path / "b.jsonl").write_text(f"{LINE}\n{LINE}")
    judged = []
    from ellmer_conformance.recordings import lint as linter

    real = linter._read
    monkeypatch.setattr(
        linter, "_read", lambda report, *more: judged.append(report.path) or real(report, *more)
    )
    second = run("lint", tmp_path, "--resume", journal)

    assert judged == [str(tmp_path / "b.jsonl")]
    assert "2 files, 2 requests judged" in first.output
    assert "2 files, 3 requests judged" in second.output
    run("lint", tmp_path, "--resume", journal, "--provider", "groq")  # other options: everything again
    assert len(judged) == 3


def test_what_is_no_journal(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    outcome = run("lint", tmp_path, "--resume", tmp_path / "a.json")
    assert outcome.exit_code == 2
    assert (tmp_path / "a.json").read_text() == "{}"


def lockable(_):
    free = LOCK.acquire(timeout=5)
    if free:
        LOCK.release()
    return free


def test_a_lock_that_a_thread_of_this_process_holds_stops_no_worker():
    with LOCK:
        assert list(mapped(Work(lockable, repr), range(2), 2, "processes")) == [True, True]
