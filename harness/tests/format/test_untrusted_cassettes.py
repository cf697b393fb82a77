"""A cassette is untrusted: it reads no files but its own, waits for nothing, and writes nothing to the terminal but text."""

import gzip
import json
import os
import time
import zlib
from base64 import b64encode
from contextlib import suppress
from threading import Timer

import httpx
import pytest

from ellmer_core.base.budget import RECORDING
from ellmer_harness import CassetteError, Miss, use_cassette
from ellmer_harness.cli import main
from ellmer_harness.format import compression
from ellmer_harness.format.blobs import Blobs, replace_file

URL = "https://api.example.com/x"
PIXEL = b"\x89PNG" + bytes(range(256)) * 20


@pytest.fixture
def cassette(tmp_path):
    """Writes a cassette two folders below `tmp_path`, whose answer has a body of this form."""
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)

    def write(body, uri=URL, **metadata):
        message = {"headers": {"content-type": ["text/plain"]}, "body": body}
        interaction = {
            "request": {"method": "GET", "uri": uri, "headers": {}, "body": None},
            "response": {"status": {"code": 200, "message": "OK"}, **message},
        }
        ours = {"format": 1, "recorded_from": "test", **metadata}
        value = {"version": 1, "metadata": {"ellmer_harness": ours}, "interactions": [interaction]}
        (folder / "c.json").write_text(json.dumps(value))
        return folder / "c.json"

    return write


def played(path, **options):
    with use_cassette(path, **options):
        return httpx.get(URL).content


@pytest.mark.parametrize("name", ["/dev/zero", "/etc/passwd", "../../secret", "x" * 64 + ".bin", ""])
def test_a_blob_has_the_name_of_a_hash(cassette, name):
    with pytest.raises(Miss, match="is not the name of a blob"):
        played(cassette({"blob": name}))


def test_a_blob_that_is_a_pipe_is_not_waited_for(cassette, tmp_path):
    name = "0" * 64 + ".bin"
    (tmp_path / "a" / "b" / "blobs").mkdir()
    os.mkfifo(tmp_path / "a" / "b" / "blobs" / name)

    with pytest.raises(Miss, match="it is a device or a pipe"):
        played(cassette({"blob": name}))


def test_a_cassette_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "c.json")

    with pytest.raises(CassetteError, match="it is a device or a pipe"):
        played(tmp_path / "c.json")


def _let_go(pipe):
    with suppress(OSError):  # nobody reads it
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))


def test_recording_again_waits_for_no_pipe(tmp_path):
    path = tmp_path / "c.json"
    os.mkfifo(path)
    waited = Timer(20, _let_go, [path])
    waited.start()
    with (
        pytest.raises(CassetteError, match="could not be written"),
        use_cassette(path, mode="rewrite"),
        suppress(httpx.ConnectError),
    ):
        httpx.get("http://127.0.0.1:9/")
    assert waited.is_alive()
    waited.cancel()


def test_a_cassette_is_where_its_name_was_at_first(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with use_cassette("c.json", mode="rewrite"), suppress(httpx.ConnectError):
        os.chdir("elsewhere")
        httpx.get("http://127.0.0.1:9/")
    assert (tmp_path / "c.json").is_file()
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_a_pipe_is_written_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="No such device"):
        replace_file(pipe, "nobody reads")

    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace_file(pipe, "read")

    assert os.read(reading, 100) == b"read"
    assert pipe.is_fifo()
    os.close(reading)


@pytest.mark.parametrize(
    "blobs", ["../../outside", "/etc", "../../../..", "blobs/../../../x", "../../outside/blobs"]
)
def test_blobs_outside_of_the_folder_are_refused(cassette, blobs):
    with pytest.raises(CassetteError, match="outside of its folder"):
        played(cassette(None, blobs=blobs))


@pytest.mark.parametrize("blobs", ["blobs", "../blobs", "../../blobs", "../media", "media/of/mine"])
def test_blobs_where_recordings_have_them_are_read(cassette, tmp_path, blobs):
    store = Blobs(tmp_path / "a" / "b" / blobs)
    name = store.put(PIXEL)
    store.save()

    assert played(cassette({"blob": name}, blobs=blobs)) == PIXEL


def test_blobs_where_the_option_names_them_are_read(cassette, tmp_path):
    store = Blobs(tmp_path / "elsewhere")
    name = store.put(PIXEL)
    store.save()

    assert played(cassette({"blob": name}, blobs="../../elsewhere"), blobs=tmp_path / "elsewhere") == PIXEL


@pytest.mark.parametrize("command", ["ls", "show"])
def test_control_characters_are_shown_and_not_obeyed(cassette, capsys, command):
    path = cassette({"text": "\x1b]0;title\x07 \x9b31m \u202e"}, uri="https://a\x1bc.example/\r")
    main([command, str(path)])
    out = capsys.readouterr().out

    assert not {
        letter for letter in out if ord(letter) < 32 or 127 <= ord(letter) < 160 or letter == "\u202e"
    } - {"\n"}
    assert "\\x1b" in out


def test_a_malformed_url_is_listed(cassette, capsys):
    path = cassette({"text": "x"}, uri="https://a[2J.example/")

    assert [main([command, str(path)]) for command in ("ls", "show")] == [0, 0]
    assert "a[2J.example" in capsys.readouterr().out


def test_decompression_is_bounded(monkeypatch):
    monkeypatch.setattr(compression, "RECORDING", RECORDING._replace(unpacked=1000))
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    bombs = {"gzip": gzip.compress(bytes(100_000)), "deflate": raw.compress(bytes(100_000)) + raw.flush()}

    for coding, body in bombs.items():
        with pytest.raises(ValueError, match="larger than"):
            compression.undo(body, coding)
        assert compression.is_coded(body, coding) in {True, False}


def test_a_bomb_in_a_text_does_not_stop_the_scan(cassette, capsys, monkeypatch):
    monkeypatch.setattr(compression, "RECORDING", RECORDING._replace(unpacked=1000))
    bomb = b64encode(gzip.compress(bytes(1_000_000), 9)).decode()
    key = "AIza" + "SyB8xQ2mN4vR7tK1wZ5cH9pL3jF6dG0sYeU"
    path = cassette({"text": json.dumps({"a": bomb, "b": b64encode(gzip.compress(key.encode())).decode()})})

    assert main(["scan", str(path)]) == 1
    assert "1 problem" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("slow", "words"),
    [
        ("_terminal.read", ["import", "FILE", "--out", "out"]),
        ("_conversion.convert", ["import", "FILE", "--out", "out"]),
        ("_terminal.read", ["show", "FILE"]),
        ("_terminal.read", ["diff", "FILE", "FILE"]),
        ("_terminal.read", ["export", "FILE"]),
    ],
)
def test_the_reading_of_a_file_ends(cassette, capsys, monkeypatch, tmp_path, *, slow, words):
    def endless(*_):
        while True:
            pass

    monkeypatch.setattr(f"ellmer_harness.cli.{slow}", endless)
    monkeypatch.setattr(
        "ellmer_harness.recordings.untrusted_files.RECORDING", RECORDING._replace(seconds=0.05)
    )
    path = cassette({"text": "x"})
    path.write_text(json.dumps({"interactions": json.loads(path.read_text())["interactions"]}))

    named = {"FILE": str(path), "out": str(tmp_path / "out")}
    assert main([named.get(word, word) for word in words]) != 0
    printed = capsys.readouterr()
    assert "it took longer than 0.05 seconds" in printed.out + printed.err


def test_yaml_that_contains_itself_is_no_recording(tmp_path):
    (tmp_path / "itself.yaml").write_text("interactions: [&a [*a]]\n")
    began = time.monotonic()
    assert main(["scan", str(tmp_path)]) == 0
    assert time.monotonic() - began < 20


def recorded(**request):
    exchange = {"method": "POST", "url": URL, "headers": {}, "body": {"model": "m"}}
    answer = {"status": 200, "headers": {"content-type": "application/json"}, "body": {"id": "x"}}
    return {"request": {**exchange, **request}, "response": answer}


#: Values for which a command once ended with a traceback.
DAMAGING = {
    "half a character.json": recorded(method="\ud83d"),
    "a type that is a list.json": recorded(body={"model": {"type": ["x"]}}),
    "metadata that are a number.json": {"version": 1, "metadata": 7, "interactions": []},
    "a number that is infinite.json": {"request": {"url": URL, "method": "GET"}, "response": {"status": float("inf")}},
}  # fmt: skip


@pytest.fixture
def damaging(tmp_path):
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name, value in DAMAGING.items():
        (folder / name).write_text(json.dumps(value))
    (folder / "zgood.json").write_text(json.dumps({"version": 1, "interactions": [recorded()]}))
    (folder / "cut.json").write_text('{"version": 1, "interactions": [{"request": {"uri": "x"}, "response')
    return folder


@pytest.mark.parametrize("command", ["ls", "import", "export", "migrate", "diff"])
def test_a_damaged_file_does_not_stop_the_others(damaging, tmp_path, capsys, command):
    more = {"diff": [damaging], "import": ["--out", tmp_path / "out"], "export": ["--out", tmp_path / "out"]}
    code = main([command, *(["--dry-run"] if command == "migrate" else []), str(damaging), *map(str, more.get(command, []))])  # fmt: skip
    said = capsys.readouterr()

    assert code in (1, 2)
    assert "cut.json" in said.out + said.err
    assert not command.startswith(("im", "ex")) or [*(tmp_path / "out").glob("zgood.*")]
    (said.out + said.err).encode("utf-8")


@pytest.mark.parametrize("name", DAMAGING)
@pytest.mark.parametrize("command", ["ls", "show", "export", "scan", "diff"])
def test_a_damaging_value_is_no_crash(damaging, capsys, name, command):
    main([command, str(damaging / name), *[str(damaging / "zgood.json")] * (command == "diff")])
    said = capsys.readouterr()

    (said.out + said.err).encode("utf-8")


def test_the_head_of_a_raw_message_is_not_obeyed(cassette, capfdbinary):
    main(["show", "--raw", str(cassette({"text": "x"}, uri="https://a\x1bc.example/\n::error::y"))])

    out = capfdbinary.readouterr().out
    assert b"\x1b" not in out
    assert b"\n::" not in out
