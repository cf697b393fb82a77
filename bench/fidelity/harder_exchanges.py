"""Sixty-eight exchanges more: several requests in a session, uploads, proxies, TLS, and answers at the edge of HTTP."""

from __future__ import annotations

import gzip
import zlib

from exchanges import CLOSE, PAUSE, RESET, Exchange, chunked, head, one, whole

__all__ = ["HARDER"]

_PLAIN = b'{"said": "' + b"hello " * 50 + b'"}'
#: "hello hello hello hello ", compressed
_ZSTD = bytes.fromhex("28b52ffd20186500003068656c6c6f200100f14a11")
_BR = bytes.fromhex("1b1700f88d946ede445586966c206f314f1c8038")


def _kept(body: bytes, status: str = "200 OK", more: str = "", of: str = "application/json") -> bytes:
    """An answer after which the connection is left open."""
    lines = f"content-type: {of}|content-length: {len(body)}|{more}".split("|")
    return _raw("|".join([f"HTTP/1.1 {status}", *filter(None, lines)]), body)


def _raw(text: str, body: bytes = b"") -> bytes:
    """Lines of a head as they are written here."""
    return "".join(f"{line}\r\n" for line in text.split("|")).encode("latin-1") + b"\r\n" + body


def _gzip_chunks(*chunks: bytes, more: str = "", end: bytes = b"0\r\n\r\n") -> tuple[bytes, ...]:
    first, *rest = chunked(*chunks, content_type="application/json", end=end)
    return (first[:-2] + f"content-encoding: gzip\r\n{more}\r\n".encode(), *rest)


def _heads() -> list[Exchange]:
    hints = head("103 Early Hints", "link: </a>")
    return [
        one("1xx twice before an error", head("100 Continue", ""), hints, whole(b"{}", status="500 No")),
        one(
            "HEAD of a compressed answer",
            head("200 OK", "content-length: 5|content-encoding: gzip"),
            method="HEAD",
        ),
        one("HEAD of a chunked answer", head("200 OK", "transfer-encoding: chunked"), method="HEAD"),
        one("HEAD that is not found", head("404 Not Found", "content-length: 20000000"), method="HEAD"),
        one("204 with a body", head("204 No Content", "content-length: 5") + b"hello"),
        one("304 with a length", head("304 Not Modified", 'content-length: 100|etag: "a"')),
        one("205 with a body", head("205 Reset Content", "content-length: 5") + b"hello"),
        one("a header folded three times", whole(b"{}", more="link: <a>;|  rel=next,|\t<b>;| rel=prev")),
        one("two content types", whole(b"{}", more="content-type: text/plain")),
        one("a reason in latin-1", whole(b"{}", status="200 Tr\xe8s bien")),
        one("a header in UTF-8", whole(b"{}", more="link: <" + "é€".encode().decode("latin-1") + ">")),
        one("a space before a colon", whole(b"{}", more="link : <a>")),
        one(
            "a length and chunks",
            _raw(
                "HTTP/1.1 200 OK|content-type: text/plain|content-length: 2|transfer-encoding: chunked|connection: close",
                b"2\r\nab\r\n0\r\n\r\n",
            ),
        ),
        one(
            "two lengths that differ",
            _raw("HTTP/1.1 200 OK|content-length: 2|content-length: 3|connection: close", b"abc"),
        ),
        one("a negative length", _raw("HTTP/1.1 200 OK|content-length: -5|connection: close", b"abc"), CLOSE),
        one("a length in words", _raw("HTTP/1.1 200 OK|content-length: two|connection: close", b"ab"), CLOSE),
        one("a header of 70 KB", whole(b"{}", more=f"link: <{'a' * 70_000}>")),
        one(
            "a hundred and fifty headers",
            whole(b"{}", more="|".join(f"content-x{n}: {n}" for n in range(150))),
        ),
        one("an odd version", _raw("HTTP/2.7 200 OK|content-length: 2|connection: close", b"{}")),
        one(
            "a status of two digits", _raw("HTTP/1.1 20 OK|content-length: 2|connection: close", b"{}"), CLOSE
        ),
        one(
            "a status line without a space at its end",
            _raw("HTTP/1.1 200|content-length: 2|connection: close", b"{}"),
        ),
        one(
            "a status line in small letters",
            _raw("http/1.1 200 ok|content-length: 2|connection: close", b"{}"),
            CLOSE,
        ),
        one("empty lines before the status line", b"\r\n\r\n" + whole(b"{}")),
        one(
            "lines that end with LF",
            b"HTTP/1.1 200 OK\ncontent-type: text/plain\ncontent-length: 2\nconnection: close\n\n{}",
        ),
        one("NUL in a header", whole(b"{}", more="link: <a\0b>"), CLOSE),
        one(
            "three cookies with dates",
            whole(
                b"{}",
                more="|".join(f"set-cookie: {n}=1; Expires=Wed, 09 Jun 2038 10:18:14 GMT" for n in "abc"),
            ),
        ),
        one(
            "transfer-encoding gzip",
            head("200 OK", "content-type: text/plain|transfer-encoding: gzip, chunked")
            + b"2\r\nab\r\n0\r\n\r\n",
            CLOSE,
        ),
    ]


def _bodies() -> list[Exchange]:
    members = b"".join(gzip.compress(_PLAIN[at : at + 120]) for at in range(0, len(_PLAIN), 120))
    text = gzip.compress(_PLAIN)

    def encoded(name: str, body: bytes, encoding: str) -> Exchange:
        return one(name, whole(body, more=f"content-encoding: {encoding}"))

    return [
        one(
            "a gzip stream with a trailer",
            *_gzip_chunks(text[:30], text[30:], more="trailer: x-sum\r\n", end=b"0\r\nx-sum: 1\r\n\r\n"),
        ),
        one(
            "gzip of three members in chunks",
            *_gzip_chunks(*(members[at : at + 33] for at in range(0, len(members), 33))),
        ),
        encoded("gzip with zeros after it", text + bytes(20), "gzip"),
        encoded("zstd of two frames", _ZSTD + _ZSTD, "zstd"),
        one(
            "br in chunks",
            *[
                part.replace(b"\r\n\r\n", b"\r\ncontent-encoding: br\r\n\r\n")
                if part.startswith(b"HTTP")
                else part
                for part in chunked(_BR[:7], _BR[7:])
            ],
        ),
        encoded("gzip of gzip", gzip.compress(text), "gzip, gzip"),
        encoded("deflate with bytes after it", zlib.compress(_PLAIN) + b"junk", "deflate"),
        encoded("gzip in capitals", text, "GZIP"),
        one(
            "a body longer than its length",
            head("200 OK", "content-type: text/plain|content-length: 2") + b"abcdef",
        ),
        one("two megabytes in chunks", *chunked(*[b"some words " * 9_533] * 20)),
        one(
            "extensions in quotes",
            head("200 OK", "transfer-encoding: chunked") + b'2;a="x;y";b\r\nab\r\n0;last\r\n\r\n',
        ),
        one(
            "chunk sizes that end with LF",
            head("200 OK", "transfer-encoding: chunked") + b"2\nab\n0\n\n",
            CLOSE,
        ),
        one(
            "a chunk longer than its size",
            head("200 OK", "transfer-encoding: chunked") + b"2\r\nabcd\r\n0\r\n\r\n",
            CLOSE,
        ),
        one(
            "chunks without the last line",
            head("200 OK", "transfer-encoding: chunked") + b"2\r\nab\r\n0\r\n",
            CLOSE,
        ),
        one(
            "two trailers of one name",
            *chunked(b"ab", end=b"0\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n\r\n"),
        ),
    ]


def _failures() -> list[Exchange]:
    text = gzip.compress(_PLAIN)
    return [
        one(
            "a pause in a stream",
            *chunked(b"data: a\n\n", b"data: b\n\n", content_type="text/event-stream", end=b""),
            PAUSE,
        ),
        one("a reset in a gzip stream", *_gzip_chunks(text[:25], end=b""), RESET),
        one(
            "an end in a gzip body",
            head("200 OK", f"content-type: text/plain|content-encoding: gzip|content-length: {len(text)}"),
            text[:25],
            CLOSE,
        ),
        one("a reset in a chunk", head("200 OK", "transfer-encoding: chunked"), b"9\r\nab", RESET),
        one("a reset in the head", b"HTTP/1.1 200 OK\r\nconte", RESET),
        one(
            "an end in a chunk's size", head("200 OK", "transfer-encoding: chunked") + b"2\r\nab\r\n1", CLOSE
        ),
        one("no answer to a POST", CLOSE, method="POST", body=b"a=1"),
        one("a port that nobody listens on", CLOSE, port="closed"),
        one("no connection in time", CLOSE, port="full"),
        one("a name that does not exist", CLOSE, host="no-such-host.invalid"),
        one("a certificate that nobody knows", whole(b"{}"), scheme="https"),
        one("TLS asked of plain HTTP", whole(b"{}"), scheme="https", port="plain"),
    ]


def _redirects() -> list[Exchange]:
    def moved(status: str, to: str, more: str = "", there: bytes = b'"there"', **options: object) -> Exchange:
        away = head(status, f"location: {to}|content-length: 0|{more}")
        return Exchange(f"{status}: {to or 'nowhere'}", ((away,), (whole(there),)), **options)  # type: ignore[arg-type]  # fields of it

    return [
        moved("303 See Other", "/there", "set-cookie: a=1; path=/", method="POST", body=b"a=1"),
        moved("308 Permanent Redirect", "/there?x=1", method="PUT", body=b'{"a":1}'),
        moved("301 Moved Permanently", "../x?y=1#part", method="POST", body=b"a=1"),
        moved("302 Found", "ftp://127.0.0.1/x"),
        moved("302 Found", "/caf\xc3\xa9"),
        moved("302 Found", ""),
        moved("300 Multiple Choices", "/there"),
        one("redirects without an end", head("302 Found", "location: /here|content-length: 0")),
    ]


def _sessions() -> list[Exchange]:
    ok = (_kept(b"1"),), (_kept(b"2"),), (_kept(b"3"),)
    again = (("GET", "/two", None), ("GET", "/three", None))
    digest = 'www-authenticate: Digest realm="x", nonce="abc", qop="auth", algorithm=SHA-256'
    return [
        Exchange("a connection that is used again", ok, more=again, keeps=True),
        Exchange("used again after an error", ((_kept(b"no", "500 No"),), *ok[1:]), more=again, keeps=True),
        Exchange(
            "an answer that nobody asked for",
            ((_kept(b"1") + _kept(b"extra"),), *ok[1:]),
            more=again[:1],
            keeps=True,
        ),
        Exchange("a reset, then an answer", ((RESET,), (whole(b"2"),)), more=again[:1]),
        Exchange(
            "a cookie for the second request",
            ((_kept(b"1", more="set-cookie: a=1"),), *ok[1:]),
            more=again[:1],
            keeps=True,
        ),
        Exchange(
            "a stream left, then another request",
            ((*chunked(*[bytes(range(250))] * 40),), (whole(b"2" * 1000),)),
            reads=1000,
            more=again[:1],
        ),
        Exchange(
            "odd methods",
            ok,
            method="PATCH",
            body=b"{}",
            more=(("OPTIONS", "/", None), ("PURGE", "/a", None)),
            keeps=True,
        ),
        Exchange(
            "digest authentication",
            ((whole(b"who?", status="401 Unauthorized", more=digest),), (whole(b"ada"),)),
            digest=True,
        ),
        Exchange(
            "HTTP/1.0 that is kept",
            ((b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 1\r\n\r\n1",), *ok[1:]),
            more=again[:1],
            keeps=True,
        ),
    ]


def _uploads() -> list[Exchange]:
    kind = {"content-type": "text/plain"}
    return [
        one("a file sent", whole(b"{}"), method="PUT", headers=kind, body=b"word " * 4000, upload="file"),
        one("a form with a file", whole(b"{}"), method="POST", upload="parts"),
        one("two megabytes sent", whole(b"{}"), method="PUT", headers=kind, body=b"some words " * 190_000),
        one(
            "a generator that breaks",
            whole(b"{}"),
            method="POST",
            headers=kind,
            body=b"word " * 400,
            pieces=300,
            upload="breaks",
        ),
        one(
            "expect 100",
            whole(b"{}"),
            method="PUT",
            headers={**kind, "expect": "100-continue"},
            body=b"words",
        ),
        one(
            "expect 100 refused",
            whole(b"no", status="417 Expectation Failed"),
            method="PUT",
            headers={**kind, "expect": "100-continue"},
            body=b"words",
        ),
        one(
            "an answer before the body",
            whole(b"no", status="413 Too Large"),
            method="PUT",
            headers=kind,
            body=b"word " * 100_000,
        ),
        one("a path of 20 KB", whole(b"{}"), path="/" + "a" * 20_000),
        one("a proxy", whole(b"{}"), proxy="on"),
        one("a proxy that refuses", whole(b"who?", status="407 Proxy Authentication Required"), proxy="on"),
        one("a proxy that does not answer", whole(b"{}"), proxy="off"),
        one("a redirect from IPv6", head("302 Found", "location: /there|content-length: 0"), host="[::1]"),
    ]


HARDER = [*_heads(), *_bodies(), *_failures(), *_redirects(), *_sessions(), *_uploads()]
"""All of them."""
