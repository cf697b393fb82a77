"""The corpus by reference, against an index that this file plays, with archives that mean well and with hostile ones."""

import io
import json
import os
import re
import tarfile
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from click.testing import CliRunner

from ellmer_conformance.cli import _group
from ellmer_conformance.corpus import archive as archives
from ellmer_conformance.corpus import cache, index, pins, propose
from ellmer_conformance.corpus.dates import dated
from ellmer_conformance.corpus.download import Corrupt
from ellmer_conformance.corpus.fetch import fetch
from ellmer_conformance.corpus.index import Unreachable
from ellmer_conformance.corpus.pins import FILES, Pin, PinError
from ellmer_conformance.recordings.calibrate import calibrate

TOP = "stories-1.0"
BODY = json.dumps({"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}]})
CASSETTE = f"""\
interactions:
- request:
    body: '{BODY}'
    headers: {{}}
    method: POST
    uri: https://api.openai.com/v1/chat/completions
  response:
    body: {{string: '{{"choices": []}}'}}
    headers: {{Date: ['Mon, 27 Nov 2023 16:48:19 GMT']}}
    status: {{code: 200, message: OK}}
version: 1
"""
GOOD = {
    f"{TOP}/PKG-INFO": "Metadata-Version: 2.4\nName: stories\nLicense-Expression: MIT\n",
    f"{TOP}/setup.py": "raise SystemExit('this must never run')",
    f"{TOP}/tests/cassettes/hello.yaml": CASSETTE,
    f"{TOP}/tests/cassettes/readme.md": "no recording",
    f"{TOP}/tests/data.json": "{}",
}


def packed(members, *, links=()):
    """A `.tar.gz` of texts; links are (name, type, target)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
        for name, kind, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            tar.addfile(info)
    return out.getvalue()


@contextmanager
def served(pages):
    """A server with these paths; what it has not is a 404."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            content = pages.get(self.path)
            self.send_response(200 if content is not None else 404)
            self.send_header("content-length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def played(monkeypatch, tmp_path):
    """An index with one archive, and an empty cache: a function from the archive's bytes to its pin."""
    pages, name = {}, f"{TOP}.tar.gz"
    monkeypatch.setenv("CONFORMANCE_CORPUS", str(tmp_path / "cache"))
    with served(pages) as url:
        for variable in ("UV_INDEX_URL", "PIP_INDEX_URL", "SSL_CERT_FILE", "PIP_CERT"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{url}/simple/")

        def publish(content, **changed):
            digest = "ab/cd/" + 60 * "0"
            link = f'<a href="../../packages/{digest}/{name}#sha256=0">{name}</a>'
            pages["/simple/stories/"] = f"<html><a>no link</a>{link}</html>".encode()
            pages[f"/packages/{digest}/{name}"] = content
            pin = Pin(
                package="stories",
                version="1.0",
                archive=f"{FILES}{digest}/{name}",
                sha256=sha256(content).hexdigest(),
                size=len(content),
                licence="MIT",
                members=("tests/*",),
            )
            return Pin(**{**vars(pin), **changed})

        yield publish


def fetched(pin):
    with index.client() as http:
        fetch(http, pin)
    return sorted(path.relative_to(cache.folder_of(pin)).as_posix() for path in recordings(pin))


def recordings(pin):
    return [path for path in cache.folder_of(pin).rglob("*") if path.is_file() and path.name[0] != "."]


def test_recordings_are_extracted_and_nothing_else(played):
    pin = played(packed(GOOD))
    assert not cache.present(pin)
    assert fetched(pin) == ["tests/cassettes/hello.yaml", "tests/data.json"]
    assert cache.present(pin)
    assert cache.changed(pin) == []
    assert [path.name for path in cache.home().iterdir()] == ["stories-1.0"], "the archive stayed"


def test_a_change_in_the_cache_is_told(played):
    pin = played(packed(GOOD))
    fetched(pin)
    folder = cache.folder_of(pin) / "tests"
    (folder / "data.json").write_text("[]")
    (folder / "more.json").write_text("{}")
    (folder / "cassettes/hello.yaml").unlink()
    assert cache.changed(pin) == [
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
    assert not cache.present(pin)
    assert not list(tmp_path.rglob("*evil*"))
    assert list(cache.home().iterdir()) == []


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
        ("_UNPACKED", "unpacks to more"),
        ("_FILE", "may have"),
        ("_ALL", "bytes of them"),
        ("_FILES", "holds more"),
    ],
)
def test_a_bomb_is_not_unpacked(played, monkeypatch, bound, told):
    monkeypatch.setattr(archives, bound, 1)
    bomb = {f"{TOP}/tests/{name}.json": "[" + 100_000 * " " + "]" for name in "ab"}
    with pytest.raises(Corrupt, match=told):
        fetched(played(packed(bomb)))


def test_what_is_not_wanted_counts_as_unpacked(played, monkeypatch):
    monkeypatch.setattr(archives, "_UNPACKED", 1_000_000)
    content = packed({f"{TOP}/big.bin": 2_000_000 * " ", **GOOD})
    assert len(content) < 10_000
    with pytest.raises(Corrupt, match="unpacks to more"):
        fetched(played(content))


def test_an_archive_with_another_hash_is_refused(played):
    with pytest.raises(Corrupt, match="another SHA-256"):
        fetched(played(packed(GOOD), sha256=64 * "0"))
    assert list(cache.home().iterdir()) == []


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


@pytest.mark.parametrize(
    ("named", "url"),
    [
        ({}, "https://pypi.org/simple"),
        ({"PIP_INDEX_URL": "https://a/simple/"}, "https://a/simple"),
        ({"PIP_INDEX_URL": "https://a", "UV_INDEX_URL": "https://b?c=https://d"}, "https://b?c=https://d"),
        ({"UV_INDEX_URL": "https://b", "UV_DEFAULT_INDEX": "ours=https://c"}, "https://c"),
    ],
)
def test_the_index_is_the_one_of_uv_and_pip(monkeypatch, named, url):
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    assert index.index_url() == url


def test_the_newest_source_distribution_is_chosen():
    found = [
        "a-1.9.tar.gz",
        "a-1.10.tar.gz",
        "a-2.0b1.tar.gz",
        "a-1.11-py3-none-any.whl",
        "b-9.tar.gz",
        "a-x.tar.gz",
    ]
    files = dict.fromkeys(found, "")
    assert index.newest("A", files) == ("a-1.10.tar.gz", "1.10")
    assert index.newest("A", files, "2.0b1") == ("a-2.0b1.tar.gz", "2.0b1")
    assert index.newest("A", files, "3") is None


def test_a_pin_is_proposed(played):
    pin = played(packed(GOOD))
    with index.client() as http:
        found = propose.of_package(http, "stories")
    assert found == Pin(
        **{
            **vars(pin),
            "members": ("tests/cassettes/*",),
            "files": 1,
            "interactions": 1,
            "distinct": 1,
            "first": "2023-11-27",
            "last": "2023-11-27",
            "holds": {"openai-chat": 1},
        }
    )
    assert found.link("tests/cassettes/hello [1].yaml") == (
        f"https://inspector.pypi.io/project/stories/1.0/packages/{pin.archive.removeprefix(FILES)}"
        "/stories-1.0/tests/cassettes/hello%20%5B1%5D.yaml"
    )


def test_a_package_without_recordings_is_no_corpus(played):
    played(packed({f"{TOP}/PKG-INFO": "", f"{TOP}/tests/data.json": "{}"}))
    with index.client() as http, pytest.raises(Corrupt, match="no recording of a chat"):
        propose.of_package(http, "stories")


def test_patterns_end_at_the_folder_that_is_named_like_one_of_recordings():
    members = ["a/cassettes/b/c.yaml", "a/cassettes/d.yaml", "tests/_vcr/x/y.yaml", "tests/plain/z.json"]
    assert propose.patterns(members) == ("a/cassettes/*", "tests/_vcr/*", "tests/plain/*")


def test_a_pin_survives_its_file(tmp_path, played):
    pin = Pin(**{**vars(played(b"")), "size": 1, "holds": {"openai-chat": 1}, "first": "2023-11-27"})
    (tmp_path / "corpus.toml").write_text(pins.as_toml(pin))
    assert pins.load(tmp_path / "corpus.toml") == [pin]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"sha256": "abc"}, "SHA-256"),
        ({"package": "../evil"}, "no name and version"),
        ({"version": "1/../.."}, "no name and version"),
        ({"archive": "http://example.org/a.tar.gz"}, "https"),
        ({"size": 0}, "size"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_pin_is_told(tmp_path, played, changed, told):
    text = pins.as_toml(Pin(**{**vars(played(b"")), "size": 1}))
    lines = [line for line in text.splitlines() if line.partition(" ")[0] not in changed]
    lines += [f"{name} = {json.dumps(value)}" for name, value in changed.items()]
    (tmp_path / "corpus.toml").write_text("\n".join(lines))
    with pytest.raises(PinError, match=re.escape(told)):
        pins.load(tmp_path / "corpus.toml")


def test_the_pins_that_are_shipped_hold_thousands_of_distinct_chats():
    found = pins.load(pins.shipped())
    assert sum(pin.distinct for pin in found) > 3000
    assert {wire for pin in found for wire in pin.holds} >= {
        "openai-chat",
        "openai-responses",
        "anthropic",
        "gemini",
        "bedrock",
        "mistral",
        "cohere",
        "ollama",
    }
    assert all(pin.indexed and pin.licence and pin.licence != "not told" for pin in found)


# the commands ---------------------------------------------------------------------------------------------------


@pytest.fixture
def corpus(played, monkeypatch, tmp_path):
    """The commands, with the played archive as the only pin: a function from arguments to what they say."""
    pin = Pin(**{**vars(played(packed(GOOD))), "files": 1, "interactions": 1, "distinct": 1})
    (tmp_path / "corpus.toml").write_text(pins.as_toml(pin))
    monkeypatch.setattr(pins, "shipped", lambda: tmp_path / "corpus.toml")
    monkeypatch.delenv("CONFORMANCE_TRAFFIC", raising=False)
    return lambda *args: CliRunner().invoke(_group, args)


def test_a_corpus_is_fetched_listed_verified_and_judged(corpus):
    assert corpus("corpus", "verify").exit_code == 2
    assert "conformance corpus fetch" in corpus("calibrate").output
    assert corpus("corpus", "fetch").output.startswith("1 archives were fetched into ")
    assert corpus("corpus", "fetch").output.startswith("0 archives were fetched into ")
    assert "fetched" in corpus("corpus", "list", "stories").output
    found = corpus("corpus", "verify")
    assert (found.exit_code, found.output.splitlines()[-1]) == (
        0,
        "1 archives were checked, and 0 recordings that rules cite: 0 are wrong.",
    )
    judged = corpus("calibrate", "--format", "json")
    assert json.loads(judged.output)["wires"]["openai-chat"]["accepted"] == 1


def test_a_wrong_count_is_told(corpus):
    corpus("corpus", "fetch")
    pin = pins.load(pins.shipped())[0]
    (cache.folder_of(pin) / "tests/cassettes/hello.yaml").unlink()
    found = corpus("corpus", "verify")
    assert found.exit_code == 1
    assert "stories-1.0: The pin says 1 interactions; 0 can be read." in found.output


def test_an_index_that_is_not_there_is_told(corpus, monkeypatch):
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    found = corpus("corpus", "fetch")
    assert found.exit_code == 2
    assert (
        "1 archives were not fetched: http://127.0.0.1:9/simple/stories/ cannot be reached: " in found.output
    )
    assert "Error: http://127.0.0.1:9" in corpus("corpus", "add", "stories").output


def test_a_folder_of_ones_own_is_judged_where_it_is(corpus, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    assert corpus("corpus", "add", str(folder)).output == f"Error: {folder} holds no recording of a chat.\n"
    (folder / "hello.yaml").write_text(CASSETTE)
    assert corpus("corpus", "add", str(folder), "--keep").output.startswith(
        "1 files hold 1 distinct chats: openai-chat 1."
    )
    corpus("corpus", "add", str(folder), "--keep")
    assert cache.folders() == [folder]
    assert json.loads(corpus("calibrate", "--format", "json").output)["wires"]["openai-chat"]["accepted"] == 1


def test_a_package_that_the_index_has_not_is_told(corpus):
    assert "Error: " in (said := corpus("corpus", "add", "novels").output)
    assert "/simple/novels/ cannot be had: the answer was 404." in said


def test_a_pin_of_ones_own_is_kept(corpus):
    assert corpus("corpus", "list", "nothing").exit_code == 2
    added = corpus("corpus", "add", "stories", "--keep")
    assert 'members = ["tests/cassettes/*"]' in added.output
    assert cache.own().is_file()


# the days of rules ----------------------------------------------------------------------------------------------


def dated_recording(folder, *, day, refused):
    """Two user messages in a row, at Anthropic: refused until October 2024, merged since."""
    body = {
        "model": "claude-3-opus-20240229",
        "max_tokens": 9,
        "messages": 2 * [{"role": "user", "content": "Hello"}],
    }
    words = 'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row'
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
    request = {
        "method": "POST",
        "uri": "https://api.anthropic.com/v1/messages",
        "headers": {},
        "body": json.dumps(body),
    }
    response = {
        "status": {"code": 400 if refused else 200, "message": ""},
        "headers": {"Date": [day]},
        "body": {"string": json.dumps(error if refused else {"type": "message"})},
    }
    file = folder / f"{day[5:16].replace(' ', '-')}.json"
    file.write_text(json.dumps({"version": 1, "interactions": [{"request": request, "response": response}]}))
    return file


def test_dated_recordings_bear_out_the_days_of_a_rule(tmp_path):
    dated_recording(tmp_path, day="Thu, 21 Mar 2024 10:00:00 GMT", refused=True)
    dated_recording(tmp_path, day="Fri, 21 Mar 2025 10:00:00 GMT", refused=False)
    found = dated([tmp_path])["anthropic anthropic ORD-009"]
    assert (found.witnesses, found.contradictions) == (2, [])


def test_a_dated_recording_on_the_wrong_side_contradicts_a_rule(tmp_path):
    early = dated_recording(tmp_path, day="Thu, 21 Mar 2024 10:00:00 GMT", refused=False)
    late = dated_recording(tmp_path, day="Fri, 21 Mar 2025 10:00:00 GMT", refused=True)
    found = dated([early, late])["anthropic anthropic ORD-009"]
    assert found.witnesses == 0
    assert found.contradictions == [
        f"{early} /interactions/0 was accepted on 2024-03-21",
        f"{late} /interactions/0 was refused on 2025-03-21",
    ]


def test_a_request_that_is_recorded_twice_is_judged_once(tmp_path):
    for name in ("first", "second"):
        (tmp_path / f"{name}.yaml").write_text(CASSETTE)
    (tmp_path / "refused.yaml").write_text(CASSETTE.replace("code: 200", "code: 400"))
    found = calibrate([tmp_path])
    assert found.skipped["the same request was judged already"] == 1
    assert (found.wires["openai-chat"].accepted, found.wires["openai-chat"].rejected) == (1, 1)


def test_several_folders_of_traffic_are_judged_beside_the_corpus(corpus, monkeypatch, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "hello.yaml").write_text(CASSETTE.replace("Hello", name))
    monkeypatch.setenv(
        "CONFORMANCE_TRAFFIC", os.pathsep.join(str(tmp_path / name) for name in ("one", "two"))
    )
    corpus("corpus", "fetch")
    assert json.loads(corpus("calibrate", "--format", "json").output)["wires"]["openai-chat"]["accepted"] == 3
