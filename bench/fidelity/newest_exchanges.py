"""Eighty-seven exchanges more that a recorder may get wrong: framing, codings, redirects, digests, sessions and odd texts.

What clients find out at different times is sent in one piece: otherwise it depends on the machine whether the head has been read.
"""

from __future__ import annotations

import gzip
import zlib

from exchanges import CLOSE, Exchange, chunked, head, one, whole

__all__ = ["NEWEST"]

_PLAIN = b'{"said": "' + b"hello " * 60 + b'"}'
_GZIP = gzip.compress(_PLAIN)


def _answered(name: str, status: str = "200 OK", more: str = "", **options: object) -> Exchange:
    return one(name, whole(b"{}", status=status, more=more), **options)


def _closing(name: str, *pieces: bytes, **options: object) -> Exchange:
    return one(name, *pieces, CLOSE, **options)


def _framed(coding: str) -> bytes:
    return head("200 OK", f"content-type: text/plain|transfer-encoding: {coding}")


def _in_turn(name: str, *answers: bytes, **options: object) -> Exchange:
    return Exchange(name, tuple((answer,) for answer in answers), **options)  # type: ignore[arg-type]  # each caller names fields of it


def _statuses() -> list[Exchange]:
    legal = "link: <https://x>; rel=blocked-by"
    return [
        _answered("status 299", "299 Odd"),
        _answered("status 599", "599 Network Read Timeout"),
        _answered("status 799", "799 What"),
        _answered("226 IM Used", "226 IM Used"),
        _answered("451", "451 Unavailable For Legal Reasons", legal),
        _answered("a reason in UTF-8", "200 Tr\xc3\xa8s bien"),
        _closing(
            "101 that nobody asked for",
            head("101 Switching Protocols", "upgrade: foo|connection: upgrade"),
        ),
        _closing(
            "417 to expect",
            whole(b"no", status="417 Expectation Failed"),
            method="POST",
            body=b"x" * 10,
            headers={"expect": "100-continue"},
        ),
        _closing(
            "tabs in the status line",
            b"HTTP/1.1\t200\tOK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
        ),
        _closing("an answer that is only CRLF", b"\r\n\r\n"),
    ]


def _headers() -> list[Exchange]:
    first = b"HTTP/1.1 200 OK\r\n"
    last = b"content-length: 2\r\nconnection: close\r\n\r\n{}"
    return [
        _closing("a header without a colon", head("200 OK", "content-length: 2|broken line|etag: a") + b"{}"),
        _closing("a name with a space", head("200 OK", "content-length: 2|my header: x|etag: a") + b"{}"),
        _closing("an empty header name", head("200 OK", "content-length: 2|: x|etag: a") + b"{}"),
        _closing("a fold before any header", first + b" folded: x\r\n" + last),
        _closing("a CR in a value", first + b"link: a\rb\r\n" + last),
        _answered("a tab in a value", more="link: <a>\t; rel=next"),
        _answered(
            "a range asked for",
            "206 Partial Content",
            "content-range: bytes 5-6/*",
            headers={"range": "bytes=5-6"},
        ),
    ]


def _chunks() -> list[Exchange]:
    forty = b"".join(b"x-%d: a\r\n" % number for number in range(40))
    return [
        _closing("Chunked in capitals", _framed("Chunked"), b"2\r\nab\r\n0\r\n\r\n"),
        _closing("transfer-encoding identity", _framed("identity"), b"abc"),
        _closing(
            "transfer-encoding gzip, chunked",
            _framed("gzip, chunked"),
            b"%x\r\n%b\r\n0\r\n\r\n" % (len(_GZIP), _GZIP),
        ),
        _closing("chunk size with zeros before", _framed("chunked"), b"0000000002\r\nab\r\n000\r\n\r\n"),
        _closing("chunk size with a space", _framed("chunked") + b"2 \r\nab\r\n0\r\n\r\n"),
        _closing("chunk size below zero", _framed("chunked") + b"-2\r\nab\r\n0\r\n\r\n"),
        _closing("chunk size of 20 digits", _framed("chunked") + b"ffffffffffffffffffff\r\nab\r\n"),
        _closing("chunk without its end", _framed("chunked") + b"2\r\nabcd\r\n0\r\n\r\n"),
        _closing("chunks that end with LF", _framed("chunked") + b"2\nab\n0\n\n"),
        one("a cookie in a trailer", *chunked(b"ab", end=b"0\r\nset-cookie: t=1\r\nx-sum: abc\r\n\r\n")),
        one("forty trailers", *chunked(b"ab", end=b"0\r\n" + forty + b"\r\n")),
        one("chunk extension in quotes", _framed("chunked"), b'2;a="b;c"\r\nab\r\n', b"0\r\n\r\n"),
    ]


def _lengths() -> list[Exchange]:
    return [
        _closing("one length in two", head("200 OK", "content-length: 2, 2") + b"{}"),
        _closing("a length of 20 digits", head("200 OK", "content-length: 99999999999999999999") + b"abc"),
        _closing("more than the length says", head("200 OK", "content-length: 2") + b"{}more of it"),
        _closing("HEAD with a body", head("200 OK", "content-length: 2") + b"{}", method="HEAD"),
        one("half of gzip read", _coded(gzip.compress(bytes(range(256)) * 400)), reads=1000),
        one("exactly all is read", whole(b"x" * 1000, "text/plain"), reads=1000),
        one(
            "twenty megabytes",
            head("200 OK", "content-type: application/octet-stream|content-length: 20000000")
            + bytes(range(250)) * 80000,
        ),
    ]


def _coded(body: bytes, coding: str = "gzip") -> bytes:
    return whole(body, more=f"content-encoding: {coding}")


def _codings() -> list[Exchange]:
    raw = zlib.compressobj(wbits=-15)
    named = _GZIP[:3] + b"\x08" + _GZIP[4:10] + b"a.txt\0" + _GZIP[10:]
    return [
        one("gzip with a file name", _coded(named)),
        one("gzip without its checksum", _coded(_GZIP[:-8])),
        one("gzip with a wrong checksum", _coded(_GZIP[:-8] + b"\1\2\3\4" + _GZIP[-4:])),
        one("raw deflate", _coded(raw.compress(_PLAIN) + raw.flush(), "deflate")),
        one("nothing in gzip", _coded(b"")),
        one("x-gzip", _coded(_GZIP, "x-gzip")),
        one("identity, gzip", _coded(_GZIP, "identity, gzip")),
        one("an unknown coding", _coded(_PLAIN, "foo")),
        one("brotli cut", _coded(bytes.fromhex("1b1700f88d946ede4455"), "br")),
        one("zstd cut", _coded(bytes.fromhex("28b52ffd20186500003068656c"), "zstd")),
        one("second member is broken", _coded(_GZIP + _GZIP[:12] + b"zzzzzz")),
    ]


def _redirects() -> list[Exchange]:
    def to(name: str, location: str, status: str = "302 Found", **options: object) -> Exchange:
        return _in_turn(name, head(status, f"location: {location}"), whole(b"{}"), **options)

    cookies = [head("302 Found", f"location: /{n}|set-cookie: c{n}=v{n}; path=/") for n in range(5)]
    moved, seen, permanent = "301 Moved Permanently", "303 See Other", "308 Permanent Redirect"
    return [
        to("a redirect with a fragment", "/b?x=1#part"),
        to("a redirect by query only", "?q=2"),
        to("an empty location", ""),
        _in_turn("no location", head("302 Found", "")),
        to("a location with a space", "/a b/c"),
        to("a location in latin-1", "/caf\xe9"),
        to("303 after PUT", "/b", seen, method="PUT", body=b"abc"),
        to("308 of a generator", "/b", permanent, method="POST", body=b"abcdef", pieces=2),
        to("301 of DELETE", "/b", moved, method="DELETE"),
        _in_turn("a redirect to ftp", head("302 Found", "location: ftp://127.0.0.1/x")),
        _in_turn("a redirect to a port nobody has", head("302 Found", "location: http://127.0.0.1:1/x")),
        _in_turn("five redirects with cookies", *cookies, whole(b"{}")),
    ]


def _challenges() -> list[Exchange]:
    def asks(nonce: str, more: str, body: bytes = b"who?") -> bytes:
        challenge = f'www-authenticate: Digest realm="x", nonce="{nonce}", {more}'
        return whole(body, status="401 Unauthorized", more=challenge)

    twice = (asks("abc", 'qop="auth"'), asks("abd", 'qop="auth", stale=true', b"no"), whole(b"1"))
    posted = asks("abc", 'qop="auth-int,auth"')
    of_proxy = ("407 Proxy Authentication Required", 'proxy-authenticate: Basic realm="x"')
    return [
        _answered("a Basic challenge", "401 Unauthorized", 'www-authenticate: Basic realm="x"'),
        _answered("407 of no proxy", *of_proxy),
        _answered("407 of a proxy", *of_proxy, proxy="on"),
        _answered("502 of a proxy", "502 Bad Gateway", proxy="on"),
        _in_turn("digest MD5-sess", asks("abc", 'qop="auth", algorithm=MD5-sess'), whole(b"1"), digest=True),
        _in_turn("digest auth-int of a POST", posted, whole(b"1"), digest=True, method="POST", body=b"data"),
        _in_turn("digest refused twice", *twice, digest=True),
    ]


def _requests() -> list[Exchange]:
    empty = b"HTTP/1.1 204 No Content\r\n\r\n"
    kept = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
    ended = whole(b"1", more="set-cookie: a=1; max-age=0; path=/|set-cookie: b=2; path=/x")
    large = whole(b"too big", status="413 Content Too Large")
    return [
        _closing("413 while it is sent", large, method="POST", body=b"z" * 300_000),
        one("a generator of single bytes", whole(b"{}"), method="POST", body=b"abcdefgh", pieces=1),
        _in_turn("204, then 200 on one connection", empty, kept, requests=2, keeps=True),
        Exchange("a connection that closes between", ((whole(b"{}"), CLOSE), (whole(b"[]"),)), requests=2),
        _in_turn("a cookie that ends at once", ended, whole(b"2"), requests=2),
        _answered("a path with dots", path="/../a/./b//c;p=1"),
        _answered("a query in Greek", path="?q=\u03b1\u03b2"),
        _answered("a fragment asked for", path="/x?y=1#frag"),
        _answered("PROPFIND", method="PROPFIND", body=b"<a/>"),
        _answered("an unknown method", method="BREW"),
        _answered("OPTIONS", method="OPTIONS", more="allow: GET, POST"),
        _answered("TRACE", method="TRACE"),
    ]


def _texts() -> list[Exchange]:
    events, lines = "text/event-stream", "application/x-ndjson"
    odd = "a\u2028b\rc\u0085d\ufeff".encode()
    return [
        one(
            "an event of 1 MB",
            *chunked(b"data: " + b"a" * 500_000, b"b" * 500_000 + b"\n\n", content_type=events),
        ),
        one("UTF-8 cut between events", *chunked(b"data: caf\xc3", b"\xa9\n\n", content_type=events)),
        one("lines of JSON", *chunked(b'{"a":1}\n{"b"', b':2}\n\n{"c":3}', content_type=lines)),
        one("multipart/mixed answer", whole(b"--x\r\n\r\na\r\n--x--", "multipart/mixed; boundary=x")),
        one("charset that is unknown", whole("caf\xe9".encode("cp1252"), "text/html; charset=windows-9999")),
        one("JSON in UTF-32", whole('{"a":1}'.encode("utf-32"), "application/json; charset=utf-32")),
        one("JSON with deep lists", whole(b"[" * 200 + b"]" * 200)),
        one("JSON with 1e400 and -0", whole(b"[1e400,-0,-0.0,1E+2,0.1e-7]")),
        one("a text with U+2028 and lone CR", whole(odd, "text/plain; charset=utf-8")),
    ]


NEWEST: list[Exchange] = [
    *(*_statuses(), *_headers(), *_chunks(), *_lengths(), *_codings()),
    *(*_redirects(), *_challenges(), *_requests(), *_texts()),
]
