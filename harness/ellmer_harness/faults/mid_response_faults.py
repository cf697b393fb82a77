"""Faults that damage the recorded answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar

from ..exchange.messages import Failure
from ..exchange.reply import Piece, Reply, event_sizes, split
from .fault_schedule import At, Fault


@dataclass(frozen=True, kw_only=True)
class ReadTimeout(At):
    """The client gets no more data until its read timeout.

    Args:
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.
        after_event: How many events of the stream (server-sent events, lines of NDJSON) arrive first; -1 means all but the
            last. Default: the fault comes before the answer.
        after_bytes: How many bytes of the body arrive first, if `after_event` is not given. Default: `None`.

    Examples:
        >>> from ellmer_harness.faults import ReadTimeout
        >>> with use_cassette("weather.json", faults=[ReadTimeout()]):
        ...     try:
        ...         httpx.get("https://api.example.com/weather")
        ...     except httpx.ReadTimeout as error:
        ...         print(error)
        ...     httpx.get("https://api.example.com/weather").json()
        timed out
        {'temperature': 21}
    """

    def change(self, reply: Reply) -> Reply:
        return self.broken(reply, Failure("ReadTimeout", "timed out"))


@dataclass(frozen=True, kw_only=True)
class Reset(At):
    """The connection is reset (TCP RST).

    Args:
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.
        after_event: How many events of the stream (server-sent events, lines of NDJSON) arrive first; -1 means all but the
            last. Default: the fault comes before the answer.
        after_bytes: How many bytes of the body arrive first, if `after_event` is not given. Default: `None`.

    Examples:
        >>> from ellmer_harness.faults import Reset
        >>> with use_cassette("weather.json", faults=[Reset(after_bytes=5)]):
        ...     try:
        ...         httpx.get("https://api.example.com/weather")
        ...     except httpx.ReadError as error:
        ...         print(error)
        ...     httpx.get("https://api.example.com/weather").json()
        [Errno 104] Connection reset by peer
        {'temperature': 21}
    """

    def change(self, reply: Reply) -> Reply:
        return self.broken(reply, Failure("ReadError", "[Errno 104] Connection reset by peer"))


@dataclass(frozen=True, kw_only=True)
class Cut(At):
    """The connection is closed too early (TCP FIN).

    Args:
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.
        after_event: How many events of the stream (server-sent events, lines of NDJSON) arrive first; -1 means all but the
            last. Default: the fault comes before the answer.
        after_bytes: How many bytes of the body arrive first, if `after_event` is not given. Default: `None`.
        clean: Whether the shortened body looks complete to the client. Default: False.

    Examples:
        >>> from ellmer_harness.faults import Cut
        >>> with use_cassette("weather.json", faults=[Cut()]):
        ...     try:
        ...         httpx.get("https://api.example.com/weather")
        ...     except httpx.RemoteProtocolError as error:
        ...         print(error)
        ...     httpx.get("https://api.example.com/weather").json()
        Server disconnected without sending a response.
        {'temperature': 21}
    """

    clean: bool = False

    def change(self, reply: Reply) -> Reply:
        if self.clean:
            return replace(reply, pieces=self.parts(reply)[0])
        text = "Server disconnected without sending a response."
        if self.after_event is not None or self.after_bytes is not None:
            text = "peer closed connection without sending complete message body (incomplete chunked read)"
        return self.broken(reply, Failure("RemoteProtocolError", text))


@dataclass(frozen=True)
class Stall(At):
    """Nothing arrives for some time, then the rest. The time passes on the virtual clock.

    Args:
        seconds: How long, in seconds.
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.
        after_event: How many events of the stream (server-sent events, lines of NDJSON) arrive first; -1 means all but the
            last. Default: the fault comes before the answer.
        after_bytes: How many bytes of the body arrive first, if `after_event` is not given. Default: `None`.

    Examples:
        >>> from ellmer_harness.faults import Stall
        >>> with use_cassette("weather.json", faults=[Stall(3.0)]) as cassette:
        ...     answer = httpx.get("https://api.example.com/weather")
        >>> cassette.clock.now
        3.0
    """

    seconds: float
    spends: ClassVar[bool] = True

    def change(self, reply: Reply) -> Reply:
        before, after = self.parts(reply)
        waiting = [after[0]._replace(wait=after[0].wait + self.seconds), *after[1:]] if after else []
        return replace(reply, pieces=[*before, *waiting])


@dataclass(frozen=True)
class Slow(Fault):
    """Every chunk is late. The time passes on the virtual clock.

    Args:
        seconds: The delay of each chunk, in seconds.
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.

    Examples:
        >>> from ellmer_harness.faults import Slow
        >>> with use_cassette("weather.json", faults=[Slow(0.5)]) as cassette:
        ...     answer = httpx.get("https://api.example.com/weather")
        >>> cassette.clock.now
        0.5
    """

    seconds: float
    spends: ClassVar[bool] = True

    def change(self, reply: Reply) -> Reply:
        return replace(reply, pieces=[piece._replace(wait=self.seconds) for piece in reply.pieces])


@dataclass(frozen=True)
class Duplicate(Fault):
    """An event of the stream arrives twice.

    Args:
        event: The index of the event: 0 is the first, -1 the last.
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.

    Examples:
        >>> from ellmer_harness.faults import Duplicate
        >>> with use_cassette("stream.json", faults=[Duplicate(0)]):
        ...     print(httpx.get("https://api.example.com/stream").text)
        data: {"n":1}
        <BLANKLINE>
        data: {"n":1}
        <BLANKLINE>
        data: {"n":2}
        <BLANKLINE>
        <BLANKLINE>
    """

    event: int
    spends: ClassVar[bool] = True

    def change(self, reply: Reply) -> Reply:
        before, event, after = _around(reply, self.event)
        return replace(reply, pieces=[*before, *event, *event, *after])


@dataclass(frozen=True)
class Corrupt(Fault):
    """Changes one byte of an event.

    Args:
        event: The index of the event: 0 is the first, -1 the last.
        seed: Chooses the byte; the same seed changes the same byte. Default: 0.
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.

    Examples:
        >>> from ellmer_harness.faults import Corrupt
        >>> with use_cassette("stream.json", faults=[Corrupt(0)]):
        ...     damaged = httpx.get("https://api.example.com/stream").content
        ...     whole = httpx.get("https://api.example.com/stream").content
        >>> sum(a != b for a, b in zip(damaged, whole))
        1
    """

    event: int
    seed: int = 0

    def change(self, reply: Reply) -> Reply:
        before, event, after = _around(reply, self.event)
        data = bytearray(b"".join(piece.data for piece in event))
        if data:
            data[Random(self.seed).randrange(len(data))] ^= 0xFF  # noqa: S311  # to be repeatable, not secret
        return replace(reply, pieces=[*before, Piece(bytes(data)), *after])


@dataclass(frozen=True)
class ErrorEvent(At):
    """The provider reports an error inside the stream, which then ends regularly.

    Args:
        data: The error, sent as JSON.
        event: The name of the server-sent event; None for no name. Default: `error`.
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.
        after_event: How many events of the stream (server-sent events, lines of NDJSON) arrive first; -1 means all but the
            last. Default: the fault comes before the answer.
        after_bytes: How many bytes of the body arrive first, if `after_event` is not given. Default: `None`.

    Examples:
        >>> from ellmer_harness.faults import ErrorEvent
        >>> with use_cassette("stream.json", faults=[ErrorEvent({"type": "overloaded_error"}, after_event=0)]):
        ...     print(httpx.get("https://api.example.com/stream").text)
        ...     answer = httpx.get("https://api.example.com/stream")
        event: error
        data: {"type": "overloaded_error"}
        <BLANKLINE>
        <BLANKLINE>
    """

    data: Any
    event: str | None = "error"

    def change(self, reply: Reply) -> Reply:
        text = json.dumps(self.data)
        if "event-stream" in reply.content_type:
            text = (f"event: {self.event}\n" if self.event else "") + f"data: {text}\n"
        return replace(reply, pieces=[*self.parts(reply)[0], Piece(f"{text}\n".encode())])


def _around(reply: Reply, event: int) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """Returns the chunks before, of and after an event."""
    sizes = event_sizes(reply.body, reply.content_type)
    event += len(sizes) if event < 0 else 0
    start = sum(sizes[:event])
    before, rest = split(reply.pieces, start)
    found, after = split(rest, sum(sizes[event : event + 1]))
    return before, found, after
