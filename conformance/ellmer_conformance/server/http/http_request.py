"""The parsed HTTP request, and a cache of short requests and heads.

Clients repeat requests. A request that arrives in one piece is found by its bytes if it arrives again. If only its
body differs, its headers are found.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["LENGTH", "HttpRequest", "KnownRequests"]

LENGTH = "content-length"  # the only header that depends on the body

_KNOWN, _SHORT = 1024, 16 * 1024  # requests that are remembered, and the bytes each may have
_HEADS, _SHORT_HEAD = 1024, 4096  # heads, likewise
_LENGTH = re.compile(rb"\r\ncontent-length: ?(0|[1-9][0-9]{0,7})\r\n", re.IGNORECASE)


class HttpRequest(NamedTuple):
    """A request as it arrived: the target of the request line, and header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""
    keep_alive: bool = True
    version: str = "1.1"

    def __hash__(self) -> int:
        return hash(self.body)  # differs between requests, and bytes cache their hash

    @property
    def host(self) -> str:
        """The host that the client called. A proxy or a rerouting recorder names it in a header."""
        return self.headers.get("x-forwarded-host") or self.headers.get("host", "")


class KnownRequests:
    """A cache of short requests and short heads by their bytes. The oldest are dropped.

    A head is stored without its content length, because only that header depends on the body.
    """

    def __init__(self) -> None:
        self._requests: dict[bytes, HttpRequest] = {}
        self._heads: dict[bytes, HttpRequest] = {}

    def __len__(self) -> int:
        return len(self._requests)

    def find(self, data: bytes) -> HttpRequest | None:
        """Returns the request in the bytes if the whole request, or its head, is in the cache."""
        return self._requests.get(data) or self._with_known_head(data)

    def remember(self, data: bytes, request: HttpRequest) -> None:
        """Stores a request, unless it has headers about the connection."""
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
        headers = {**known.headers, LENGTH: str(length, "ascii")}
        request = HttpRequest(known.method, known.target, headers, body)
        self._remember_whole(data, request)
        return request

    def _remember_whole(self, data: bytes, request: HttpRequest) -> None:
        if len(data) <= _SHORT:
            _keep(self._requests, data, request, _KNOWN)


def _parted(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Returns a head without its content length, that length, and the body. All three are empty if the head is long
    or has no content length.
    """
    end = data.find(b"\r\n\r\n", 0, _SHORT_HEAD) + 4
    length = _LENGTH.search(data, 0, end - 2)
    if end == 3 or length is None:
        return b"", b"", b""
    return data[: length.start(1)] + data[length.end(1) : end], length[1], data[end:]


def _keep(known: dict[bytes, HttpRequest], data: bytes, request: HttpRequest, most: int) -> None:
    known[data] = request
    if len(known) > most:
        del known[next(iter(known))]
