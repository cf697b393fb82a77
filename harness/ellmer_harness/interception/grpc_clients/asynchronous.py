"""Intercepts each call of `grpc.aio` that really leaves, after all interceptors of the channel."""

from __future__ import annotations

import asyncio
import inspect
import weakref
from collections.abc import Callable, Coroutine, Iterator
from functools import cache, partial, wraps
from typing import Any
from urllib.parse import urlsplit

import grpc
from grpc import aio
from grpc.aio import _call, _channel

from ...errors import Blocked
from .. import open_tapes
from ..request_in_flight import RequestInFlight
from .calls import begin, patient, player, serialized, tape_of, url_of
from .messages import as_written
from .playing import LOCAL_CHANNEL
from .recording import Noted, Status

__all__ = ["wrappers"]

_KINDS = {
    "UnaryUnaryCall": False,
    "UnaryStreamCall": False,
    "StreamUnaryCall": True,
    "StreamStreamCall": True,
}
_TARGETS: dict[int, str] = {}  # of channels, by the number of what they keep inside
_CHANNELS: weakref.WeakKeyDictionary[Any, dict[str, Any]] = (
    weakref.WeakKeyDictionary()
)  # of ours, by event loop
_UNKNOWN = (
    "a call of {} goes through a channel of grpc.aio that was created before the first cassette was opened. "
    "Create the channel inside the cassette, for example in a fixture that uses `cassette`."
)


def wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper."""
    _note_targets()
    for name, streams in _KINDS.items():
        yield getattr(_call, name), "__init__", partial(_wrapper, streams)


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


def _wrapper(streams: bool, real: Any) -> Any:
    signature = inspect.signature(real)

    def init(call: Any, *args: Any, **options: Any) -> None:
        bound = signature.bind(call, *args, **options)
        given = bound.arguments
        target = _TARGETS.get(id(given["channel"]))
        url = url_of(target or "unknown", given["method"])
        tape = tape_of(url)
        body = b"" if streams or tape is None else serialized(given["request"], given["request_serializer"])
        if tape is None or body is None:
            real(*bound.args, **bound.kwargs)
            return
        if target is None:
            raise tape.missed(_UNKNOWN.format(url), Blocked)
        take = begin(tape, url, given["metadata"], None, body)
        if take.reply is not None:
            _play(real, bound, tape, take)
        else:
            _record(real, bound, Noted(tape, take, streams), tape.target(url), url)

    return init


def _play(real: Any, bound: Any, tape: Any, take: RequestInFlight) -> None:
    given, playing = bound.arguments, player(tape)
    given["deadline"] = patient(given["deadline"])
    given["metadata"] = aio.Metadata(*playing.expect(take))
    given["request_serializer"] = partial(as_written, serializer=given["request_serializer"])
    _lead(given, playing.target, LOCAL_CHANNEL, tape)
    real(*bound.args, **bound.kwargs)
    initial = aio.Metadata(*playing.metadata(take))

    async def initial_metadata() -> Any:
        return initial

    bound.args[0].initial_metadata = initial_metadata  # the client loses them where an error follows at once


def _record(real: Any, bound: Any, noted: Noted, target: str, url: str) -> None:
    given = bound.arguments
    given["request_serializer"] = noted.serializer(given["request_serializer"])
    given["response_deserializer"] = noted.deserializer(given["response_deserializer"])
    if target != url:
        _lead(given, target)
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
    known = _known(call.initial_metadata()), _known(call.trailing_metadata())
    noted.ended(Status(code.name, details or "", *known))


def _known(told: Coroutine[Any, Any, Any]) -> Any:
    """Returns the parts of a finished call that are available without waiting."""
    try:
        told.send(None)
    except StopIteration as end:
        return end.value
    told.close()
    return None


def _lead(given: dict[str, Any], target: str, options: Any = None, tape: Any = None) -> None:
    """Makes a call through a channel of ours. A channel to the server of a tape is closed with the tape."""
    mine = _CHANNELS.setdefault(asyncio.get_running_loop(), {})
    if target not in mine:
        mine[target] = _opened(target, options)
        if tape is not None:
            open_tapes.when_closed(tape, partial(mine.pop, target, None))
    given["channel"] = mine[target]._channel  # noqa: SLF001
    given["credentials"] = None
    given.pop("registered_call_handle", None)  # it is of the other channel


def _opened(target: str, options: Any) -> Any:
    parts = urlsplit(target if "//" in target else f"//{target}")
    if parts.scheme in ("https", "grpcs"):
        return aio.secure_channel(parts.netloc, grpc.ssl_channel_credentials(), options)
    return aio.insecure_channel(parts.netloc, options)
