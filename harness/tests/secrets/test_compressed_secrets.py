"""Keys in compressed bodies: in the second member, behind a wrong checksum, coded twice, cut off, without a header, behind a bomb.
`scan` finds them in recordings of any tool or says what it could not search, and our recorder writes none.
"""

import gzip
import json
import zlib
from base64 import b64encode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import brotli
import httpx
import pytest
import zstandard

from ellmer_harness import SecretFound, use_cassette
from ellmer_harness.cli import main
from ellmer_harness.format import compression
from ellmer_harness.format.compression import undo

KEY = "sk-proj-kG7mQ2xV9bT4nR8wY3cH6jL5pD1sF0aZ2eU7iN4oB9tX6vM3"
PLAIN = json.dumps({"error": {"message": f"bad key {KEY}"}, "more": list(range(200))}).encode()


def _raw(plain):
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    return engine.compress(plain) + engine.flush()


def _in_pieces(plain):
    engine = brotli.Compressor(quality=7)
    pieces = (engine.process(plain[at : at + 9]) + engine.flush() for at in range(0, len(plain), 9))
    return b"".join(pieces) + engine.finish()


CODED = {
    "gzip": ("gzip", gzip.compress(PLAIN)),
    "gzip, the second member": ("gzip", gzip.compress(b" ") + gzip.compress(PLAIN)),
    "gzip, a wrong checksum": ("gzip", gzip.compress(PLAIN)[:-8] + bytes(8)),
    "gzip, cut off": ("gzip", gzip.compress(PLAIN)[:-20]),
    "gzip, bytes after the end": ("gzip", gzip.compress(PLAIN) + b"xx"),
    "gzip twice": ("gzip, gzip", gzip.compress(gzip.compress(PLAIN))),
    "gzip in Brotli": ("gzip, br", brotli.compress(gzip.compress(PLAIN))),
    "deflate": ("deflate", zlib.compress(PLAIN)),
    "deflate without a header": ("deflate", _raw(PLAIN)),
    "Brotli": ("br", brotli.compress(PLAIN)),
    "Brotli in pieces": ("br", _in_pieces(PLAIN)),
    "Zstandard": ("zstd", zstandard.compress(PLAIN)),
    "Zstandard, the second frame": ("zstd", zstandard.compress(b" ") + zstandard.compress(PLAIN)),
    "Zstandard, not compressed": ("zstd", zstandard.compress(PLAIN[:80] + b'"}}')),
}


def _har(path, coding, body):
    name = {"name": "content-encoding", "value": coding}
    content = {"mimeType": "application/json", "text": b64encode(body).decode(), "encoding": "base64"}
    entry = {
        "startedDateTime": "2026-11-01T00:00:00Z",
        "request": {"method": "GET", "url": "https://api.example.com/x", "headers": []},
        "response": {"status": 401, "statusText": "x", "headers": [name], "content": content},
    }
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))


@pytest.mark.parametrize("name", CODED)
def test_scan_finds_a_key_in_what_is_compressed(name, tmp_path, capsys):
    _har(tmp_path / "a.har", *CODED[name])
    assert main(["scan", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "an API key (sk-…)" in said
    assert "1 file: 1 problem," in said
    assert KEY not in said


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_scan_says_what_it_could_not_search(coding, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(compression, "RECORDING", compression.RECORDING._replace(unpacked=100_000))
    spaces = b" " * 10_000_000
    compressed = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": brotli.compress,
        "zstd": zstandard.compress,
    }[coding](spaces)
    _har(tmp_path / "a.har", coding, compressed)
    assert main(["scan", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert f"its {coding} cannot be read, so it was not searched" in said


@contextmanager
def _answering(headers, body):
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(401)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def _is_refused(path, headers, body):
    """Tells whether a recording of this answer is an error, and nothing is written."""

    def recorded(url):
        with (
            use_cassette(path / "a.json", mode="record"),
            httpx.Client(trust_env=False) as client,
            client.stream("GET", url) as answer,
        ):
            assert b"".join(answer.iter_raw()) == body

    with _answering(headers, body) as url, pytest.raises(SecretFound, match="nothing was written"):
        recorded(url)
    return [*path.rglob("*.json")] == []


@pytest.mark.parametrize("name", CODED)
def test_no_compressed_answer_with_a_key_is_written(name, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    coding, body = CODED[name]

    assert _is_refused(tmp_path, {"content-encoding": coding}, body)


#: A key that no pattern knows.
OWN = "Qx7Rb2mK9vW4nT8yL3cH6jZ5pD1sF0aG"
SPELLED = {"in upper case": OWN.upper(), "backwards": OWN[::-1], "in hexadecimal": OWN.encode().hex()}
BODIES = {
    "gzip": ({"content-encoding": "gzip"}, gzip.compress),
    "UTF-16": (
        {"content-type": "application/json; charset=utf-16"},
        lambda plain: plain.decode().encode("utf-16"),
    ),
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("form", SPELLED)
def test_a_key_in_another_form_in_what_cannot_be_replaced_is_not_written(form, body, tmp_path, monkeypatch):
    monkeypatch.setenv("STORE_API_KEY", OWN)
    headers, coded = BODIES[body]
    plain = json.dumps({"error": f"bad key {SPELLED[form]}"}).encode()

    assert _is_refused(tmp_path, headers, coded(plain))


def _data(piece):
    return json.dumps({"d": piece}).encode()


MANY = [f"word{n}" for n in range(600)]
#: Bodies with a value in two of many pieces, and those that are no UTF-8 are written into a file of their own.
PIECES = {
    "an array": lambda pieces: json.dumps([{"d": piece} for piece in pieces]).encode(),
    "an array and a bad byte": lambda pieces: (
        json.dumps([{"d": piece} for piece in pieces]).encode() + b"\xff"
    ),
    "a sequence of JSON texts": lambda pieces: b"".join(b"\x1e" + _data(piece) + b"\n" for piece in pieces),
    "events of two lines": lambda pieces: (
        b"".join(b'data: {"d":\ndata: ' + json.dumps(piece).encode() + b"}\n\n" for piece in pieces) + b"\xff"
    ),
    "events of text": lambda pieces: (
        b"".join(b"data: " + piece.encode() + b"\n\n" for piece in pieces) + b"\xff"
    ),
}


@pytest.mark.parametrize("kind", PIECES)
def test_a_key_in_pieces_is_found_in_each_kind_of_stream(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("STORE_API_KEY", OWN)
    body = PIECES[kind]([*MANY, OWN[:16], OWN[16:], *MANY])

    assert _is_refused(
        tmp_path, {"content-type": "text/event-stream" if b"data:" in body else "application/json"}, body
    )


def test_all_members_of_a_body_are_read_in_linear_time():
    assert undo(gzip.compress(b"[") + gzip.compress(b"]"), "gzip") == b"[]"
    members = gzip.compress(b"") * 50_000 + gzip.compress(b"{}")
    assert undo(members, "gzip") == b"{}"
