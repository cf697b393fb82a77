"""Intercepts requests: while a tape is open, it wraps the transports of httpx and httpx2 and the connections
of urllib3 and aiohttp.

Nothing else is patched. Without an open tape, the wrappers only call the original. A request belongs to the
tape of its own context (a task, or a thread with a context). A thread without a context belongs to the tape
of the process if there is only one.
"""

from __future__ import annotations

import functools
import importlib
import sys
from importlib.util import find_spec
from threading import RLock
from typing import Any

from ..exchange.messages import Headers
from . import open_tapes, websocket_clients
from .httpx_body_streams import streams
from .late_imports import LateImports
from .open_tapes import OpenTape
from .request_in_flight import RequestInFlight

__all__ = ["close", "lowered", "open_"]

_MODULES = ("httpx", "httpx2")
_SEAMS = {"urllib3": ".urllib3_connections", "aiohttp": ".aiohttp_connections", "grpc": ".grpc_clients"}
_MARK = "_ellmer_harness_original"
_LOCK = RLock()
_LATE = LateImports()
_ORIGINALS: dict[tuple[Any, str], Any] = {}
_installed = functools.cache(find_spec)  # every tape asks


def open_(tape: OpenTape) -> OpenTape | None:
    """Makes the tape the current one of this context, and returns the previous one."""
    with _LOCK:
        if not open_tapes.any_open():
            _install()
        return open_tapes.push(tape)


def close(tape: OpenTape, before: OpenTape | None) -> None:
    """Reverts `open_`. After the last tape, the transports are unpatched."""
    with _LOCK:
        open_tapes.remove(tape, before)
        if not open_tapes.any_open():
            _uninstall()


def _install() -> None:
    for name in _MODULES:
        if name in sys.modules or _installed(name):
            http = importlib.import_module(name)
            _wrap(http.HTTPTransport, "handle_request", functools.partial(_blocking, http))
            _wrap(http.AsyncHTTPTransport, "handle_async_request", functools.partial(_async, http))
    for name in _SEAMS:
        if name in sys.modules:  # vcrpy has imported most of them
            _wrap_client(name)
        elif find_spec(name):
            _LATE.when(name, functools.partial(_wrap_client, name))
    for owner, method, wrapper in websocket_clients.wrappers():
        _wrap(owner, method, wrapper)


def _wrap_client(name: str) -> None:
    with _LOCK:
        for owner, method, wrapper in importlib.import_module(_SEAMS[name], __package__).wrappers():
            _wrap(owner, method, wrapper)


def _wrap(owner: Any, method: str, wrapper: Any) -> None:
    original = getattr(owner, method)
    # Another patch may have been removed, which restored ours. Ours must not be wrapped again.
    original = getattr(original, _MARK, original)
    wrapped = functools.wraps(original)(wrapper(original))
    setattr(wrapped, _MARK, original)
    _ORIGINALS[owner, method] = original, wrapped
    setattr(owner, method, wrapped)


def _uninstall() -> None:
    _LATE.stop()
    for (owner, method), (original, wrapped) in _ORIGINALS.items():
        if getattr(owner, method) is wrapped:  # else somebody patched over it, and puts back what they found
            setattr(owner, method, original)
    _ORIGINALS.clear()


def _blocking(http: Any, real: Any) -> Any:
    def handle_request(transport: Any, request: Any) -> Any:
        tape = open_tapes.current()
        if tape is None or tape.allows(request.url.host):
            return real(transport, request)
        body = b"".join(request.stream)
        request.stream = http.ByteStream(body)
        take = tape.begin(http, request, body)
        if take.reply is not None:
            return take.response(streams(http).playing(take))
        try:
            response = real(transport, tape.routed(http, request))
        except BaseException as error:
            take.failed(error)
            raise
        _note(take, response)
        response.stream = streams(http).recording(response.stream, take)
        return response

    return handle_request


def _async(http: Any, real: Any) -> Any:
    async def handle_async_request(transport: Any, request: Any) -> Any:
        tape = open_tapes.current()
        if tape is None or tape.allows(request.url.host):
            return await real(transport, request)
        body = b"".join([part async for part in request.stream])
        request.stream = http.ByteStream(body)
        take = tape.begin(http, request, body)
        if take.reply is not None:
            return take.response(streams(http).playing(take))
        try:
            response = await real(transport, tape.routed(http, request))
        except BaseException as error:
            take.failed(error)
            raise
        _note(take, response)
        response.stream = streams(http).recording_async(response.stream, take)
        return response

    return handle_async_request


def _note(take: RequestInFlight, response: Any) -> None:
    reason = response.extensions.get("reason_phrase", b"").decode("latin-1")
    version = response.extensions.get("http_version", b"HTTP/1.1").decode("latin-1")
    take.answered(response.status_code, reason, lowered(response.headers.raw), version)


def lowered(raw: list[tuple[bytes, bytes]]) -> Headers:
    """Returns headers as text, with names in lower case."""
    return [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw]
