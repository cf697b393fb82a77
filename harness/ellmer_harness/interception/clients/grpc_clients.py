"""gRPC: calls of grpcio's clients, blocking and `grpc.aio`, are recorded, and replayed by a server on this
machine.

gRPC opens its sockets outside Python, where no audit hook sees them. Calls are therefore intercepted in the
client. A call is one interaction of a cassette: a POST to `grpc://host:port/package.Service/Method`.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import re
import time
import weakref
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from functools import cache, partial, wraps
from threading import Thread
from typing import Any
from urllib.parse import quote, urlsplit

import grpc
from grpc import _channel as _blocking_channel  # pyright: ignore[reportAttributeAccessIssue]  # its stubs leave it out
from grpc import aio
from grpc.aio import _call, _channel  # pyright: ignore[reportAttributeAccessIssue]  # likewise

from ...errors import Blocked
from ...format.binary_messages import compact, form
from .. import network_guard, open_cassettes
from ..http1 import Outgoing, Wire
from ..open_cassettes import RequestInFlight
from .grpc_conversations import LOCAL_CHANNEL, Noted, Player, Status, as_written, pairs


def wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper."""
    yield from _blocking_wrappers()
    yield from _async_wrappers()


# --- A call and its cassette ---------------------------------------------------------------------------------


_WIRE = Wire("grpc")
_RESOLVER = re.compile(r"^(?:dns|ipv4|ipv6|passthrough|xds):(?://[^/]*/)?")
_LOCAL = ("127.0.0.1", "::1", "localhost")
_AT_LEAST = 60  # seconds: a slow machine must not cause a timeout
_PLAYERS: dict[int, Player] = {}


def url_of(target: str, method: Any) -> str:
    """Returns the URL of a method: `grpc://api.example.com:443/package.Service/Method`."""
    path = method.decode() if isinstance(method, bytes) else str(method)
    place = quote(target, safe="") if target.startswith("unix") else _RESOLVER.sub("", target)
    return f"grpc://{place}{path}"


def wrapper_of(url: str) -> Any:
    """Returns the cassette that a call belongs to, if it is to be recorded or replayed."""
    cassette = None if network_guard.set_aside() else open_cassettes.current()
    if cassette is None or not cassette.takes("grpc"):
        return None
    host = urlsplit(url).hostname or ""
    return None if cassette.allows(host) or (host in _LOCAL and cassette.allows("localhost")) else cassette


def serialized(request: Any, serializer: Callable[[Any], bytes] | None) -> bytes | None:
    """Returns the body for the lookup of a call. It is `None` if the message cannot be serialized; the client
    then raises its own error.
    """
    try:
        return compact(form(as_written(request, serializer)))
    except Exception:  # noqa: BLE001  # a serializer may be anybody's
        return None


def begin(  # noqa: PLR0917  # as a call has them
    cassette: Any, url: str, metadata: Any, timeout: float | None, body: bytes, kind: str
) -> RequestInFlight:
    """Returns the call in flight. Raises `Miss` if it is not recorded. `metadata` has name-value pairs, and `kind` is one such
    as `unary_stream`.
    """
    headers = {"content-type": "application/grpc"}
    for name, value in pairs(metadata):
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    request = Outgoing.of("POST", url, headers, read=timeout)
    request = replace(request, extensions={**request.extensions, "kind": kind})
    take: RequestInFlight = cassette.begin(_WIRE, request, body)
    return take


def player(cassette: Any) -> Player:
    """Returns the server that replays the calls of a cassette. It is closed with the cassette."""
    key = id(cassette)
    if key not in _PLAYERS:
        _PLAYERS[key] = Player(cassette)
        open_cassettes.when_closed(cassette, lambda: _PLAYERS.pop(key).close())
    return _PLAYERS[key]


def patient(deadline: float | None, now: Callable[[], float] = time.time) -> float | None:
    """Returns a longer deadline for a replay. Recorded deadline errors are replayed anyway."""
    return None if deadline is None else max(deadline, now() + _AT_LEAST)


# --- The blocking client ---------------------------------------------------------------------------------


_METHODS = ("__call__", "with_call", "future")
_KIND = re.compile(r"(Unary|Stream)(Unary|Stream)MultiCallable$")
_ARGUMENTS = ("timeout", "metadata", "credentials", "wait_for_ready", "compression")


def _blocking_wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper."""
    for name, owner in [*vars(_blocking_channel).items()]:
        if (found := _KIND.search(name)) and not getattr(owner, "__abstractmethods__", ()):
            kind = f"{found[1]}_{found[2]}".lower()
            yield from (
                (owner, method, partial(_blocking_wrapper, kind, owner, method))
                for method in _METHODS
                if method in vars(owner)
            )


def _blocking_wrapper(kind: str, owner: Any, method: str, real: Any) -> Any:
    # A call that waits for its one answer is made so that its status can be read afterwards.
    function = (
        inspect.unwrap(vars(owner)["with_call"])
        if method == "__call__" and "with_call" in vars(owner)
        else real
    )
    streams = kind.startswith("stream")

    def call(multi: Any, request: Any, *args: Any, **options: Any) -> Any:
        url = url_of(_text(multi._target), multi._method)  # noqa: SLF001  # nothing public tells these
        cassette = wrapper_of(url)
        body = b"" if streams or cassette is None else serialized(request, multi._request_serializer)  # noqa: SLF001 - nothing public tells these
        if cassette is None or body is None:
            return real(multi, request, *args, **options)
        arguments = dict(zip(_ARGUMENTS, args, strict=False)) | options
        take = begin(cassette, url, arguments.get("metadata"), arguments.get("timeout"), body, kind)
        if take.reply is not None:
            return _played(player(cassette), take, kind, method, multi)(request, **arguments)
        noted = Noted(cassette, take, streams)
        request = noted.watched(iter(request)) if streams else request
        spied = _spied(noted, kind, multi, cassette.target(url), url)
        if kind.endswith("unary") and method != "future":
            response, ended = _waited(noted, function, spied, request, arguments)
            return response if method == "__call__" else (response, ended)
        return _followed(noted, real(spied, request, **arguments))

    def by_keyword(multi: Any, *args: Any, **options: Any) -> Any:
        name = "request_iterator" if streams else "request"
        return call(multi, *args, **options) if args else call(multi, options.pop(name), **options)

    return by_keyword


def _played(playing: Player, take: RequestInFlight, kind: str, method: str, multi: Any) -> Callable[..., Any]:
    """Returns the same call to the server that replays it, without call credentials."""
    serializer = partial(as_written, serializer=multi._request_serializer)  # noqa: SLF001  # nothing public tells these
    local = _multi(playing.channel, kind, multi._method, serializer, multi._response_deserializer)  # noqa: SLF001 - nothing public tells these
    function = inspect.unwrap(getattr(type(local), method))

    def call(request: Any, timeout: float | None = None, **_: Any) -> Any:
        return function(local, request, timeout=patient(timeout, lambda: 0), metadata=playing.expect(take))

    return call


def _spied(noted: Noted, kind: str, multi: Any, target: str, url: str) -> Any:
    """Returns the same call and records its messages. It uses another channel if the cassette has a route for it."""
    serializer = noted.serializer(multi._request_serializer)  # noqa: SLF001 - nothing public tells these
    deserializer = noted.deserializer(multi._response_deserializer)  # noqa: SLF001 - nothing public tells these
    if target != url:
        return _multi(_routed(target), kind, multi._method, serializer, deserializer)  # noqa: SLF001 - nothing public tells these
    spied = copy.copy(multi)
    spied._request_serializer, spied._response_deserializer = serializer, deserializer  # noqa: SLF001 - nothing public tells these
    return spied


def _waited(noted: Noted, function: Any, spied: Any, request: Any, arguments: dict[str, Any]) -> Any:
    try:
        response, call = function(spied, request, **arguments)
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


# --- grpc.aio --------------------------------------------------------------------------------------------


_KINDS = {
    "UnaryUnaryCall": "unary_unary",
    "UnaryStreamCall": "unary_stream",
    "StreamUnaryCall": "stream_unary",
    "StreamStreamCall": "stream_stream",
}
_TARGETS: dict[int, str] = {}  # of channels, by the number of what they keep inside
_CHANNELS: weakref.WeakKeyDictionary[Any, dict[str, Any]] = (
    weakref.WeakKeyDictionary()
)  # of ours, by event loop
_UNKNOWN = (
    "a call of {} goes through a channel of grpc.aio that was created before the first cassette was opened. "
    "Create the channel inside the cassette, for example in a fixture that uses `cassette`."
)


def _async_wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper."""
    _note_targets()
    for name, kind in _KINDS.items():
        yield getattr(_call, name), "__init__", partial(_async_wrapper, kind)


@cache
def _note_targets() -> None:
    """Notes the target of every channel that the process makes from now on."""
    real = _channel.Channel.__init__

    @wraps(real)
    def init(channel: Any, target: str, *args: Any, **options: Any) -> None:
        real(channel, target, *args, **options)
        number = id(channel._channel)  # noqa: SLF001  # nothing public tells this
        _TARGETS[number] = target
        weakref.finalize(channel, _TARGETS.pop, number, None)

    _channel.Channel.__init__ = init


def _async_wrapper(kind: str, real: Any) -> Any:
    signature, streams = inspect.signature(real), kind.startswith("stream")

    def init(call: Any, *args: Any, **options: Any) -> None:
        bound = signature.bind(call, *args, **options)
        arguments = bound.arguments
        target = _TARGETS.get(id(arguments["channel"]))
        url = url_of(target or "unknown", arguments["method"])
        cassette = wrapper_of(url)
        body = (
            b""
            if streams or cassette is None
            else serialized(arguments["request"], arguments["request_serializer"])
        )
        if cassette is None or body is None:
            real(*bound.args, **bound.kwargs)
            return
        if target is None:
            raise cassette.missed(_UNKNOWN.format(url), Blocked)
        take = begin(cassette, url, arguments["metadata"], None, body, kind)
        if take.reply is not None:
            _play(real, bound, cassette, take)
        else:
            _record(real, bound, Noted(cassette, take, streams), cassette.target(url), url)

    return init


def _play(real: Any, bound: Any, cassette: Any, take: RequestInFlight) -> None:
    arguments, playing = bound.arguments, player(cassette)
    arguments["deadline"] = patient(arguments["deadline"])
    arguments["metadata"] = aio.Metadata(*playing.expect(take))
    arguments["request_serializer"] = partial(as_written, serializer=arguments["request_serializer"])
    _lead(arguments, playing.target, LOCAL_CHANNEL, cassette)
    real(*bound.args, **bound.kwargs)
    initial = aio.Metadata(*playing.metadata(take))

    async def initial_metadata() -> Any:
        return initial

    bound.args[0].initial_metadata = initial_metadata  # the client loses them where an error follows at once


def _record(real: Any, bound: Any, noted: Noted, target: str, url: str) -> None:
    arguments = bound.arguments
    arguments["request_serializer"] = noted.serializer(arguments["request_serializer"])
    arguments["response_deserializer"] = noted.deserializer(arguments["response_deserializer"])
    if target != url:
        _lead(arguments, target)
    real(*bound.args, **bound.kwargs)
    call, loop = bound.args[0], asyncio.get_running_loop()
    if noted.streams:
        call._done_writing = partial(_done_writing, noted, call._done_writing)  # noqa: SLF001  # both ways end here
    noted.take.last_words = lambda: _end(noted, call) if call.done() else None
    call.add_done_callback(
        lambda _: loop.call_soon(_follow, noted, call, loop)
    )  # after the last message was read


async def _done_writing(noted: Noted, real: Callable[[], Coroutine[Any, Any, None]]) -> None:
    noted.half_closed()
    await real()


def _follow(noted: Noted, call: Any, loop: asyncio.AbstractEventLoop) -> None:
    """Follows a call to its end. The status may arrive before the metadata."""
    task = loop.create_task(call.initial_metadata())
    task.add_done_callback(lambda _: _end(noted, call))


def _end(noted: Noted, call: Any) -> None:
    code, details = _known(call.code()), _known(call.details())
    metadata = _known(call.initial_metadata()), _known(call.trailing_metadata())
    noted.ended(Status(code.name, details or "", *metadata))


def _known(told: Coroutine[Any, Any, Any]) -> Any:
    """Returns the parts of a finished call that are available without waiting."""
    try:
        told.send(None)
    except StopIteration as end:
        return end.value
    told.close()
    return None


def _lead(arguments: dict[str, Any], target: str, options: Any = None, cassette: Any = None) -> None:
    """Makes a call through a channel of ours. A channel to the server of a cassette is closed with the cassette."""
    mine = _CHANNELS.setdefault(asyncio.get_running_loop(), {})
    if target not in mine:
        mine[target] = _opened(target, options)
        if cassette is not None:
            open_cassettes.when_closed(cassette, partial(mine.pop, target, None))
    arguments["channel"] = mine[target]._channel  # noqa: SLF001 - nothing public tells these
    arguments["credentials"] = None
    arguments.pop("registered_call_handle", None)  # it is of the other channel


def _opened(target: str, options: Any) -> Any:
    parts = urlsplit(target if "//" in target else f"//{target}")
    if parts.scheme in ("https", "grpcs"):
        return aio.secure_channel(parts.netloc, grpc.ssl_channel_credentials(), options)
    return aio.insecure_channel(parts.netloc, options)
