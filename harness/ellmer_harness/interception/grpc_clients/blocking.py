"""Intercepts all kinds of calls of grpcio's blocking client."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import grpc
from grpc import _channel

from ..request_in_flight import RequestInFlight
from .calls import begin, patient, player, serialized, tape_of, url_of
from .messages import as_written
from .playing import Player
from .recording import Noted, Status

__all__ = ["wrappers"]

_WAYS = ("__call__", "with_call", "future")
_KIND = re.compile(r"(Unary|Stream)(Unary|Stream)MultiCallable$")
_ARGUMENTS = ("timeout", "metadata", "credentials", "wait_for_ready", "compression")


def wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper."""
    for name, owner in [*vars(_channel).items()]:
        if (found := _KIND.search(name)) and not getattr(owner, "__abstractmethods__", ()):
            kind = f"{found[1]}_{found[2]}".lower()
            yield from (
                (owner, way, partial(_wrapper, kind, owner, way)) for way in _WAYS if way in vars(owner)
            )


def _wrapper(kind: str, owner: Any, way: str, real: Any) -> Any:
    # A call that waits for its one answer is made so that its status can be read afterwards.
    made = (
        inspect.unwrap(vars(owner)["with_call"]) if way == "__call__" and "with_call" in vars(owner) else real
    )
    streams = kind.startswith("stream")

    def call(multi: Any, request: Any, *args: Any, **options: Any) -> Any:
        url = url_of(_text(multi._target), multi._method)  # noqa: SLF001  # nothing public tells these
        tape = tape_of(url)
        body = b"" if streams or tape is None else serialized(request, multi._request_serializer)  # noqa: SLF001
        if tape is None or body is None:
            return real(multi, request, *args, **options)
        given = dict(zip(_ARGUMENTS, args, strict=False)) | options
        take = begin(tape, url, given.get("metadata"), given.get("timeout"), body)
        if take.reply is not None:
            return _played(player(tape), take, kind, way, multi)(request, **given)
        noted = Noted(tape, take, streams)
        request = noted.watched(iter(request)) if streams else request
        spied = _spied(noted, kind, multi, tape.target(url), url)
        if kind.endswith("unary") and way != "future":
            response, ended = _waited(noted, made, spied, request, given)
            return response if way == "__call__" else (response, ended)
        return _followed(noted, real(spied, request, **given))

    def by_keyword(multi: Any, *args: Any, **options: Any) -> Any:
        name = "request_iterator" if streams else "request"
        return call(multi, *args, **options) if args else call(multi, options.pop(name), **options)

    return by_keyword


def _played(playing: Player, take: RequestInFlight, kind: str, way: str, multi: Any) -> Callable[..., Any]:
    """Returns the same call to the server that plays it, without call credentials."""
    serializer = partial(as_written, serializer=multi._request_serializer)  # noqa: SLF001  # nothing public tells these
    local = _multi(playing.channel, kind, multi._method, serializer, multi._response_deserializer)  # noqa: SLF001
    made = inspect.unwrap(getattr(type(local), way))

    def call(request: Any, timeout: float | None = None, **_: Any) -> Any:
        return made(local, request, timeout=patient(timeout, lambda: 0), metadata=playing.expect(take))

    return call


def _spied(noted: Noted, kind: str, multi: Any, target: str, url: str) -> Any:
    """Returns the same call and records its messages. It uses another channel if the tape has a route for it."""
    serializer = noted.serializer(multi._request_serializer)  # noqa: SLF001
    deserializer = noted.deserializer(multi._response_deserializer)  # noqa: SLF001
    if target != url:
        return _multi(_routed(target), kind, multi._method, serializer, deserializer)  # noqa: SLF001
    spied = copy.copy(multi)
    spied._request_serializer, spied._response_deserializer = serializer, deserializer  # noqa: SLF001
    return spied


def _waited(noted: Noted, made: Any, spied: Any, request: Any, given: dict[str, Any]) -> Any:
    try:
        response, call = made(spied, request, **given)
    except grpc.RpcError as error:
        noted.ended(_status(error))
        raise
    except BaseException:
        noted.take.closed()
        raise
    noted.ended(_status(call))
    return response, call


def _followed(noted: Noted, call: Any) -> Any:
    """Returns a call that continues. The same thread of gRPC reports the end and the metadata, so another
    thread waits for the metadata.
    """
    end = Thread(target=lambda: noted.ended(_status(call)), daemon=True)
    noted.take.last_words = lambda: None if call.is_active() else noted.wait()
    if not call.add_callback(end.start):
        end.start()
    return call


def _status(call: Any) -> Status:
    return Status(call.code().name, call.details() or "", call.initial_metadata(), call.trailing_metadata())


def _multi(channel: Any, kind: str, method: Any, serializer: Any, deserializer: Any) -> Any:
    return getattr(channel, kind)(
        _text(method), request_serializer=serializer, response_deserializer=deserializer
    )


@cache
def _routed(target: str) -> Any:
    parts = urlsplit(target)
    if parts.scheme in ("https", "grpcs"):
        return grpc.secure_channel(parts.netloc, grpc.ssl_channel_credentials())
    return grpc.insecure_channel(parts.netloc)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
