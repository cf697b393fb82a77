"""An answer in chunks, each with the time before it: as a cassette keeps the chunks, and as a replay sends them, or others.

Faults and framings are functions from one `Reply` to another. A client must read the same answer from any chunks.
A framing is named by words, applied from left to right: `every-byte`, `events` (one chunk an event), `whole` (one
chunk), `split:N` (two chunks, cut after N bytes), `random:SEED` (chunks of 1 to 16 bytes), `crlf` and `lf` (the line
ends of an event stream). `every_split` names all the ways to cut a body in two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, zip_longest
from random import Random
from typing import Any, NamedTuple

from ..format.aws_event_stream import frames
from ..format.sse_and_ndjson import split_events
from .messages import Ended, Failure, Headers

Response = dict[str, Any]


# --- The answer -----------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """A chunk of a body, and the seconds before it arrives."""

    data: bytes
    wait: float = 0.0


@dataclass(frozen=True)
class Reply:
    """An answer for a replay. A `status` of 0 means that only the `failure` arrives. `ended` says how the
    body ends.
    """

    status: int
    reason: str = ""
    headers: Headers = field(default_factory=list)
    pieces: Sequence[Piece] = ()
    ended: Ended = "eof"
    failure: Failure | None = None
    http_version: str = "HTTP/1.1"

    @property
    def body(self) -> bytes:
        """The joined bytes of all chunks."""
        return b"".join(piece.data for piece in self.pieces)

    @property
    def content_type(self) -> str:
        """The content type in lower case; `""` if there is none."""
        return next((value.lower() for name, value in self.headers if name == "content-type"), "")

    @classmethod
    def recorded(cls, response: Response, *, timed: bool = False) -> Reply:
        """Makes a reply from a cassette. The recorded times count only if `timed`."""
        status, body, stream = response["status"], response["body"]["string"], response.get("stream") or {}
        pairs = ((name, value) for name, values in response["headers"].items() for value in values)
        headers = [(_as_bytes(name).lower(), _as_bytes(value)) for name, value in pairs]
        content_type = next((value.lower() for name, value in headers if name == "content-type"), "")
        failure = Failure(**response["error"]) if "error" in response else None
        return cls(
            status["code"],
            _as_bytes(status["message"] or ""),
            headers,
            _pieces(body, stream, content_type, timed=timed),
            "error" if failure else stream.get("end", "eof"),
            failure,
            stream.get("version", "HTTP/1.1"),
        )


def _as_bytes(text: str) -> str:
    """Returns a reason phrase or a header with one character for each byte, because a recorder may have decoded UTF-8."""
    return (
        text if text.isascii() or max(text) < "\u0100" else text.encode("utf-8", "replace").decode("latin-1")
    )


# --- The chunks of a stream in a cassette: their sizes and times, and the end ---------------------------


Chunk = tuple[int, float]
"""The size of a chunk, and the seconds before it."""


def chunks(sizes: Sequence[int], waits: Sequence[float] = ()) -> list[Chunk]:
    """Returns the chunks that are not empty. Times that are missing are zero."""
    return [(int(size), wait) for size, wait in zip_longest(sizes, waits, fillvalue=0) if size]


def saved(reply: Reply, headers: Headers, body: bytes, chunks: Sequence[Chunk], *, timed: bool) -> Response:
    """Returns an answer in vcrpy's form, with these headers, body and chunks. Default values are left out, such as one chunk that
    was read to its end.
    """
    fields: dict[str, list[str]] = {}
    for name, value in headers:
        fields.setdefault(name, []).append(value)
    response: Response = {
        "status": {"code": reply.status, "message": reply.reason},
        "headers": fields,
        "body": {"string": body},
    }
    if stream := _shape(reply, body, chunks, timed=timed):
        response["stream"] = stream
    if reply.failure:
        refused = {"refused": reply.failure.refused} if reply.failure.refused else {}
        response["error"] = {"error": reply.failure.error, "message": reply.failure.message, **refused}
    return response


def _shape(reply: Reply, body: bytes, chunks: Sequence[Chunk], *, timed: bool) -> dict[str, str]:
    """Returns the keys of a stream that differ from the default: chunk sizes as text (`events` if each event
    is one chunk), gaps in ms, an end other than eof, and a version other than HTTP/1.1.
    """
    found: dict[str, str] = {}
    if len(chunks) > 1:
        sizes = [size for size, _ in chunks]
        found["sizes"] = "events" if _in_events(reply, body, sizes) else " ".join(map(str, sizes))
        if timed:
            found["ms"] = " ".join(str(round(wait * 1000)) for _, wait in chunks)
    if reply.ended == "closed":
        found["end"] = "closed"
    if reply.http_version != "HTTP/1.1":
        found["version"] = reply.http_version
    return found


def _in_events(reply: Reply, body: bytes, sizes: Sequence[int]) -> bool:
    """Tells whether each chunk is an event of a stream. Most are not, which the end of the first one shows."""
    content_type = reply.content_type
    if "event-stream" in content_type and body[sizes[0] - 1 : sizes[0]] not in (b"\n", b"\r"):
        return False
    return sizes == event_sizes(body, content_type)


def _pieces(body: bytes, stream: dict[str, str], content_type: str, *, timed: bool) -> list[Piece]:
    named = stream.get("sizes", "")
    sizes = event_sizes(body, content_type) if named == "events" else [int(size) for size in named.split()]
    return cut(
        body, sizes or [len(body)], [int(ms) / 1000 for ms in stream.get("ms", "").split()] if timed else []
    )


def event_sizes(body: bytes, content_type: str) -> list[int]:
    """Returns the sizes of the events of a line-framed stream, or the size of the whole body if it is not
    one.
    """
    if "event-stream" in content_type:
        text = body.decode("latin-1")  # one character a byte: sizes are bytes
        return [len(event) for event in split_events(text)]
    if "amazon.eventstream" in content_type:
        return [len(frame) for frame in frames(body)]
    if "ndjson" in content_type or "jsonl" in content_type:
        return [len(line) for line in body.splitlines(keepends=True)]
    return [len(body)]


# --- Other chunks: framings -----------------------------------------------------------------------------


def split(pieces: Sequence[Piece], offset: int) -> tuple[list[Piece], list[Piece]]:
    """Returns the chunks before and after a position in the body. A chunk across the position is split in
    two.
    """
    before: list[Piece] = []
    for index, piece in enumerate(pieces):
        if len(piece.data) > offset:
            head = [Piece(piece.data[:offset], piece.wait)] if offset else []
            wait = 0.0 if offset else piece.wait
            return [*before, *head], [Piece(piece.data[offset:], wait), *pieces[index + 1 :]]
        before.append(piece)
        offset -= len(piece.data)
    return before, []


def cut(body: bytes, sizes: Sequence[int], waits: Sequence[float] = ()) -> list[Piece]:
    """Returns the body in chunks of these sizes, without empty ones."""
    missing = [0.0] * (len(sizes) - len(waits))
    cuts = zip(sizes, accumulate(sizes), [*waits, *missing], strict=True)
    return [Piece(body[end - size : end], wait) for size, end, wait in cuts if size]


_EOL = re.compile(rb"\r\n|\n|\r")


def framed(reply: Reply, framing: str | Callable[[Reply], Reply]) -> Reply:
    """Returns the same answer in other chunks. Raises ValueError for an unknown word."""
    if callable(framing):
        return framing(reply)
    for word in framing.split():
        reply = _word(reply, word)
    return reply


def every_split(size: int) -> Iterator[str]:
    """Yields the framings that cut a body of `size` bytes in two, one for each place."""
    return (f"split:{place}" for place in range(1, size))


def _word(reply: Reply, word: str) -> Reply:
    body, (name, _, number) = reply.body, word.partition(":")
    match name:
        case "crlf" | "lf":
            return _line_ends(reply, b"\r\n" if name == "crlf" else b"\n")
        case "every-byte":
            sizes = [1] * len(body)
        case "events":
            sizes = event_sizes(body, reply.content_type)
        case "whole":
            sizes = [len(body)]
        case "split":
            sizes = [min(int(number), len(body)), max(len(body) - int(number), 0)]
        case "random":
            sizes = _random_sizes(len(body), int(number or 0))
        case _:
            raise ValueError(f"{word!r} is not a framing; see ellmer_harness.exchange.reply")
    return replace(reply, pieces=cut(body, sizes))


def _line_ends(reply: Reply, eol: bytes) -> Reply:
    if "event-stream" not in reply.content_type or any(
        name == "content-encoding" for name, _ in reply.headers
    ):
        return reply
    # A chunk may end between \r and \n: the change is made on the whole, and cut again by event.
    body = _EOL.sub(eol, reply.body)
    return replace(reply, pieces=cut(body, event_sizes(body, reply.content_type)))


def _random_sizes(total: int, seed: int) -> list[int]:
    lots, sizes = Random(seed), list[int]()  # noqa: S311  # to be repeatable, not secret
    while total > 0:
        sizes.append(min(lots.randint(1, 16), total))
        total -= sizes[-1]
    return sizes
