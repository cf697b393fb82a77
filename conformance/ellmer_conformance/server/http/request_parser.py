"""Parses HTTP/1.1 requests from the bytes of a client in any chunks, with httptools."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import httptools

from .http_request import LENGTH, HttpRequest, KnownRequests

__all__ = ["MAX_BODY", "MAX_HEAD", "Reader", "Receiver"]

MAX_BODY = 64 * 1024 * 1024  # bytes; the largest request any of the providers takes is 50 MB
MAX_HEAD = 64 * 1024
MAX_TARGET = 16 * 1024  # of the path and the query
_DIGITS = 15  # of a content length; Python counts no further than some thousands


@lru_cache(1024)
def _lower(name: bytes) -> str:
    return name.decode("latin-1").lower()


class Receiver(Protocol):
    """The callbacks for parsed requests. A request that was reported as too large is not reported again."""

    def came(self, request: HttpRequest) -> None:
        """Handles a whole request."""

    def waits(self) -> None:
        """Handles the headers of a request whose body arrives after the client is told to continue."""

    def too_large(self, request: HttpRequest) -> None:
        """Handles the headers of a request whose body is larger than `MAX_BODY`."""

    def nonsense(self, status: int, message: str) -> None:
        """Handles an unreadable request, with the reason."""


class Reader:
    """Reads one connection. `known` is `None` if no request may be stored."""

    def __init__(self, receiver: Receiver, known: KnownRequests | None) -> None:
        self._receiver = receiver
        self._known = known
        self._parser = httptools.HttpRequestParser(self)
        self._between = True  # requests: the next byte begins one
        self._came: list[HttpRequest] = []  # of the bytes that are being read
        self._unfinished = 0  # bytes of a head, or around the pieces of a body, that have not become anything
        self._body_size = 0

    def feed(self, data: bytes) -> None:
        """Reads more bytes and calls the receiver."""
        known = self._known if self._between else None
        if known is not None and (request := known.find(data)):
            self._receiver.came(request)
            return
        self._came.clear()
        body = self._body_size
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return  # an offer to switch protocols may be ignored; the request itself was complete
        except httptools.HttpParserError as error:
            self._receiver.nonsense(400, f"This is not HTTP/1.1: {error}\n")
            return
        self._unfinished += len(data) if self._body_size == body else -self._unfinished
        if self._unfinished > MAX_HEAD and not self._between:
            self._receiver.nonsense(431, "The request's headers are larger than 64 KB.\n")
        if known is not None and self._between and len(self._came) == 1:
            known.remember(data, self._came[0])

    # from the parser --------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self._between = False
        self._target = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._head_size = self._body_size = self._unfinished = 0

    def on_url(self, url: bytes) -> None:
        self._target += url
        self._head_size += len(url)
        if len(self._target) > MAX_TARGET:
            self._target = self._target[:MAX_TARGET]
            self._receiver.nonsense(414, "The request's target is larger than 16 KB.\n")

    def on_header(self, name: bytes, value: bytes) -> None:
        key, text = _lower(name), value.decode("latin-1")
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text
        self._head_size += len(name) + len(value)
        if self._head_size > MAX_HEAD:
            self._receiver.nonsense(431, "The request's headers are larger than 64 KB.\n")

    def on_headers_complete(self) -> None:
        length = self._headers.get(LENGTH, "")
        if length.isdecimal() and (len(length) > _DIGITS or int(length) > MAX_BODY):
            self._receiver.too_large(self._request())
        elif self._headers.get("expect", "").lower() == "100-continue":
            self._receiver.waits()

    def on_body(self, body: bytes) -> None:
        self._body_size += len(body)
        if self._body_size <= MAX_BODY:
            self._body.append(body)
        else:
            self._body.clear()
            self._receiver.too_large(self._request())

    def on_message_complete(self) -> None:
        request = self._request()
        self._between, self._unfinished = request.keep_alive, 0
        self._came.append(request)
        self._receiver.came(request)

    def _request(self) -> HttpRequest:
        return HttpRequest(
            self._parser.get_method().decode("latin-1"),
            self._target.decode("latin-1"),
            self._headers,
            b"".join(self._body),
            self._parser.should_keep_alive(),
            self._parser.get_http_version(),
        )
