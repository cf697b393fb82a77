"""The linter on Dask, and with the objects of a store. The results are those of one process."""

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner

from ellmer_conformance.cli import _group
from ellmer_conformance.cli.recordings.lint import command
from ellmer_conformance.recordings.lint import lint, lint_each, lint_file
from ellmer_harness.bulk.engines import EngineMissing, Work, mapped
from ellmer_harness.bulk.journal import Journal
from ellmer_harness.bulk.sources import Object, sources
from ellmer_harness.recordings import Unreadable
from ellmer_harness.recordings.format_detection import BEGINNING
from ellmer_harness.recordings.untrusted_files import TooSlow, is_unfinished
from ellmer_harness.store.fsspec_store import Remote

CASSETTES = Path(__file__).parents[3] / "cassettes"
BROKEN = {
    "interactions": [
        {
            "request": {
                "method": "POST",
                "uri": "https://api.openai.com/v1/chat/completions",
                "headers": {},
                "body": json.dumps({"model": "gpt-4.1", "messages": [{"role": "tool", "content": "x"}]}),
            },
            "response": {"status": {"code": 200}, "headers": {}, "body": {"string": "{}"}},
        }
    ],
    "version": 1,
}


@pytest.fixture
def recordings(tmp_path):
    """Returns some of our recordings with blobs, a broken one, and a file that is not a recording."""
    folder = tmp_path / "recordings"
    for path in [
        *(CASSETTES / "anthropic").rglob("*image*.json"),
        *CASSETTES.rglob("blobs/*"),
    ]:
        copy = folder / path.relative_to(CASSETTES)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    (folder / "broken.json").write_text(json.dumps(BROKEN))
    (folder / "notes.txt").write_text("none")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code", "found"), [("calibrate", 1, "/messages/0"), ("coverage", 0, "ORD-002")]
)
def test_calibration_and_coverage_find_what_one_process_finds(recordings, tmp_path, name, code, found):
    run = (name, str(recordings), "--format", "json")
    journal = ("--resume", str(tmp_path / "journal"))
    alone, spread, resumed = (
        CliRunner().invoke(_group, [*run, *more]) for more in ((), ("-j", "2", *journal), journal)
    )

    assert alone.output == spread.output == resumed.output
    assert alone.exit_code == spread.exit_code == resumed.exit_code == code
    assert found in alone.output


def test_a_journal_belongs_to_one_command(recordings, tmp_path):
    journal = ("--resume", str(tmp_path / "journal"))
    lines = [
        CliRunner().invoke(_group, [name, str(recordings), *journal]).output.splitlines()[0]
        for name in ("calibrate", "coverage", "calibrate")
    ]

    assert lines[0] == lines[2] != lines[1]


def test_without_dask(monkeypatch, recordings):
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = CliRunner().invoke(command, [str(recordings), "--engine", "dask"])

    assert result.exit_code == 2
    assert 'pip install "ellmer-core[cluster]"' in result.output
    with pytest.raises(EngineMissing):
        list(mapped(Work(str, str), [1], 1, "dask"))


def in_memory(recordings):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    for path in recordings.rglob("*"):
        if path.is_file():
            memory.pipe(f"/bucket/{path.relative_to(recordings).as_posix()}", path.read_bytes())
    return "memory://bucket"


def relative(result, root):
    return sorted((file.path.removeprefix(f"{root}/"), file.wires, file.complaints) for file in result.files)


@pytest.mark.parametrize("url", ["memory", "file"])
def test_objects_of_a_store(recordings, url):
    where = in_memory(recordings) if url == "memory" else f"file://{recordings}"
    result = lint([where])

    assert relative(result, where) == relative(lint([recordings]), recordings)
    assert not result.unreadable
    assert {file.path for file, _ in result.complaints} == {f"{where}/broken.json"}


def test_the_command_takes_urls(recordings):
    result = CliRunner().invoke(command, [f"file://{recordings}", "--format", "json"])

    assert result.exit_code == 1, result.output
    assert f"file://{recordings}/broken.json" in result.output


def test_stores_that_are_not_there(tmp_path):
    with pytest.raises(Unreadable):
        list(sources([f"file://{tmp_path}/nowhere"]))
    with pytest.raises(Unreadable, match="nothing was found there"):
        list(sources([f"file://{tmp_path}"]))
    result = CliRunner().invoke(command, ["nosuch://bucket"])

    assert result.exit_code == 2
    assert "nosuch" in result.output


def test_an_object_above_the_limit_is_not_copied(recordings, tmp_path, monkeypatch):
    where = in_memory(recordings)
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/bucket/large.json", json.dumps(BROKEN).encode() + b" " * 300_000)
    read = []
    monkeypatch.setattr(Remote, "download", watched(Remote.download, read))
    [large] = [each for each in sources([where]) if each.key == "large.json"]
    report = lint_file(large, most=200_000)

    assert report.problem == "it is larger than 0 MB (--max-size)"
    assert [(key, most) for key, most in read] == [("large.json", BEGINNING)]


def watched(download, read):
    def noted(self, key, path, most=None):
        read.append((key, most))
        return download(self, key, path, most)

    return noted


def test_an_object_that_went_away(tmp_path):
    [report] = lint([Object(f"file://{tmp_path}", "gone.json")]).files

    assert report.problem == "the object no longer exists"
    assert report.path == f"file://{tmp_path}/gone.json"


def test_a_file_that_took_too_long_is_judged_again(tmp_path, monkeypatch):
    """A busy machine is no property of the file."""
    file = tmp_path / "calls.json"
    file.write_text(json.dumps(BROKEN))
    tries = iter([TooSlow("it took longer than 0 seconds"), None])

    @contextmanager
    def limited():
        if problem := next(tries):
            raise problem
        yield

    monkeypatch.setattr("ellmer_conformance.recordings.lint.time_limit", limited)
    problems = []
    for _ in range(2):
        with Journal(tmp_path / "lint.journal", "this version") as journal:
            [report] = lint_each([file], journal=journal)
            problems.append(report.problem)

    assert is_unfinished(problems[0])
    assert not is_unfinished(problems[1])


def test_a_journal_on_a_full_disk_keeps_what_it_has_and_says_what_to_do(tmp_path):
    path, old, new = tmp_path / "lint.journal", tmp_path / "old", tmp_path / "new"
    old.touch()
    new.touch()
    with Journal(path, "this version") as journal:
        journal.find(old)
        journal.add(str(old), {"requests": 1})
    with Journal(path, "this version") as journal:
        journal._base.execute("PRAGMA max_page_count = 1")
        journal.find(new)
        with pytest.raises(OSError, match=r"disk is full\. What was saved before is unchanged\. Make room"):
            journal.add(str(new), {"requests": "x" * 100_000})
    with Journal(path, "this version") as journal:
        assert journal.find(old) == {"requests": 1}


def test_a_journal_may_be_collected_by_any_thread(tmp_path, monkeypatch):
    failed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", failed.append)
    kept = [Journal(tmp_path / "lint.journal", "this version")]
    collector = Thread(target=kept.clear)
    collector.start()
    collector.join()
    assert failed == []
