"""Cassettes that two runs have written: what one of them added or replaced, in the file of the other."""

import json
import os
import sys
import tempfile

import pytest

from ellmer_harness.errors import CassetteError
from ellmer_harness.store.concurrent_cassette_merging import merged, note_writer, replaced, writers


def cassette(*names, version=1):
    return json.dumps({"version": version, "interactions": [{"name": name} for name in names]}).encode()


def names(data):
    return [each["name"] for each in json.loads(data)["interactions"]]


@pytest.mark.parametrize(
    ("added", "expected"), [((), "ab"), ((2,), "abz"), ((2, 0), "abxz"), ((0, 1, 2), "abxyz")]
)
def test_what_a_run_added_follows_what_is_there(added, expected):
    data = merged(cassette(*"ab"), cassette(*"xyz", version=2), added)

    assert names(data) == list(expected)
    assert json.loads(data)["version"] == 2


@pytest.mark.parametrize(
    ("same", "expected"),
    [({}, "abxyz"), ({0: 0}, "xyzb"), ({1: 0}, "yzbx"), ({0: 1, 2: 0}, "zxy"), ({2: 1}, "azxy")],
)
def test_what_a_run_replaced_stands_in_the_place_of_the_old(same, expected):
    assert names(replaced(cassette(*"ab"), cassette(*"xyz"), same, "test_a")) == list(expected)


def test_what_only_this_test_had_used_is_left_out():
    there = {
        "interactions": [{"name": "a", "tests": ["test_a"]}, {"name": "b", "tests": ["test_a", "test_b"]}]
    }
    data = replaced(json.dumps(there).encode(), cassette("x"), {}, "test_a")

    assert names(data) == ["x", "b"]


def test_the_writers_of_a_run_are_noted_in_order(tmp_path):
    path = tmp_path / "c.json"
    note_writer(path, "run 1", "test_a")
    note_writer(path, "run 1", "test_b")
    note_writer(path, "run 2", "test_c")

    assert writers(path, "run 1") == ["test_a", "test_b"]
    assert writers(path, "run 3") == []


# --- The folder of these notes, which another user of the machine may have made before ----------------------


def _of_somebody_else(folder, monkeypatch):
    folder.mkdir(0o755)
    user = os.getuid()
    lstat = type(folder).lstat
    others = os.stat_result((*lstat(folder)[:4], user + 1, *lstat(folder)[5:]))
    monkeypatch.setattr(
        "pathlib.Path.lstat", lambda path: others if path.name.endswith(f"-{user}") else lstat(path)
    )


def _writable(folder, monkeypatch):
    folder.mkdir()
    folder.chmod(0o777)


def _link(folder, monkeypatch):
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to(folder.parent / "elsewhere")


def _file(folder, monkeypatch):
    folder.touch()


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder among the temporary files, which are those of the test."""
    if sys.platform == "win32":
        pytest.skip("each user has temporary files of their own")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / f"ellmer-harness-{os.getuid()}"


@pytest.mark.parametrize("made", [_of_somebody_else, _writable, _link, _file])
def test_a_folder_that_another_user_can_change_is_not_used(made, temporary, tmp_path, monkeypatch):
    made(temporary, monkeypatch)
    for number in range(2):
        note_writer(tmp_path / "c.json", "run", f"test_{number}")

    assert writers(tmp_path / "c.json", "run") == ["test_0", "test_1"]
    (private,) = (tmp_path / "cache").iterdir()
    assert private.stat().st_mode & 0o777 == 0o700
    assert len([*private.iterdir()]) == 1
    assert temporary.is_file() or not [*temporary.iterdir()]


def test_without_a_private_folder_nothing_is_written(temporary, tmp_path):
    temporary.touch()
    (tmp_path / "cache").touch()
    with pytest.raises(CassetteError, match="Set TMPDIR to a folder that belongs to you"):
        note_writer(tmp_path / "c.json", "run", "test_a")


def test_else_the_notes_are_among_the_temporary_files(temporary, tmp_path):
    note_writer(tmp_path / "c.json", "run", "test_a")

    assert temporary.stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "cache").exists()
