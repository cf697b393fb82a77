"""Converts the bytes of a streamed answer to events: parsed JSON, or the word `[DONE]`.

The formats are server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), newline-delimited
JSON, and one JSON document; `aws_event_stream` has Amazon's. Decoders work on bytes, because a chunk may end inside a
character, and only LF, CRLF and CR end a line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ..base.budget import CLIENT
from ..errors import ResponseError
from .interfaces import Decoder
from .shared.json_objects import read_json, scan_json

_DONE = b"[DONE]"
_FIELDS = (b"data:", b"id:", b"retry:", b":")
_FAILED = b"error:"  # llama.cpp, until late 2025 (ggml-org/llama.cpp#16109)
_BOM = b"\xef\xbb\xbf"


def decoder(framing: Literal["sse", "ndjson", "json", "aws_event_stream"]) -> Decoder:
    """Returns a new decoder. The one for SSE returns an answer of bare JSON whole, at the end."""
    if framing == "aws_event_stream":
        from .aws_event_stream import EventStreamDecoder  # noqa: PLC0415 - one provider has it

        return EventStreamDecoder()
    decoders: dict[str, Callable[[], Decoder]] = {
        "sse": SseDecoder,
        "ndjson": NdjsonDecoder,
        "json": JsonDecoder,
    }
    return decoders[framing]()


class _Lines:
    """Splits chunks into lines. A CR ends its line at once, and an LF after it is skipped."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._after_cr = False
        self._started = False
        self.between = False  # whether a line has ended, and none has begun

    def feed(self, chunk: bytes) -> list[bytes]:
        lines = self._whole_lines(chunk)
        self.between = self._started and not self._pieces and not self._after_cr
        return lines

    def _whole_lines(self, chunk: bytes) -> list[bytes]:
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            self._pieces.append(chunk)
            return []
        lines = chunk.split(b"\n")
        if self._pieces:
            lines[0] = b"".join([*self._pieces, lines[0]])
        rest = lines.pop()
        self._pieces = [rest] if rest else []
        if not self._started:
            self._started = True
            lines[0] = lines[0].removeprefix(_BOM)
        return lines

    def rest(self) -> bytes:
        rest, self._pieces = b"".join(self._pieces), []
        return rest if self._started else rest.removeprefix(_BOM)


class SseDecoder(Decoder):
    """Decodes server-sent events. Every format has an event's name in its data, too. Only `event: error` is used
    here, because some servers put a plain message under it.

    Lines that are not fields of an event are kept: Gemini reports an error inside a stream as plain, indented JSON
    (vercel/ai#5217), and without `alt=sse` its whole stream is a JSON array.
    """

    def __init__(self) -> None:
        self._lines = _Lines()
        self._data: list[bytes] = []
        self._stray: list[bytes] = []
        self._failed = False

    def feed(self, chunk: bytes) -> list[Any]:
        if self._lines.between and not (self._data or self._failed or self.failure):
            event = _alone(chunk)
            if event is not None:
                return [event]
        return super().feed(chunk)

    def decode(self, chunk: bytes, events: list[Any]) -> None:
        for line in self._lines.feed(chunk):
            if line.startswith(b"data:"):
                self._data.append(line[5:])
            elif line.startswith(_FAILED):
                events.append({"error": _error_content(line[len(_FAILED) :])})
            elif line:
                self._other(line)
            elif self._data:
                events += self._event()

    def flush(self) -> list[Any]:
        if rest := self._lines.rest():
            self._data += [rest[5:]] if rest.startswith(b"data:") else []
            self._other(rest)
        return [*_whole(b"\n".join(self._data)), *_whole(b"\n".join(self._stray))]

    def _event(self) -> list[Any]:
        """Returns the event that an empty line ends. JSON ignores the space after `data:`."""
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        self._data = []
        if not self._failed:
            return _events(data)
        self._failed = False
        event = _error_content(data)
        bare = not isinstance(event, dict) or not {"error", "type"} & event.keys()
        return [{"error": event} if bare else event]

    def _other(self, line: bytes) -> None:
        if line.startswith(b"event:"):
            self._failed = line[6:].strip() == b"error"
        elif not line.startswith(_FIELDS) and line not in {b"data", b"event", b"id", b"retry"}:
            self._stray.append(line)


class NdjsonDecoder(Decoder):
    """Decodes newline-delimited JSON: one object per line."""

    def __init__(self) -> None:
        self._lines = _Lines()

    def decode(self, chunk: bytes, events: list[Any]) -> None:
        for line in self._lines.feed(chunk):
            events += _events(line)

    def flush(self) -> list[Any]:
        return _whole(self._lines.rest())


class JsonDecoder(Decoder):
    """Decodes one JSON document. The items of a list are events."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def decode(self, chunk: bytes, events: list[Any]) -> None:  # noqa: ARG002 - all of them come at the end
        self._chunks.append(chunk)

    def flush(self) -> list[Any]:
        chunks, self._chunks = self._chunks, []
        return _events(b"".join(chunks).removeprefix(_BOM))


def _alone(chunk: bytes) -> Any:
    """Returns the object of a chunk that is one event, as nearly all are, or `None` for any other chunk."""
    end = len(chunk) - 2
    if not chunk.startswith(b"data:") or chunk.find(b"\n") != end or chunk[-1:] != b"\n" or b"\r" in chunk:
        return None
    text = chunk.decode("utf-8", "replace")
    try:
        value, end = scan_json(text, 6 if text[5] == " " else 5)
    except (StopIteration, ValueError, RecursionError):
        return None
    if end != len(text) - 2 or type(value) is not dict or end > CLIENT.values:
        return None
    return value if text.count("{") + text.count("[") <= CLIENT.depth else None


def _events(data: bytes) -> list[Any]:
    """Returns the events in `data`: none for blank data, and several for a list."""
    try:
        event = read_json(data.decode("utf-8", "replace"))
    except ValueError as error:
        data = data.strip()
        if data in {b"", _DONE}:
            return ["[DONE]"] if data else []
        quoted = data[:200].decode("utf-8", "replace") + ("…" if len(data) > 200 else "")
        raise ResponseError(f"An event of the answer is not JSON ({error}): {quoted}") from error
    return event if isinstance(event, list) else [event]


def _error_content(data: bytes) -> Any:
    """Returns the content of an error event: JSON, or a plain message."""
    return (_whole(data) or [data.decode("utf-8", "replace").strip()])[0]


def _whole(data: bytes) -> list[Any]:
    """Returns the events of the last bytes of an answer. Invalid JSON was truncated, and is dropped."""
    try:
        return [event for event in _events(data) if isinstance(event, dict) or event == "[DONE]"]
    except ResponseError:
        return []
