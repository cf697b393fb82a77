"""The recorded form of gRPC calls: their messages, the recording of a call, and a server that replays it.

`format.binary_messages` has the form of a message. The body of an answer has one line for each message and one for the
end: `{"received": …}`, `{"sent": …}` and `{"half_closed": true}` (of calls whose requests are a stream), `{"status": "OK"}`
with `details`, `metadata` and `trailing_metadata`. There is no status if the client stopped before it came.
"""

from __future__ import annotations

import itertools
import json
import struct
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import grpc

from ...format.binary_messages import compact, form, message
from ..http1 import BrokenError
from ..open_cassettes import RequestInFlight

# --- Messages and metadata -------------------------------------------------------------------------------


Pairs = list[tuple[str, str]]


def pairs(metadata: Iterable[Any] | None) -> Pairs:
    """Returns metadata as text, with names in lower case. Binary values (names that end in `-bin`) are
    base64, as on the wire.
    """
    return [
        (str(name).lower(), b64encode(value).decode() if isinstance(value, bytes) else str(value))
        for name, value in metadata or ()
    ]


def metadata(saved: dict[str, list[str]]) -> list[tuple[str, str | bytes]]:
    """Returns metadata in the form that gRPC takes."""
    return [
        (name, b64decode(value) if name.endswith("-bin") else value)
        for name, values in saved.items()
        for value in values
    ]


def as_written(value: Any, serializer: Callable[[Any], bytes] | None) -> bytes:
    """Returns the bytes of a message in a stable form, because protobuf writes the entries of a map in any
    order.
    """
    data: bytes = value if serializer is None else serializer(value)
    write = getattr(getattr(value, "_pb", value), "SerializeToString", None)
    if write is None:
        return data
    again: bytes = write(deterministic=True)
    return again if len(again) == len(data) and sorted(again) == sorted(data) else data


# --- Recording: the client makes the call itself, and its messages are noted as they pass ----------------


_STATUS_WITHIN = 2  # seconds
_BY_THE_CLIENT = (
    "Locally cancelled by application!",
    "Channel closed!",
    "Cancelled upon garbage collection!",
)


@dataclass(frozen=True)
class Status:
    """How a call ended."""

    code: str
    details: str
    metadata: Any
    trailing_metadata: Any


@dataclass
class Noted:
    """Records one call. `streams` says whether its requests are a stream; a single request is the body."""

    cassette: Any
    take: RequestInFlight
    streams: bool
    _lock: Any = field(default_factory=threading.Lock)
    _over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.take.answered(200, "OK", [("content-type", "application/x-ndjson")], "HTTP/2")

    def serializer(self, real: Callable[[Any], bytes] | None) -> Callable[[Any], bytes]:
        """Returns the serializer that replaces the real one."""

        def serialize(value: Any) -> bytes:
            data = as_written(value, real)
            if self.streams:
                self._note({"sent": form(data)})
            return data

        return serialize

    def deserializer(self, real: Callable[[bytes], Any] | None) -> Callable[[bytes], Any]:
        """Returns the deserializer that replaces the real one."""

        def deserialize(data: bytes) -> Any:
            self._note({"received": form(data)})
            return data if real is None else real(data)

        return deserialize

    def watched(self, requests: Iterator[Any]) -> Iterator[Any]:
        """Yields the client's requests and notes their end."""
        yield from requests
        self.half_closed()

    def half_closed(self) -> None:
        """Notes that the client will send no more messages."""
        self._note({"half_closed": True})

    def ended(self, status: Status) -> None:
        """Notes the end of the call, once."""
        left = status.code == "CANCELLED" and status.details in _BY_THE_CLIENT
        try:
            if not left:
                self._note(self._line(status), last=True)
        finally:
            self._over.set()  # not before: `wait()` would return, and the cassette be saved without the status
        if left:
            self.take.closed()

    def wait(self) -> None:
        """Waits for a call whose end is about to be reported by a thread of gRPC."""
        self._over.wait(_STATUS_WITHIN)

    def _line(self, status: Status) -> dict[str, Any]:
        line: dict[str, Any] = {"status": status.code}
        line |= {"details": status.details} if status.details else {}
        for name in ("metadata", "trailing_metadata"):
            saved: dict[str, list[str]] = {}
            for key, value in self.cassette.scrub.metadata(pairs(getattr(status, name))):
                saved.setdefault(key, []).append(value)
            line |= {name: saved} if saved else {}
        return line

    def _note(self, line: dict[str, Any], *, last: bool = False) -> None:
        with self._lock:
            if not self.take.exchange.ended:
                self.take.chunk(compact(line) + b"\n")
                if last:  # in one step: a client's thread may have another message to note
                    self.take.eof()


# --- Replay: a server on this machine plays the calls of a cassette ------------------------------------------


_CALL = "ellmer-harness-call"  # the metadata that says which call of the cassette it is
_ANY_SIZE = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))
LOCAL_CHANNEL = (*_ANY_SIZE, ("grpc.enable_http_proxy", 0))
"""The options of a channel to it."""
_WRONG = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    struct.error,
)  # what a line of a wrong shape raises
_CANCEL_WITHIN = 0.5  # seconds
_MOST = 500  # calls at the same time
_LONGEST = 2000  # characters of details: they travel in a header
_STOPPED = "the recording ends here, because the client stopped reading when it was recorded"
_OF_HTTP = {
    400: "INTERNAL",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "UNIMPLEMENTED",
} | dict.fromkeys((429, 502, 503, 504), "UNAVAILABLE")


class _Over(Exception):
    """Ends the call with a status."""

    def __init__(self, code: str, details: str) -> None:
        super().__init__(code, details)
        self.code, self.details = grpc.StatusCode[code], details


class Player(grpc.GenericRpcHandler):  # type: ignore[misc]  # no types are published
    """Replays the calls of one cassette. Each call is replayed once and is found by its number."""

    def __init__(self, cassette: Any) -> None:
        self._cassette, self._numbers = cassette, itertools.count(1)
        self._takes: dict[str, RequestInFlight] = {}
        self._server = grpc.server(ThreadPoolExecutor(_MOST), options=(*_ANY_SIZE, ("grpc.so_reuseport", 0)))
        self._server.add_generic_rpc_handlers([self])
        self.target = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()
        self.channel = grpc.insecure_channel(self.target, LOCAL_CHANNEL)

    def expect(self, take: RequestInFlight) -> tuple[tuple[str, str], ...]:
        """Returns the metadata that the client sends with this call."""
        number = str(next(self._numbers))
        self._takes[number] = take
        return ((_CALL, number),)

    @staticmethod
    def metadata(take: RequestInFlight) -> list[tuple[str, str | bytes]]:
        """Returns the initial metadata of the recorded answer."""
        body = take.reply.body if take.reply else b""
        saved = _last(body).get("metadata", {})
        return metadata(saved) if isinstance(saved, dict) else []

    def close(self) -> None:
        """Ends the open calls."""
        self.channel.close()
        self._server.stop(0)

    def service(self, handler_call_details: Any) -> Any:
        """Handles every method as a stream of bytes in both directions. On the wire, all four kinds of
        methods are streams.
        """
        take = self._takes.pop(dict(handler_call_details.invocation_metadata).get(_CALL, ""), None)
        if take is None:
            return None
        return grpc.stream_stream_rpc_method_handler(lambda sent, context: self._play(take, sent, context))

    def _play(self, take: RequestInFlight, sent: Iterator[bytes], context: Any) -> Iterator[bytes]:
        context.add_callback(take.closed)
        try:
            yield from self._answers(take, sent, context)
        except _Over as over:
            context.abort(over.code, over.details[:_LONGEST])
        except BrokenError as broken:
            code = "DEADLINE_EXCEEDED" if broken.error.endswith("Timeout") else "UNAVAILABLE"
            context.abort(grpc.StatusCode[code], f"{broken.error}: {broken}")
        except _WRONG as error:
            told = f"the recording of {take.exchange.sent.url} cannot be replayed: {error!r}"
            context.abort(grpc.StatusCode.INTERNAL, str(self._cassette.missed(told))[:_LONGEST])

    def _answers(self, take: RequestInFlight, sent: Iterator[bytes], context: Any) -> Iterator[bytes]:
        reply = take.begin_reply()
        if reply.status != 200:
            raise _Over(_OF_HTTP.get(reply.status, "UNKNOWN"), reply.body.decode(errors="replace"))
        last = _last(reply.body)
        context.send_initial_metadata(metadata(last.get("metadata", {})))
        context.set_trailing_metadata(metadata(last.get("trailing_metadata", {})))
        for line in _lines(take):
            if "received" in line:
                yield message(line["received"])
            elif "status" not in line:
                self._heard(take, next(sent, None), line, context)
        if last.get("status") != "OK":
            raise _Over(last.get("status", "CANCELLED"), last.get("details", "" if last else _STOPPED))

    def _heard(self, take: RequestInFlight, data: bytes | None, line: dict[str, Any], context: Any) -> None:
        """Compares the client's message, or the end of its messages, with the recording."""
        now = {"half_closed": True} if data is None else {"sent": form(data)}
        if self._value(now) == self._value(line):
            return
        if data is None and _has_left(context):
            raise _Over("CANCELLED", "")
        told = (
            f"the client sent another message in the call {take.exchange.sent.url} than the one that was recorded:\n"
            f"  recorded {_shown(line)}\n  now      {_shown(now)}"
        )
        self._cassette.missed(told)
        raise _Over("INTERNAL", f"Miss: {told}")

    def _value(self, line: dict[str, Any]) -> bytes:
        """Returns the value to compare. Ignored pointers begin at the message."""
        body = self._cassette.scrub.body(compact(line.get("sent", line)))
        found: bytes = self._cassette.match.canonical(body, "application/json")
        return found


def _has_left(context: Any) -> bool:
    """Whether the client cancelled the call. gRPC may report the end of its messages a moment before that."""
    until = time.monotonic() + _CANCEL_WITHIN
    while context.is_active() and time.monotonic() < until:
        time.sleep(0.01)
    return not context.is_active()


def _lines(take: RequestInFlight) -> Iterator[dict[str, Any]]:
    """Yields each recorded line at its time. A call that the client stopped ends normally."""
    assert take.reply is not None, "only a take with a reply is played"
    if take.reply.ended == "closed":
        take.reply = replace(take.reply, ended="eof")
    rest = b""
    for piece in take.play():
        if take.clock.real:
            time.sleep(piece.wait)
        *whole, rest = (rest + piece.data).split(b"\n")
        yield from map(_parsed, whole)
    if rest:
        yield _parsed(rest)


def _parsed(line: bytes) -> dict[str, Any]:
    found = json.loads(line)
    if not isinstance(found, dict) or not found.keys() & {"sent", "half_closed", "received", "status"}:
        raise ValueError(f"{line[:200]!r} is not part of a call")
    return found


def _last(body: bytes) -> dict[str, Any]:
    """Returns the line with the status, if there is one. It holds the server's metadata."""
    with suppress(ValueError):
        found = _parsed(body.rstrip(b"\n").rpartition(b"\n")[2])
        return found if "status" in found else {}
    return {}


def _shown(line: dict[str, Any]) -> str:
    text = "nothing more" if "half_closed" in line else compact(line["sent"]).decode()
    return text if len(text) < 300 else f"{text[:300]}…"
