"""The corpus by reference, with a local index that has harmless and hostile archives."""

import io
import tarfile

import pytest
from servers.package_index import GOOD, TOP, packed

from ellmer_conformance.recordings.corpus import fetch as archives
from ellmer_conformance.recordings.corpus import pins
from ellmer_conformance.recordings.corpus.fetch import Corrupt, Unreachable, fetch
from ellmer_conformance.recordings.corpus.pins import Pin
from ellmer_core.base.budget import Budget


def fetched(pin):
    with archives.client() as http:
        fetch(http, pin)
    return sorted(path.relative_to(pins.folder_of(pin)).as_posix() for path in recordings(pin))


def recordings(pin):
    return [path for path in pins.folder_of(pin).rglob("*") if path.is_file() and path.name[0] != "."]


def test_recordings_are_extracted_and_nothing_else(played):
    pin = played(packed(GOOD))
    assert not pins.present(pin)
    assert fetched(pin) == ["tests/cassettes/hello.yaml", "tests/data.json"]
    assert pins.present(pin)
    assert pins.changed(pin) == []
    assert [path.name for path in pins.home().iterdir()] == ["stories-1.0"], "the archive stayed"


def test_a_change_in_the_cache_is_told(played):
    pin = played(packed(GOOD))
    fetched(pin)
    folder = pins.folder_of(pin) / "tests"
    (folder / "data.json").write_text("[]")
    (folder / "more.json").write_text("{}")
    (folder / "cassettes/hello.yaml").unlink()
    assert pins.changed(pin) == [
        "tests/cassettes/hello.yaml is missing.",
        "tests/more.json was added.",
        "tests/data.json was changed.",
    ]


HOSTILE = {
    "a path upwards": packed({**GOOD, f"{TOP}/tests/../../../evil.json": "{}"}),
    "an absolute path": packed({**GOOD, "/tests/tests/evil.json": "{}"}),
    "a backslash": packed({**GOOD, f"{TOP}/tests/..\\..\\evil.json": "{}"}),
    "a symbolic link": packed(GOOD, links=[(f"{TOP}/tests/evil.json", tarfile.SYMTYPE, "/etc/passwd")]),
    "a hard link": packed(GOOD, links=[(f"{TOP}/tests/evil.json", tarfile.LNKTYPE, f"{TOP}/setup.py")]),
    "a device": packed(GOOD, links=[(f"{TOP}/tests/evil.json", tarfile.CHRTYPE, "")]),
    "a folder that is a file": packed({**GOOD, f"{TOP}/tests/data.json/evil.json": "{}"}),
    "nothing that is pinned": packed({f"{TOP}/setup.py": ""}),
    "no archive": b"<html>Not found</html>",
    "half an archive": packed(GOOD)[:200],
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_archive_leaves_nothing(played, tmp_path, content):
    pin = played(content)
    with pytest.raises(Corrupt):
        fetched(pin)
    assert not pins.present(pin)
    assert not list(tmp_path.rglob("*evil*"))
    assert list(pins.home().iterdir()) == []


def test_a_member_that_comes_twice_is_an_error(played):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for text in ("{}", "[]"):
            info = tarfile.TarInfo(f"{TOP}/tests/twice.json")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    with pytest.raises(Corrupt, match="twice"):
        fetched(played(out.getvalue()))


@pytest.mark.parametrize(
    ("bound", "told"),
    [
        ({"ARCHIVE": Budget(unpacked=1)}, "unpacks to more"),
        ({"EXTRACTED_FILE": Budget(unpacked=1)}, "may have"),
        ({"EXTRACTED": Budget(unpacked=1)}, "bytes of them"),
        ({"EXTRACTED": Budget(files=1)}, "has more"),
    ],
)
def test_a_bomb_is_not_unpacked(played, monkeypatch, bound, told):
    for name, budget in bound.items():
        monkeypatch.setattr(archives, name, budget)
    bomb = {f"{TOP}/tests/{name}.json": "[" + 100_000 * " " + "]" for name in "ab"}
    with pytest.raises(Corrupt, match=told):
        fetched(played(packed(bomb)))


def test_what_is_not_wanted_counts_as_unpacked(played, monkeypatch):
    monkeypatch.setattr(archives, "ARCHIVE", Budget(unpacked=1_000_000))
    content = packed({f"{TOP}/big.bin": 2_000_000 * " ", **GOOD})
    assert len(content) < 10_000
    with pytest.raises(Corrupt, match="unpacks to more"):
        fetched(played(content))


def test_an_archive_with_another_hash_is_refused(played):
    with pytest.raises(Corrupt, match="does not have the SHA-256"):
        fetched(played(packed(GOOD), sha256=64 * "0"))
    assert list(pins.home().iterdir()) == []


def test_an_archive_that_is_too_long_is_not_read_to_its_end(played):
    with pytest.raises(Corrupt, match="more than the 10 bytes"):
        fetched(played(packed(GOOD), size=10))


def test_a_file_that_the_index_has_not(played):
    pin = played(packed(GOOD))
    gone = Pin(**{**vars(pin), "archive": pin.archive.replace("1.0.tar", "9.9.tar"), "version": "9.9"})
    with pytest.raises(Unreachable, match=r"no stories-9\.9"):
        fetched(gone)


def test_no_index_is_a_sentence_without_the_password(played, monkeypatch):
    pin = played(packed(GOOD))
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://me:secret@127.0.0.1:9/simple")
    with pytest.raises(
        Unreachable, match=r"^http://127\.0\.0\.1:9/simple/stories/ cannot be reached: "
    ) as found:
        fetched(pin)
    assert "secret" not in str(found.value)
