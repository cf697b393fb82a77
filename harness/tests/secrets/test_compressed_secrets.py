"""Keys in compressed bodies: in the second member, behind a wrong checksum, coded twice, cut off, without a header, behind a bomb.
`scan` finds them in recordings of any tool or says what it could not search, and our recorder writes none.
"""

import gzip
import json
import zlib
from base64 import b64encode
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


@pytest.mark.parametrize("name", CODED)
def test_no_compressed_answer_with_a_key_is_written(name, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    coding, body = CODED[name]

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(401)
            self.send_header("content-encoding", coding)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"

        def recorded():
            with (
                use_cassette(tmp_path / "a.json", mode="record"),
                httpx.Client(trust_env=False) as client,
                client.stream("GET", url) as answer,
            ):
                assert b"".join(answer.iter_raw()) == body

        with pytest.raises(SecretFound, match="nothing was written"):
            recorded()
        server.shutdown()
    assert [*tmp_path.rglob("*.json")] == []


def test_all_members_of_a_body_are_read_in_linear_time():
    assert undo(gzip.compress(b"[") + gzip.compress(b"]"), "gzip") == b"[]"
    members = gzip.compress(b"") * 50_000 + gzip.compress(b"{}")
    assert undo(members, "gzip") == b"{}"
