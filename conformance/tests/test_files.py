"""Files that the suite writes are old or new, whenever the process is killed; files that it reads may be anything."""

import errno
import gzip
import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from conformance_command import run

from ellmer_conformance.cli.recordings.lint import command as lint
from ellmer_conformance.cli.reports import merge
from ellmer_conformance.cli.reports.baseline import command as baseline
from ellmer_conformance.cli.rules.facts import command as facts
from ellmer_conformance.facts.cell import Cell, Evidence
from ellmer_conformance.files import file_text, write_text, writing
from ellmer_conformance.report import Report, report_folder, report_json
from ellmer_conformance.report.baseline import BaselineError, load
from ellmer_conformance.scenarios.answer_script import load as load_script
from ellmer_conformance.scenarios.script import ScriptError
from ellmer_core.base.budget import SETTINGS
from ellmer_harness.cli import main as harness


def killed_at_write(at, work):
    """Runs `work()` in a fork that is killed before its `at`-th file takes the place of another. Tells whether it was killed."""
    child = os.fork()
    if child == 0:
        real, places = os.fsync, 0

        def fsync(file):
            nonlocal places
            places += 1
            if places == at:
                os.kill(os.getpid(), signal.SIGKILL)
            real(file)

        os.fsync = fsync
        with suppress(BaseException):
            work()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.invariants
def test_a_report_that_is_killed_is_old_or_new_in_each_file(report, tmp_path):
    small = Report.from_json({**report.as_json(), "results": [], "plays": []})
    folder = tmp_path / "out"
    report_folder.write(report, folder)
    new = contents(folder)
    report_folder.write(small, folder)
    old = contents(folder)
    assert old.keys() == new.keys()

    at = 1
    while killed_at_write(at, lambda: report_folder.write(report, folder)):
        for path, found in contents(folder).items():
            assert path.name.startswith(".") or found in {old[path], new[path]}, path
        at += 1
    assert at > 4
    assert contents(folder).items() >= new.items()


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")

    def broken():
        with writing(path) as file:
            file.write("new" * 100_000)
            file.flush()
            assert path.read_text() == "old"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    assert contents(tmp_path) == {Path("a"): b"old"}


def test_what_is_no_file_is_written_in_place(tmp_path):
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    link.symlink_to(target)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "half \ud800\n")
    write_text(link, "half \ud800\n")
    assert os.read(reader, 100) == target.read_bytes() == b"half \\ud800\n"
    os.close(reader)
    assert pipe.is_fifo()
    assert link.is_symlink()


def test_lint_that_fails_leaves_the_old_report(tmp_path, monkeypatch):
    (tmp_path / "old.sarif").write_text("old")
    (tmp_path / "a.json").write_text("{}")
    monkeypatch.chdir(tmp_path)

    def broken(*_args, **_options):
        raise ZeroDivisionError

    monkeypatch.setattr("ellmer_conformance.cli.recordings.lint._tell", broken)
    ended = CliRunner().invoke(lint, ["a.json", "--write", "sarif=old.sarif"])
    assert isinstance(ended.exception, ZeroDivisionError)
    assert (tmp_path / "old.sarif").read_text() == "old"


# --- Files to read ---------------------------------------------------------------------------------------


def _full(_file):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("words", [["--write", "json={}"], ["--write-baseline", "{}", "--reason", "x", "--issue", "https://x.test/1"]], ids=["a report", "a baseline"])  # fmt: skip
def test_a_full_disk_takes_nothing_away_and_the_error_says_what_to_do(words, tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text(json.dumps({"model": "gpt-4.1", "messages": []}))
    (tmp_path / "out").write_text("what was there") if "--write" in words else None
    monkeypatch.setattr(os, "fsync", _full)
    ended = run("lint", tmp_path / "a.jsonl", *[word.format(tmp_path / "out") for word in words])
    assert (ended.exit_code, ended.exception.__class__) == (2, SystemExit)
    assert "No space left on device" in ended.output
    assert "Make room, or write to another folder" in ended.output
    assert "--write" not in words or (tmp_path / "out").read_text() == "what was there"
    assert len([*tmp_path.iterdir()]) == 1 + ("--write" in words)


def _made(path, kind):
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "large":
            with path.open("wb") as file:
                file.truncate(2**40)
        case "deep":
            path.write_text("[" * 200_000)
        case "half a character":
            path.write_bytes(b'{"a": "\xff"}')


HOSTILE = ["pipe", "device", "large", "deep", "half a character"]


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_baseline_that_is_anything_is_an_error(kind, tmp_path):
    _made(tmp_path / "b.toml", kind)
    with pytest.raises(BaselineError, match=r"b\.toml (cannot be read|is not TOML)"):
        load(tmp_path / "b.toml")
    report_json.write(Report(), tmp_path / "report.json")
    words = ["update", "--baseline", str(tmp_path / "b.toml"), "--report", str(tmp_path / "report.json")]
    assert CliRunner().invoke(baseline, words).exit_code == 2


def test_a_baseline_that_takes_quadratic_time_is_left_at_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "b.toml"
    path.write_text(".".join(["a"] * 200_000) + " = 1")
    monkeypatch.setattr("ellmer_conformance.report.baseline.SECONDS", 0.01)
    with pytest.raises(BaselineError, match=r"cannot be read: it took longer than 0\.01 seconds"):
        load(path)


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", ["script.yaml", "script.json"])
def test_a_script_that_is_anything_is_an_error(kind, name, tmp_path):
    _made(tmp_path / name, kind)
    with pytest.raises(ScriptError, match=name):
        load_script(tmp_path / name)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_report_that_is_anything_is_an_error(kind, tmp_path):
    _made(tmp_path / "report.json", kind)
    ended = CliRunner().invoke(merge.command, [str(tmp_path / "report.json"), "-o", str(tmp_path / "out")])
    assert ended.exit_code == 2
    assert "report.json" in ended.output


@pytest.mark.parametrize("kind", [*HOSTILE, "bomb"])
def test_a_table_of_claims_that_is_anything_is_an_error(kind, tmp_path):
    _made(tmp_path / "table.json", kind)
    if kind == "bomb":
        (tmp_path / "table.json").write_bytes(gzip.compress(b"[" + b" " * 300_000_000 + b"]", 1))
    ended = CliRunner().invoke(facts, ["--check", str(tmp_path / "table.json")])
    assert ended.exit_code == 2
    assert "table.json cannot be compared" in ended.output


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_list_of_unused_recordings_that_is_anything_is_an_error(kind, tmp_path, capsys):
    _made(tmp_path / "unused.json", kind)
    assert harness(["prune", "--report", str(tmp_path / "unused.json"), str(tmp_path)]) == 2
    assert "ellmer-harness: " in capsys.readouterr().err


def test_a_table_s_texts_are_not_obeyed_by_the_terminal(tmp_path, monkeypatch):
    name = "gpt-4.1\x1b[2J"
    known = Cell(
        "image_in_user", name, "gpt", "openai-chat", "openai", "yes", (Evidence("accepted", "link"),)
    )
    monkeypatch.setattr("ellmer_conformance.facts.comparison.cells_of", lambda models, features: [known])
    table = {name: {"litellm_provider": "openai", "mode": "chat", "supports_vision": False}}
    (tmp_path / "table.json").write_text(json.dumps(table))
    said = CliRunner().invoke(facts, ["--check", str(tmp_path / "table.json")]).output

    assert r"openai gpt-4.1\u001b[2J: image_in_user: it says" in said
    assert "\x1b" not in said


def test_a_file_of_settings_may_begin_with_a_mark_of_its_encoding(tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa")
    assert file_text(tmp_path / "a") == "a"
    assert SETTINGS.received == 16 * 1024**2
