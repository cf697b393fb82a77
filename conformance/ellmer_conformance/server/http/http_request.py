"""Holds a request as it came over HTTP, and the requests and heads that are known by their bytes.

Clients repeat themselves: a request that came whole, in one piece, is known by its bytes when it comes again. Where its body
is another one, its headers are known all the same.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["HttpRequest", "KnownRequests"]

_KNOWN, _SHORT = 1024, 16 * 1024  # requests that are remembered, and the bytes each may have
_HEADS, _SHORT_HEAD = 1024, 4096  # heads, likewise
_LENGTH = re.compile(rb"\r\ncontent-length: ?(0|[1-9][0-9]{0,7})\r\n", re.IGNORECASE)
_ITS_NAME = "content-length"


class HttpRequest(NamedTuple):
    """A request as it came: the target as on the request line, header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""
    keep_alive: bool = True
    version: str = "1.1"

    def __hash__(self) -> int:
        return hash(self.body)  # which tells requests apart, and which bytes remember

    @property
    def host(self) -> str:
        """The host that the client meant: a proxy, or a recorder that reroutes it, says so."""
        return self.headers.get("x-forwarded-host") or self.headers.get("host", "")


class KnownRequests:
    """Short requests and short heads by their bytes, as they came last; the oldest make room.

    Of a head the content length is left out: it is the one thing that depends on the body.
    """

    def __init__(self) -> None:
        self._requests: dict[bytes, HttpRequest] = {}
        self._heads: dict[bytes, HttpRequest] = {}

    def __len__(self) -> int:
        return len(self._requests)

    def find(self, data: bytes) -> HttpRequest | None:
        """Returns the request in the bytes, if all of it or its head came before."""
        return self._requests.get(data) or self._with_known_head(data)

    def remember(self, data: bytes, request: HttpRequest) -> None:
        """Keeps a request that says nothing of the connection."""
        usual = request.keep_alive and request.version == "1.1" and "expect" not in request.headers
        if usual:
            self._remember_whole(data, request)
        if usual and "transfer-encoding" not in request.headers and "upgrade" not in request.headers:
            head, _, _ = _parted(data)
            if head:
                _keep(self._heads, head, request._replace(body=b""), _HEADS)

    def _with_known_head(self, data: bytes) -> HttpRequest | None:
        head, length, body = _parted(data)
        if not head or len(body) != int(length):
            return None
        known = self._heads.get(head)
        if known is None:
            return None
        headers = {**known.headers, "content-length": str(length, "ascii")}
        request = HttpRequest(known.method, known.target, headers, body)
        self._remember_whole(data, request)
        return request

    def _remember_whole(self, data: bytes, request: HttpRequest) -> None:
        if len(data) <= _SHORT:
            _keep(self._requests, data, request, _KNOWN)


def _parted(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Returns a head without its content length, that length, and the body; nothing if the head is long or has none."""
    end = data.find(b"\r\n\r\n", 0, _SHORT_HEAD) + 4
    length = _LENGTH.search(data, 0, end - 2)
    if end == 3 or length is None:
        return b"", b"", b""
    return data[: length.start(1)] + data[length.end(1) : end], length[1], data[end:]


def _keep(known: dict[bytes, HttpRequest], data: bytes, request: HttpRequest, most: int) -> None:
    known[data] = request
    if len(known) > most:
        del known[next(iter(known))]
