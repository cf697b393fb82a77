"""AWS event stream: the binary frames in which Bedrock streams an answer.

A frame is `[total length][headers length][CRC of these two][headers][payload][CRC of all before]`, integers
big-endian and unsigned, 32 bits wide. A header is `[length of name][name][type][value]`.
https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html (the same frames everywhere in AWS)

An event is its payload under the name of its type: `{"contentBlockDelta": {…}}`. An exception has a form that no
event has: `{":exception": {"type": "throttlingException", "message": "…"}}`.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Iterator
from struct import Struct
from typing import Any

from ..errors import ResponseError
from .interfaces import Decoder
from .shared.json_objects import read_json

_PRELUDE = Struct(">III")  # total length, headers length, CRC of the two
_CRC = Struct(">I")
_LONGEST = 24 * 1024 * 1024  # the largest frame AWS's own decoder accepts; more is not a length but noise
_HEADERS = 128 * 1024  # the longest headers that it accepts
_SIZES = {
    0: 0,
    1: 0,
    2: 1,
    3: 2,
    4: 4,
    5: 8,
    8: 8,
    9: 16,
}  # header types of fixed size: booleans, integers, …
_BYTES, _TEXT = 6, 7


class EventStreamDecoder(Decoder):
    """Converts frames to events and checks every checksum."""

    def __init__(self) -> None:
        self._held = bytearray()

    def decode(self, chunk: bytes, events: list[Any]) -> None:
        self._held += chunk
        events.extend(self._events())

    def flush(self) -> list[Any]:
        return list(self._events())

    def _events(self) -> Iterator[Any]:
        while (total := self._next_length()) is not None:
            yield _event(*_opened(bytes(self._held[:total])))
            del self._held[:total]

    def _next_length(self) -> int | None:
        """Returns the length of the next frame if all of it has arrived."""
        if len(self._held) < _PRELUDE.size:
            return None
        total, headers, checksum = _PRELUDE.unpack_from(self._held)
        fits = _PRELUDE.size + headers + _CRC.size <= total <= _LONGEST and headers <= _HEADERS
        if crc32(self._held[:8]) != checksum or not fits:
            raise ResponseError(
                "The event stream is damaged: the start of a frame does not match its checksum."
            )
        return total if len(self._held) >= total else None


def _opened(frame: bytes) -> tuple[dict[str, str], bytes]:
    """Returns the headers and the payload of a complete frame."""
    if crc32(frame[: -_CRC.size]) != _CRC.unpack_from(frame, len(frame) - _CRC.size)[0]:
        raise ResponseError("The event stream is damaged: a frame does not match its checksum.")
    end = _PRELUDE.size + _PRELUDE.unpack_from(frame)[1]
    return dict(_headers(frame[_PRELUDE.size : end])), frame[end : -_CRC.size]


def _headers(data: bytes) -> Iterator[tuple[str, str]]:
    """Yields the headers with text values. The others are not needed for JSON."""
    at = 0
    try:
        while at < len(data):
            name = data[at + 1 : (at := at + 1 + data[at])].decode()
            kind, at = data[at], at + 1
            if kind in {_BYTES, _TEXT}:
                size, at = int.from_bytes(data[at : at + 2]), at + 2
            else:
                size = _SIZES[kind]
            if kind == _TEXT:
                yield name, data[at : at + size].decode()
            at += size
    except (IndexError, KeyError, UnicodeDecodeError) as error:
        raise ResponseError(f"The event stream has a header that cannot be read ({error!r:.200}).") from error
    if at > len(data):
        raise ResponseError("The event stream has a header whose value is cut.")


def _event(headers: dict[str, str], payload: bytes) -> dict[str, Any]:
    try:
        body = read_json(payload) if payload.strip() else {}
    except (ValueError, RecursionError) as error:
        quoted = payload[:200].decode("utf-8", "replace")
        raise ResponseError(f"An event of the answer is not JSON ({error}): {quoted}") from error
    match headers.get(":message-type"):
        case "exception":
            name = headers.get(":exception-type", "")
        case "error":  # the stream itself broke: the headers say all there is
            name, body = headers.get(":error-code", ""), {"message": headers.get(":error-message", "")}
        case _:
            return {headers.get(":event-type", ""): body}
    return {":exception": {**(body if isinstance(body, dict) else {"message": str(body)}), "type": name}}
