"""Interception of pyreqwest, by a middleware of its own, which is added to each request; blocking and asynchronous.

reqwest is written in Rust and sees no Python sockets. It follows redirects itself: an exchange with redirects is one interaction.
The blocking client reads an answer whole while it is recorded, because its runtime calls no Python code for a stream.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from pyreqwest import exceptions
from pyreqwest.request import (
    OneOffRequestBuilder,
    RequestBody,
    RequestBuilder,
    SyncOneOffRequestBuilder,
    SyncRequestBuilder,
)
from pyreqwest.response import ResponseBuilder

from ...exchange.messages import Failure
from .. import network_guard, open_cassettes
from ..http1 import BrokenError, Outgoing, Wire
from ..open_cassettes import RequestInFlight

# --- Recording -------------------------------------------------------------------------------------------


_WIRE = Wire("pyreqwest")


def wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper."""
    for builder, middleware in ((RequestBuilder, _async), (SyncRequestBuilder, _blocking)):
        yield builder, "build", _adding(middleware)
        yield builder, "build_streamed", _adding(middleware)
    yield OneOffRequestBuilder, "send", _adding(_async)
    yield SyncOneOffRequestBuilder, "send", _adding(_blocking)


def _adding(middleware: Any) -> Any:
    def adding(real: Any) -> Any:
        def build(builder: Any) -> Any:
            return real(builder.with_middleware(middleware) if open_cassettes.any_open() else builder)

        return build

    return adding


def _cassette(request: Any) -> Any:
    parts = urlsplit(str(request.url))
    return network_guard.wrapper_of(
        parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    )


def _blocking(request: Any, following: Any) -> Any:
    cassette = _cassette(request)
    if cassette is None:
        return following.run(request)
    if request.body is not None and (stream := request.body.get_stream()) is not None:
        body = b"".join(bytes(part) for part in stream)
        request = request.from_request_and_body(request, RequestBody.from_bytes(body))
    take = _begun(cassette, request)
    if take.reply is not None:
        builder = _answer(take)
        return (
            builder.body_stream(_played(take)).build_sync()
            if take.reply.pieces
            else _empty(take, builder).build_sync()
        )
    _route(cassette, request)
    url = str(request.url)
    try:
        response = following.run(request)
    except exceptions.PyreqwestError as error:
        take.broke(_failure(error, url))
        raise
    _note(take, response)
    return _copy(response).body_bytes(b"".join(_recorded(take, response.body_reader, url))).build_sync()


async def _async(request: Any, following: Any) -> Any:
    cassette = _cassette(request)
    if cassette is None:
        return await following.run(request)
    if request.body is not None and (stream := request.body.get_stream()) is not None:
        body = b"".join([bytes(part) async for part in stream])
        request = request.from_request_and_body(request, RequestBody.from_bytes(body))
    take = _begun(cassette, request)
    if take.reply is not None:
        builder = _answer(take)
        return await (
            builder.body_stream(_played_async(take)) if take.reply.pieces else _empty(take, builder)
        ).build()
    _route(cassette, request)
    url = str(request.url)
    try:
        response = await following.run(request)
    except exceptions.PyreqwestError as error:
        take.broke(_failure(error, url))
        raise
    _note(take, response)
    return await _copy(response).body_stream(_recorded_async(take, response.body_reader, url)).build()


def _begun(cassette: Any, request: Any) -> RequestInFlight:
    body = request.body.copy_bytes() if request.body is not None else None
    headers = {name: ", ".join(request.headers.getall(name)) for name in {*request.headers}}
    take: RequestInFlight = cassette.begin(
        _WIRE,
        Outgoing.of(request.method, str(request.url), headers),
        bytes(body) if body is not None else b"",
    )
    return take


def _route(cassette: Any, request: Any) -> None:
    if cassette.accept_encoding is not None:
        request.headers["accept-encoding"] = cassette.accept_encoding
    if (target := cassette.target(str(request.url))) != str(request.url):
        request.url = target


def _note(take: RequestInFlight, response: Any) -> None:
    pairs = [
        (name.lower(), value) for name in dict.fromkeys(response.headers) for value in _values(response, name)
    ]
    version: str = response.version
    take.answered(
        response.status, "", pairs, {"HTTP/2.0": "HTTP/2", "HTTP/3.0": "HTTP/3"}.get(version, version)
    )


def _values(response: Any, name: str) -> list[str]:
    """Returns the values of a header. pyreqwest refuses values that are not ASCII, and so does a replay."""
    try:
        return list(response.get_header_all(name))
    except ValueError:
        return ["\xff"]


def _copy(response: Any) -> Any:
    return ResponseBuilder().status(response.status).version(response.version).headers(response.headers)


def _recorded(take: RequestInFlight, reader: Any, url: str) -> Iterator[bytes]:
    try:
        while (chunk := reader.read_chunk()) is not None:
            take.chunk(bytes(chunk))
            yield bytes(chunk)
    except exceptions.PyreqwestError as error:
        take.broke(_failure(error, url))
        raise
    take.eof()


async def _recorded_async(take: RequestInFlight, reader: Any, url: str) -> AsyncIterator[bytes]:
    try:
        while (chunk := await reader.read_chunk()) is not None:
            take.chunk(bytes(chunk))
            yield bytes(chunk)
    except exceptions.PyreqwestError as error:
        take.broke(_failure(error, url))
        raise
    take.eof()


_NAMES = {
    "ConnectTimeoutError": "ConnectTimeout",
    "ConnectError": "ConnectError",
    "ReadTimeoutError": "ReadTimeout",
    "RequestTimeoutError": "ReadTimeout",
    "ReadError": "ReadError",
}


_URL = re.compile(r"(?<=for url \().*(?=\))")


def _failure(error: BaseException, url: str) -> Failure:
    """Returns httpx's name for a failure. Its message has the class, the text and a line for each cause, without the URL of the
    request. That of a redirect stays.
    """
    name, (text, details, *_) = type(error).__name__, (*error.args, "", None)
    causes: list[dict[str, Any]] = (details.get("causes") if isinstance(details, dict) else None) or []
    lines = [f"{name}: {text}", *(str(cause.get("message", "")) for cause in causes)]
    return Failure(
        _NAMES.get(name, "RemoteProtocolError"),
        _URL.sub(lambda found: "" if found[0] == url else found[0], "\n".join(lines)),
    )


# --- Replay ----------------------------------------------------------------------------------------------


_CLASSES = {
    "ConnectTimeout": "ConnectTimeoutError",
    "ConnectError": "ConnectError",
    "ReadTimeout": "ReadTimeoutError",
    "ReadError": "ReadError",
}


def _answer(take: RequestInFlight) -> Any:
    try:
        reply = take.begin_reply()
    except BrokenError as broken:
        raise _as_pyreqwest(broken, take) from None
    version = {"HTTP/2": "HTTP/2.0", "HTTP/3": "HTTP/3.0"}.get(reply.http_version, reply.http_version)
    return ResponseBuilder().status(reply.status).version(version).headers([*reply.headers])


def _empty(take: RequestInFlight, builder: Any) -> Any:
    for _ in take.play():
        pass
    return builder


def _played(take: RequestInFlight) -> Iterator[bytes]:
    try:
        for piece in take.play():
            if piece.wait and take.clock.real:
                time.sleep(piece.wait)
            yield piece.data
    except BrokenError as broken:
        raise _as_pyreqwest(broken, take) from None


async def _played_async(take: RequestInFlight) -> AsyncIterator[bytes]:
    for data in _played(take):
        yield data


def _as_pyreqwest(broken: BrokenError, take: RequestInFlight) -> Exception:
    """Returns the recorded exception: its class is in the message, unless it was recorded with another client."""
    first, *lines = str(broken).split("\n")
    name, colon, text = first.partition(": ")
    kind = getattr(exceptions, name, None) if colon else None
    if kind is None:
        kind, text, lines = getattr(exceptions, _CLASSES.get(broken.error, "ReadError")), str(broken), []
    causes = [{"message": _URL.sub(lambda found: found[0] or str(take.request.url), line)} for line in lines]
    found: Exception = kind(text, {"causes": causes or None})
    return found
