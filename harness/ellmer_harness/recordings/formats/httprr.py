"""Traces of httprr, which Go projects use: requests and answers in HTTP/1.1, each with its length.

https://pkg.go.dev/golang.org/x/oscar/internal/httprr
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse, parse_headers

from ...exchange.messages import Headers
from ..interaction import Interaction, value_of
from .vcr import moment

MAGIC = b"httprr trace v1\n"


def exchanges(data: bytes) -> Iterator[Interaction]:
    """Yields the exchanges of a trace. Raises `ValueError` if it is truncated."""
    stream = io.BytesIO(data.removeprefix(MAGIC))
    at = 0
    while line := stream.readline():
        sizes = line.split()
        if len(sizes) != 2 or not all(size.isdigit() for size in sizes):
            raise ValueError(f"exchange {at} begins with {line[:40]!r}, not with two lengths")
        sent, got = (stream.read(int(size)) for size in sizes)
        if len(got) < int(sizes[1]):
            raise ValueError(f"exchange {at} is truncated")
        try:
            yield _exchange(sent, got, f"/{at}")
        except (HTTPException, ValueError) as error:
            raise ValueError(
                f"the lengths of exchange {at} do not match its content (were line ends changed?)"
            ) from error
        at += 1


def _exchange(sent: bytes, got: bytes, place: str) -> Interaction:
    stream = io.BytesIO(sent)
    method, url, _ = stream.readline().decode("latin-1").split(" ", 2)
    sent_headers = _pairs(parse_headers(stream).items())
    answer = HTTPResponse(_Socket(_in_http_1(got)), method=method)  # type: ignore[arg-type]  # it only reads
    answer.begin()
    headers = _pairs(answer.getheaders())
    return Interaction(
        place=place,
        method=method,
        url=url,
        sent=sent_headers,
        body=stream.read(),
        status=answer.status,
        reason=answer.reason,
        headers=headers,
        content=answer.read(),
        when=moment(value_of(headers, "date")),
    )


def _in_http_1(answer: bytes) -> bytes:
    """Returns the answer with the status line of HTTP/1.1. Go writes HTTP/2's answers in the form of HTTP/1.1."""
    return re.sub(rb"\AHTTP/[23](\.0)?(?= )", b"HTTP/1.1", answer)


def _pairs(headers: object) -> Headers:
    return [(str(name).lower(), str(value)) for name, value in headers]  # type: ignore[attr-defined]  # a value that is no list raises, and the file is damaged


class _Socket:
    """The part of a socket that `HTTPResponse` uses."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)
