"""A hundred and thirty-four exchanges that a recorder may get wrong: what is asked, and what the server sends, byte by byte."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass, field, replace

__all__ = ["CLOSE", "EXCHANGES", "PAUSE", "RESET", "Exchange", "chunked", "head", "one", "whole"]

RESET, PAUSE, CLOSE = "reset", "pause", "close"


@dataclass(frozen=True)
class Exchange:
    """`answers` are for one request after another; each is bytes to send, and `RESET`, `PAUSE` (longer than the client waits)
    or `CLOSE`."""

    name: str
    answers: tuple[tuple[bytes | str, ...], ...]
    method: str = "GET"
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    requests: int = 1
    pieces: int = 0
    """If a generator sends the body: how many bytes it yields at a time."""
    reads: int = 0
    """If the client stops early: after how many bytes."""
    host: str = "127.0.0.1"
    scheme: str = "http"
    port: str = ""
    """`closed` for one that nobody listens on; `full` for one whose queue is full; otherwise the server's."""
    more: tuple[tuple[str, str, bytes | None], ...] = ()
    """Further requests in the same session: method, path and body."""
    keeps: bool = False
    """Whether the server leaves the connection open for another request."""
    upload: str = ""
    """`file` for a body from a file, `parts` for a file in a form, `breaks` for a generator that raises an error."""
    digest: bool = False
    """Whether the client has a name and a password for digest authentication, where it knows it."""
    proxy: str = ""
    """Whether the environment names a proxy: `on`, or `off` for one that does not answer."""

    def each(self) -> list[Exchange]:
        """The requests, one after another."""
        if self.more:
            further = [replace(self, method=method, path=path, body=body) for method, path, body in self.more]
            return [self, *further]
        return [self] * self.requests


def head(status: str, headers: str, version: str = "HTTP/1.1") -> bytes:
    closing = "" if status.startswith("1") else "|connection: close"
    lines = "".join(f"{line}\r\n" for line in f"{headers}{closing}".split("|") if line)
    return f"{version} {status}\r\n{lines}\r\n".encode("latin-1")


def whole(
    body: bytes, content_type: str = "application/json", status: str = "200 OK", more: str = ""
) -> bytes:
    of = f"content-type: {content_type}|" if content_type else ""
    return head(status, f"{of}content-length: {len(body)}|{more}") + body


def chunked(*chunks: bytes, content_type: str = "text/plain", end: bytes = b"0\r\n\r\n") -> tuple[bytes, ...]:
    first = head("200 OK", f"content-type: {content_type}|transfer-encoding: chunked")
    return (first, *(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks), end)


def one(name: str, *answer: bytes | str, **options: object) -> Exchange:
    return Exchange(name, (answer,), **options)  # type: ignore[arg-type]  # each caller names fields of it


def _statuses() -> list[Exchange]:
    told = [
        *(
            "201 Created",
            "202 Accepted",
            "400 Bad Request",
            "401 Unauthorized",
            "404 Not Found",
            "409 Conflict",
        ),
        *("418 I'm a teapot", "429 Too Many Requests", "500 Internal Server Error", "529 Overloaded"),
    ]
    found = [one(f"status {each}", whole(b'{"error":{}}', status=each)) for each in told]
    return [
        *found,
        one("204 without a body", head("204 No Content", "")),
        one("304 without a body", head("304 Not Modified", 'etag: "a"')),
        one("reason of another kind", whole(b"{}", status="200 Tout va bien")),
        one("no reason", head("200 ", "content-length: 2") + b"{}"),
        one(
            "206 of a range",
            whole(b"bcd", "text/plain", "206 Partial Content", "content-range: bytes 1-3/9"),
        ),
    ]


def _headers() -> list[Exchange]:
    def answered(name: str, more: str) -> Exchange:
        return one(name, whole(b"{}", more=more))

    return [
        answered("two cookies", "set-cookie: a=1; path=/|set-cookie: b=2; path=/"),
        answered("a header twice", "link: <a>; rel=next|link: <b>; rel=prev"),
        answered("a header in latin-1", "link: <caf\xe9>"),
        answered("an empty header", "etag: |link: <a>"),
        answered("a header of 8 KB", f"link: <{'a' * 8000}>"),
        answered("sixty headers", "|".join(f"content-x{n}: {n}" for n in range(60))),
        answered("retry-after in ms", "retry-after-ms: 20|retry-after: 1"),
        answered("upper case", 'ETAG: W/"A"|Location: /There'),
        answered("spaces around a value", "link:    <a>   "),
        one("no content type", whole(b"plain", "")),
        one("type with a charset in quotes", whole("é".encode(), 'text/plain; charset="UTF-8"')),
    ]


def _bodies() -> list[Exchange]:
    texts: dict[str, tuple[bytes, str]] = {
        "an empty body": (b"", "application/json"),
        "all bytes": (bytes(range(256)) * 4, "application/octet-stream"),
        "UTF-8 that is broken": (b'{"a": "\xff\xfe"}', "application/json"),
        "JSON with a byte order mark": (b'\xef\xbb\xbf{"a":1}', "application/json"),
        "JSON with odd spaces": (b'{ "a" :1 ,\n\t"b": [ ] }\n', "application/json"),
        "JSON with a key twice": (b'{"a":1,"a":2}', "application/json"),
        "JSON with large numbers": (
            b'{"a":12345678901234567890123,"b":1.10,"c":1E400,"d":-0.0}',
            "application/json",
        ),
        "JSON with NaN": (b'{"a":NaN}', "application/json"),
        "JSON with escapes": (b'{"a":"\\u00e9\\/\\ud83d\\ude00"}', "application/json"),
        "JSON with half a surrogate": (b'{"a":"\\ud83d"}', "application/json"),
        "text in latin-1": ("café".encode("latin-1"), "text/plain; charset=iso-8859-1"),
        "text in UTF-16": ("café".encode("utf-16"), "text/plain; charset=utf-16"),
        "text that looks like YAML": (b"- a: &x\n  b: *x\n--- \n...\n", "text/plain"),
        "text with CR LF": (b"a\r\nb\r\rc\n", "text/plain"),
        "text of control characters": (b"a\x00b\x1b[0m\x7f\x85", "text/plain"),
        "text with line separators": ("a\u2028b\u2029c\x0bd".encode(), "text/plain"),
        "XML": ('<?xml version="1.0" encoding="utf-8"?>\r\n<a b="é">&amp;</a>'.encode(), "application/xml"),
        "an image": (b"\x89PNG\r\n\x1a\n" + bytes(5000), "image/png"),
        "a megabyte": (json.dumps(["word"] * 150_000).encode(), "application/json"),
        "ten thousand lines": (b"".join(b'{"n":%d}\n' % n for n in range(10_000)), "application/x-ndjson"),
        "JSON that says text": (b'{"a": 1}', "text/plain"),
    }
    return [one(name, whole(body, of)) for name, (body, of) in texts.items()]


def _compressed() -> list[Exchange]:
    plain = b'{"said": "' + b"hello " * 50 + b'"}'
    deflated = zlib.compress(plain)
    return [
        one("gzip", whole(gzip.compress(plain), more="content-encoding: gzip")),
        one("gzip, quickest", whole(gzip.compress(plain, 1, mtime=7), more="content-encoding: gzip")),
        one("gzip in chunks", *_compressed_chunks(gzip.compress(plain))),
        one("deflate", whole(deflated, more="content-encoding: deflate")),
        one("identity", whole(plain, more="content-encoding: identity")),
        one("gzip that is none", whole(plain, more="content-encoding: gzip")),
    ]


def _compressed_chunks(data: bytes) -> tuple[bytes, ...]:
    first, *rest = chunked(data[:20], data[20:], content_type="application/json")
    return (first[:-2] + b"content-encoding: gzip\r\n\r\n", *rest)


def _streams() -> list[Exchange]:
    events = [b'data: {"a":1}\n\n', b": ping\n\n", "data: é\ndata: two\n\n".encode(), b"data: [DONE]\n\n"]
    sse = "text/event-stream"
    return [
        one("events", *chunked(*events, content_type=sse)),
        one(
            "events cut anywhere",
            *chunked(*(b"".join(events)[at : at + 7] for at in range(0, 62, 7)), content_type=sse),
        ),
        one(
            "events with CR LF",
            *chunked(*(each.replace(b"\n", b"\r\n") for each in events), content_type=sse),
        ),
        one("events without an end", *chunked(*events, b"data: left", content_type=sse)),
        one(
            "events until the connection closes",
            head("200 OK", f"content-type: {sse}"),
            *events,
        ),
        one(
            "chunks with extensions",
            head("200 OK", "transfer-encoding: chunked"),
            b"2;x=1\r\nab\r\n0\r\n\r\n",
        ),
        one("chunks with a trailer", *chunked(b"ab", end=b"0\r\nx-sum: 1\r\n\r\n")),
        one("a byte at a time", *chunked(*(b"%c" % each for each in b"hello world"))),
        one("HTTP/1.0", head("200 OK", "content-type: text/plain", "HTTP/1.0"), b"old"),
        one("early hints", head("103 Early Hints", "link: </a>"), whole(b"{}")),
    ]


def _requests() -> list[Exchange]:
    form = {"content-type": "application/x-www-form-urlencoded"}
    two = ((whole(b"1"),), (whole(b"2"),))
    moved, there = head("302 Found", "location: /there|content-length: 0"), whole(b'"there"')
    return [
        one("HEAD", head("200 OK", "content-length: 5|content-type: text/plain"), method="HEAD"),
        one("a form", whole(b"{}"), method="POST", headers=form, body=b"a=1&b=%C3%A9&a=2"),
        one("binary sent", whole(b"{}"), method="PUT", body=bytes(range(256))),
        one("DELETE with a body", whole(b"{}"), method="DELETE", body=b'{"all":true}'),
        one("a query with names twice", whole(b"{}"), path="?a=1&a=2&b=&c=%2F%C3%A9"),
        Exchange("the same request twice", two, requests=2),
        Exchange("a redirect", ((moved,), (there,))),
    ]


def _failures() -> list[Exchange]:
    short = head("200 OK", "content-type: text/plain|content-length: 100")
    return [
        one("a reset before the answer", RESET),
        one("a reset in the body", short, b"some", RESET),
        one("a body that is too short", short, b"some", CLOSE),
        one("chunks that stop", *chunked(b"some", end=b""), CLOSE),
        one("no answer in time", PAUSE),
    ]


def _odd_heads() -> list[Exchange]:
    told = {
        "a 100 before the answer": (head("100 Continue", ""), whole(b"{}")),
        "a 102 before the answer": (head("102 Processing", ""), whole(b"{}")),
        "two 103 before the answer": (
            head("103 Early Hints", "link: </a>"),
            head("103 Early Hints", "link: </b>"),
            whole(b"{}"),
        ),
        "205 without a body": (head("205 Reset Content", "content-length: 0"),),
        "a folded header": (whole(b"{}", more="link: <a>;|\trel=next"),),
        "a header without a value": (whole(b"{}", more="etag:"),),
        "a header that is quoted": (whole(b"{}", more='etag: "a, b; c=\\"d\\""'),),
        "three equal headers": (whole(b"{}", more="link: <a>|link: <a>|link: <a>"),),
        "a cookie with odd attributes": (
            whole(b"{}", more="set-cookie: a=; Max-Age=0; SameSite=None; Partitioned"),
        ),
        "a length twice, the same": (whole(b"{}", more="content-length: 2"),),
        "a challenge without credentials": (
            whole(b"{}", status="401 Unauthorized", more='www-authenticate: Basic realm="x"'),
        ),
        "a digest challenge": (
            whole(
                b"",
                status="401 Unauthorized",
                more='www-authenticate: Digest realm="x", nonce="abc", qop="auth"',
            ),
        ),
        "451 for legal reasons": (whole(b"{}", status="451 Unavailable For Legal Reasons"),),
        "an unknown status": (whole(b"{}", status="299 Odd"),),
        "a status of 599": (whole(b"{}", status="599 Network"),),
    }
    return [one(name, *answer) for name, answer in told.items()]


#: "hello hello hello hello ", compressed
_ZSTD = bytes.fromhex("28b52ffd20186500003068656c6c6f200100f14a11")
_BR = bytes.fromhex("1b1700f88d946ede445586966c206f314f1c8038")


def _odd_bodies() -> list[Exchange]:
    plain = b'{"said": "' + b"hello " * 50 + b'"}'
    members = gzip.compress(plain[:100]) + gzip.compress(plain[100:])
    bodies: dict[str, tuple[bytes, str, str]] = {
        "gzip of two members": (members, "application/json", "content-encoding: gzip"),
        "gzip of nothing": (gzip.compress(b""), "text/plain", "content-encoding: gzip"),
        "x-gzip": (gzip.compress(plain), "application/json", "content-encoding: x-gzip"),
        "gzip that stops": (gzip.compress(plain)[:40], "application/json", "content-encoding: gzip"),
        "an unknown encoding": (plain, "application/json", "content-encoding: odd"),
        "raw deflate": (zlib.compress(plain)[2:-4], "application/json", "content-encoding: deflate"),
        "zstd": (_ZSTD, "text/plain", "content-encoding: zstd"),
        "br": (_BR, "text/plain", "content-encoding: br"),
        "twenty megabytes": (bytes(range(256)) * 80_000, "application/octet-stream", ""),
        "a gzip file": (gzip.compress(plain), "application/gzip", ""),
        "five megabytes": (bytes(range(256)) * 20_000, "application/octet-stream", ""),
        "a line of a megabyte": (b"x" * 1_000_000, "text/plain", ""),
        "a body that looks like chunks": (b"3\r\nabc\r\n0\r\n\r\n", "text/plain", ""),
        "a body that looks like an answer": (b"HTTP/1.1 500 No\r\n\r\n", "text/plain", ""),
        "a multipart answer": (
            b"--x\r\ncontent-type: text/plain\r\n\r\none\r\n--x--\r\n",
            "multipart/mixed; boundary=x",
            "",
        ),
        "a PDF": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + bytes(300), "application/pdf", ""),
        "deep JSON": (b"[" * 90 + b"]" * 90, "application/json", ""),
        "JSON with NUL": (b'{"a":"\\u0000"}', "application/json", ""),
        "JSON of one number": (b"1.0", "application/json", ""),
        "JSON lines without an end": (b'{"a":1}\n{"a":2}', "application/x-ndjson", ""),
        "a text of one newline": (b"\n", "text/plain", ""),
        "text with a BOM": (b"\xef\xbb\xbfhello", "text/plain; charset=utf-8", ""),
        "text that is a placeholder": (b"<API_KEY> REDACTED_1", "text/plain", ""),
    }
    return [one(name, whole(body, of, more=more)) for name, (body, of, more) in bodies.items()]


def _odd_streams() -> list[Exchange]:
    sse = "text/event-stream"
    return [
        one("an empty stream", *chunked(content_type=sse)),
        one("events of comments only", *chunked(b":\n\n", b": a\n\n", content_type=sse)),
        one(
            "events with ids and retries",
            *chunked(b"id: 1\nretry: 5\nevent: x\ndata: a\n\n", content_type=sse),
        ),
        one("events with a BOM", *chunked(b"\xef\xbb\xbfdata: a\n\n", content_type=sse)),
        one(
            "chunk sizes in capitals",
            head("200 OK", "transfer-encoding: chunked"),
            b"A\r\n0123456789\r\n0\r\n\r\n",
        ),
        one(
            "chunk sizes with zeros",
            head("200 OK", "transfer-encoding: chunked"),
            b"0003\r\nabc\r\n0\r\n\r\n",
        ),
        one("two hundred chunks", *chunked(*(b"%d," % n for n in range(200)))),
        one("a stream that the client leaves", *chunked(*[bytes(range(250))] * 40), reads=1000),
        one("HTTP/1.0 with a length", head("200 OK", "content-length: 3", "HTTP/1.0"), b"old"),
    ]


def _odd_refusals() -> list[Exchange]:
    return [
        one("no HTTP at all", b"SSH-2.0-OpenSSH\r\n\r\n", CLOSE),
        one(
            "garbage before the status line",
            b"garbage\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            CLOSE,
        ),
        one(
            "a chunk size that is none",
            head("200 OK", "transfer-encoding: chunked") + b"zz\r\nabc\r\n",
            CLOSE,
        ),
        one("half a head", b"HTTP/1.1 200 OK\r\ncontent-", CLOSE),
        one(
            "a timeout in the body",
            head("200 OK", "content-type: text/plain|content-length: 9"),
            b"some",
            PAUSE,
        ),
    ]


def _odd_requests() -> list[Exchange]:
    moved = head("307 Temporary Redirect", "location: /there|content-length: 0")
    loop = head("302 Found", "location: /here|content-length: 0")
    return [
        Exchange("a 307 with a body", ((moved,), (whole(b'"there"'),)), method="POST", body=b"a=1"),
        Exchange("a redirect to itself once", ((loop,), (whole(b'"here"'),))),
        one("a path with escapes", whole(b"{}"), path="/%2F%20%C3%A9/a;b=c"),
        one("an empty query", whole(b"{}"), path="?"),
        one("an address of IPv6", whole(b"{}"), host="[::1]"),
        one(
            "a body from a generator",
            whole(b"{}"),
            method="POST",
            headers={"content-type": "text/plain"},
            body=b"word " * 400,
            pieces=300,
        ),
        one(
            "a JSON body",
            whole(b"{}"),
            method="POST",
            headers={"content-type": "application/json"},
            body=b'{"a": [1, 2.0]}',
        ),
    ]


EXCHANGES = [
    *(*_statuses(), *_headers(), *_bodies(), *_compressed()),
    *(*_streams(), *_requests(), *_failures()),
    *(*_odd_heads(), *_odd_bodies(), *_odd_streams(), *_odd_refusals(), *_odd_requests()),
]
"""All of them, by name."""
