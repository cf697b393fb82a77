"""Interception of httpx and httpx2, in their transports, and response bodies that report their chunks.

Chunks are passed on at once and with their sizes; nothing is read ahead. Of the body streams, one pair of classes records,
and one replays.
"""

from __future__ import annotations

import functools
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from ...exchange.messages import Headers
from .. import open_cassettes
from ..open_cassettes import RequestInFlight

# --- Transports ------------------------------------------------------------------------------------------


@cache
def wrappers(http: Any) -> Sequence[tuple[Any, str, Callable[[Any], Any]]]:
    """Returns each method of httpx or httpx2 to wrap, with its wrapper, which is always the same."""
    return (
        (http.HTTPTransport, "handle_request", functools.partial(_blocking, http)),
        (http.AsyncHTTPTransport, "handle_async_request", functools.partial(_async, http)),
        (http.Client, "_transport_for_url", functools.partial(_choosing, http, _Own)),
        (http.AsyncClient, "_transport_for_url", functools.partial(_choosing, http, _OwnAsync)),
    )


def _blocking(http: Any, real: Any) -> Any:
    def handle_request(transport: Any, request: Any) -> Any:
        cassette = open_cassettes.current()
        if cassette is None or cassette.allows(request.url.host):
            return real(transport, request)
        body = b"".join(request.stream)
        with _sending(http, request, body):
            take = cassette.begin(http, request, body)
            if take.reply is not None:
                return take.response(streams(http).playing(take))
            try:
                response = real(transport, cassette.routed(http, request))
            except BaseException as error:
                take.failed(error)
                raise
        _note(take, response)
        response.stream = streams(http).recording(response.stream, take)
        return response

    return handle_request


def _async(http: Any, real: Any) -> Any:
    async def handle_async_request(transport: Any, request: Any) -> Any:
        cassette = open_cassettes.current()
        if cassette is None or cassette.allows(request.url.host):
            return await real(transport, request)
        body = b"".join([part async for part in request.stream])
        with _sending(http, request, body):
            take = cassette.begin(http, request, body)
            if take.reply is not None:
                return take.response(streams(http).playing(take))
            try:
                response = await real(transport, cassette.routed(http, request))
            except BaseException as error:
                take.failed(error)
                raise
        _note(take, response)
        response.stream = streams(http).recording_async(response.stream, take)
        return response

    return handle_async_request


@contextmanager
def _sending(http: Any, request: Any, body: bytes) -> Iterator[None]:
    """Gives a request its body in one piece, and its own stream again afterwards: a generator that has been read cannot be sent again."""
    stream, request.stream = request.stream, http.ByteStream(body)
    try:
        yield
    finally:
        request.stream = stream


def _note(take: RequestInFlight, response: Any) -> None:
    version = response.extensions.get("http_version", b"HTTP/1.1").decode("latin-1")
    phrase = response.extensions.get("reason_phrase")
    if phrase is None:  # the client looks it up; in a replay, it does so for HTTP/2
        reason = response.reason_phrase if version.startswith("HTTP/1") else ""
    else:
        reason = phrase.decode("latin-1")
    take.answered(response.status_code, reason, lowered(response.headers.raw), version)


def lowered(raw: list[tuple[bytes, bytes]]) -> Headers:
    """Returns headers as text, with names in lower case."""
    return [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw]


# --- Transports of the program's own -----------------------------------------------------------------------


def _choosing(http: Any, own: Any, real: Any) -> Any:
    recorded_itself = (http.HTTPTransport, http.AsyncHTTPTransport, http.MockTransport)

    def transport_for_url(client: Any, url: Any) -> Any:
        transport, cassette = real(client, url), open_cassettes.current()
        if cassette is None or cassette.allows(url.host) or _holds(transport, recorded_itself):
            return transport
        return own(http, transport, cassette)

    return transport_for_url


def _holds(owner: Any, kinds: tuple[type, ...], depth: int = 2) -> bool:
    """Tells whether an object is one of the kinds or keeps one: a transport that retries, say, around httpx's own.

    Such a transport is a part of the program that is tested, so it runs in a replay, too.
    """
    if isinstance(owner, kinds):
        return True
    return depth > 0 and any(
        _holds(part, kinds, depth - 1) for part in getattr(owner, "__dict__", {}).values()
    )


class _Own:
    """A transport of the program's own: an application in the same process, or another client.

    If it sends a request through another recorded client, that client records the request. A `MockTransport` is never
    recorded.
    """

    def __init__(self, http: Any, transport: Any, cassette: Any) -> None:
        self._http, self._transport, self._cassette = http, transport, cassette

    def handle_request(self, request: Any) -> Any:
        """Replays the recorded answer, or asks the transport and records what it answers."""
        body = b"".join(request.stream)
        with _sending(self._http, request, body):
            if (
                self._cassette.holds(request, body)
                and (take := self._cassette.begin(self._http, request, body)).reply is not None
            ):
                return take.response(streams(self._http).playing(take))
            sent = len(self._cassette.sent)
            response = self._transport.handle_request(request)
        if (take := self._begun(request, body, sent)) is not None:
            _note(take, response)
            if not _is_read(take, response):
                response.stream = streams(self._http).recording(response.stream, take)
        return response

    def _begun(self, request: Any, body: bytes, sent: int) -> RequestInFlight | None:
        """Returns the request to record, unless a client that the transport uses has recorded it."""
        url = str(request.url)
        if not self._cassette.records or any(outgoing.url == url for outgoing in self._cassette.sent[sent:]):
            return None
        take: RequestInFlight = self._cassette.begin(self._http, request, body)
        return take


def _is_read(take: RequestInFlight, response: Any) -> bool:
    """Records the body of an answer that was made with it, whose stream nobody reads. Tells whether it is one."""
    if not response.is_stream_consumed and not response.is_closed:
        return False
    take.chunk(response.content)
    take.eof()
    return True


class _OwnAsync(_Own):
    async def handle_async_request(self, request: Any) -> Any:
        """Works like `handle_request`."""
        body = b"".join([part async for part in request.stream])
        with _sending(self._http, request, body):
            if (
                self._cassette.holds(request, body)
                and (take := self._cassette.begin(self._http, request, body)).reply is not None
            ):
                return take.response(streams(self._http).playing(take))
            sent = len(self._cassette.sent)
            response = await self._transport.handle_async_request(request)
        if (take := self._begun(request, body, sent)) is not None:
            _note(take, response)
            if not _is_read(take, response):
                response.stream = streams(self._http).recording_async(response.stream, take)
        return response


# --- Bodies of answers ------------------------------------------------------------------------------------


class Streams:
    """The stream classes for one module, httpx or httpx2 (each checks for its own base classes)."""

    def __init__(self, http: Any) -> None:
        self.recording: Any = type("Recording", (_Recording, http.SyncByteStream), {})
        self.recording_async: Any = type("RecordingAsync", (_RecordingAsync, http.AsyncByteStream), {})
        self.playing: Any = type("Playing", (_Playing, http.SyncByteStream, http.AsyncByteStream), {})


@cache
def streams(http: Any) -> Streams:
    """Returns the classes, which are made once for each module."""
    return Streams(http)


class _Recording:
    def __init__(self, inner: Any, take: RequestInFlight) -> None:
        self._inner, self._take = inner, take
        self._chunks: Any = None
        self._ahead: list[bytes] = []
        if take.whole:
            take.last_words = self._read_on

    def __iter__(self) -> Iterator[bytes]:
        self._chunks = self._chunks or iter(self._inner)
        try:
            for chunk in self._chunks:
                self._take.chunk(chunk)
                yield chunk
        except BaseException as error:
            if not _reads_on(self._take, error):
                self._take.failed(error)
            raise
        while self._ahead:
            yield self._ahead.pop(0)
        self._take.eof()

    def _read_on(self) -> None:
        """Reads the rest for the recording. The client may read it later."""
        self._chunks = self._chunks or iter(self._inner)
        try:
            for chunk in self._chunks:
                self._take.chunk(chunk)
                self._ahead.append(chunk)
        except Exception as error:  # noqa: BLE001  # the client has left, and nobody else is interested
            self._take.failed(error)
        self._take.eof()

    def close(self) -> None:
        try:
            if self._take.whole and not self._take.exchange.ended:
                self._read_on()
            self._inner.close()
        finally:
            self._take.closed()


class _RecordingAsync:
    def __init__(self, inner: Any, take: RequestInFlight) -> None:
        self._inner, self._take = inner, take
        self._chunks: Any = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._chunks = self._chunks or aiter(self._inner)
        try:
            async for chunk in self._chunks:
                self._take.chunk(chunk)
                yield chunk
        except BaseException as error:
            if not _reads_on(self._take, error):
                self._take.failed(error)
            raise
        self._take.eof()

    async def aclose(self) -> None:
        try:
            if self._take.whole and not self._take.exchange.ended:
                async for _ in self:
                    pass
            await self._inner.aclose()
        finally:
            self._take.closed()


def _reads_on(take: RequestInFlight, error: BaseException) -> bool:
    """Tells whether the client only stopped reading, and the rest is read when it closes the answer."""
    return take.whole and isinstance(error, GeneratorExit)


class _Playing:
    """Replays for blocking and async clients, because a virtual clock needs no waiting."""

    def __init__(self, take: RequestInFlight) -> None:
        self._take = take

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._take.play():
            if piece.wait and self._take.clock.real:
                time.sleep(piece.wait)
            yield piece.data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._take.play():
            if piece.wait and self._take.clock.real:
                import anyio  # noqa: PLC0415  # httpx has it; needed only to play in real time

                await anyio.sleep(piece.wait)
            yield piece.data
        if self._take.listens:
            import anyio  # noqa: PLC0415  # httpx has it

            await anyio.sleep_forever()  # the client closes the answer

    def close(self) -> None:
        self._take.closed()

    async def aclose(self) -> None:
        self._take.closed()
