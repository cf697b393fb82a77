"""Thirty exchanges more that a recorder may get wrong: heads that few servers send, addresses that few clients ask for."""

from __future__ import annotations

import gzip

from exchanges import _BR, CLOSE, RESET, Exchange, chunked, head, one, whole

__all__ = ["ODDEST"]

_PLAIN = b'{"said": "' + b"hello " * 50 + b'"}'
_DIGEST = 'www-authenticate: Digest realm="x", nonce="abc", qop="auth", algorithm=SHA-256'


def _heads() -> list[Exchange]:
    def answered(name: str, more: str, status: str = "200 OK") -> Exchange:
        return one(name, whole(b"{}", status=status, more=more))

    return [
        answered("a header in UTF-8", "link: <caf\xc3\xa9>"),
        answered("a type twice", "content-type: text/plain"),
        answered("a cookie thrice, by one name", "set-cookie: a=1|set-cookie: a=2; path=/x|set-cookie: a=3"),
        answered("a cookie with quotes", 'set-cookie: a="b, c; d"; path=/'),
        answered("a space before the colon", "link : <a>"),
        answered("ninety headers", "|".join(f"content-x{n}: {n}" for n in range(90))),
        answered("a header of 60 KB", f"link: <{'a' * 60_000}>"),
        answered("416 of a range", "content-range: bytes */9", "416 Range Not Satisfiable"),
        one("two lengths that differ", head("200 OK", "content-length: 2|content-length: 3") + b"abc", CLOSE),
        one("a length with a sign", head("200 OK", "content-length: +2") + b"{}", CLOSE),
        one("a length below zero", head("200 OK", "content-length: -1") + b"{}", CLOSE),
        one("lines that end with LF", b"HTTP/1.1 200 OK\ncontent-length: 2\nconnection: close\n\n{}", CLOSE),
        one("HTTP/1.2", head("200 OK", "content-length: 2", "HTTP/1.2") + b"{}", CLOSE),
        one("an unknown 1xx before the answer", head("150 Wait", ""), whole(b"{}")),
        one(
            "early hints with a length", head("103 Early Hints", "link: </a>|content-length: 5"), whole(b"{}")
        ),
    ]


def _bodies() -> list[Exchange]:
    ranges = b"--x\r\ncontent-range: bytes 0-1/9\r\n\r\nab\r\n--x\r\ncontent-range: bytes 4-5/9\r\n\r\nef\r\n--x--\r\n"
    both = head("200 OK", "content-length: 99|transfer-encoding: chunked")
    return [
        one("a length and chunks", both + b"2\r\nab\r\n0\r\n\r\n", CLOSE),
        one("204 with a body", head("204 No Content", "content-length: 2") + b"{}", CLOSE),
        one("304 with a length", head("304 Not Modified", 'etag: "a"|content-length: 5')),
        one("several ranges", whole(ranges, "multipart/byteranges; boundary=x", "206 Partial Content")),
        one("the last chunk with an extension", *chunked(b"ab", end=b"0;done=yes\r\n\r\n")),
        one("br, then gzip", whole(gzip.compress(_BR), "text/plain", more="content-encoding: br, gzip")),
        one(
            "a gzip answer to HEAD",
            head("200 OK", "content-length: 80|content-encoding: gzip"),
            method="HEAD",
        ),
        one(
            "events with CR",
            *chunked(b"id: 1\rdata: a\r\r", b"data: b\r\r", content_type="text/event-stream"),
        ),
        one("a reset behind the last chunk", *chunked(b"ab", b"cd"), RESET),
        one(
            "gzip that is longer than its length",
            head("200 OK", "content-encoding: gzip|content-length: 20") + gzip.compress(_PLAIN),
        ),
    ]


def _requests() -> list[Exchange]:
    who = (whole(b"who?", status="401 Unauthorized", more=_DIGEST),)
    return [
        one("names without values", whole(b"{}"), path="?a&b=&=c&&d"),
        one("escapes that are none", whole(b"{}"), path="/%7euser/%41?q=%zz%2"),
        one("a query of 15 KB", whole(b"{}"), path="?q=" + "a%20b" * 3000),
        one("a POST without a body", whole(b"{}"), method="POST", body=b""),
        Exchange(
            "a nonce that is used again", (who, (whole(b"1"),), (whole(b"2"),)), digest=True, requests=2
        ),
    ]


ODDEST = [*_heads(), *_bodies(), *_requests()]
"""All of them."""
