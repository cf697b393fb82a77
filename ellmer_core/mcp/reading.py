"""What an MCP server sends, read within bounds: its messages, and what its program writes to the standard error.

`LINES` is the encoding of the messages of a program, `bounded_answer()` a hook for those over HTTP.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import suppress
from threading import Thread
from typing import Any

from ..base.budget import MCP_SERVER, has_more_values
from ..transport.sent_keys import SentKeys

# --- The size of its messages ----------------------------------------------------------------------------


#: UTF-8 whose decoder gives whole lines of a bounded length. The SDK itself takes any, and copies a line with each chunk of it.
LINES = "ellmer_core_lines"
_SEPARATORS = b",:[{"


class _LineDecoder(codecs.BufferedIncrementalDecoder):
    """Keeps the parts of a line until it ends. In place of a line that is too long, or has too many values, stands an error."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._parts: list[str] = []
        self._length = 0

    def _buffer_decode(self, input: Any, errors: str, final: bool) -> tuple[str, int]:
        return codecs.utf_8_decode(input, errors, final)

    def decode(self, input: Any, final: bool = False) -> str:
        """Returns the lines that end in these bytes."""
        *ended, begun = super().decode(input, final).split("\n")
        return "".join([*map(self._ended, ended), self._added(begun)])

    def _ended(self, piece: str) -> str:
        error, line, whole = self._added(piece), "".join(self._parts), self._length <= MCP_SERVER.received
        self._parts, self._length = [], 0
        if whole and has_more_values(line, MCP_SERVER.values):
            return _error_for(line)
        return f"{line}\n" if whole else error

    def _added(self, piece: str) -> str:
        """Adds a part of a line. Returns the error for a line that has become too long, whose rest is dropped."""
        before, self._length = self._length, self._length + len(piece)
        if self._length <= MCP_SERVER.received:
            self._parts.append(piece)
            return ""
        line, self._parts = "".join(self._parts), []
        return _error_for(line or piece) if before <= MCP_SERVER.received else ""


_BEGINNING = 1000  # characters, in which a message says what it answers
_ID = re.compile(r'"id"\s*:\s*("[^"\\]{0,99}"|\d{1,20})')
_TOO_LARGE = f"A message of the MCP server has more than {MCP_SERVER.received:,} bytes or {MCP_SERVER.values:,} values."


def _error_for(line: str) -> str:
    """Returns the line that answers the same request with an error."""
    found = _ID.search(line[:_BEGINNING])
    error = json.dumps({"code": _INTERNAL, "message": _TOO_LARGE})
    return f'{{"jsonrpc": "2.0", "id": {found[1] if found else 0}, "error": {error}}}\n'


_INTERNAL = -32603  # https://www.jsonrpc.org/specification#error_object


def _lines(name: str) -> codecs.CodecInfo | None:
    if name != LINES:
        return None
    utf_8 = codecs.lookup("utf-8")
    return codecs.CodecInfo(utf_8.encode, utf_8.decode, incrementaldecoder=_LineDecoder, name=LINES)


codecs.register(_lines)


async def bounded_answer(response: Any) -> None:
    """Bounds the body of an answer over HTTP, or each of its events. What is too much, or is compressed, is an error of its call."""
    streamed = response.headers.get("content-type", "").startswith("text/event-stream")
    fault = ""
    if response.headers.get("content-encoding", "identity") != "identity":
        fault = "The MCP server compressed its answer, although it was told not to."
    response.stream = _counted(response.stream, streamed=streamed, fault=fault)


#: Between the pieces, another event begins.
_EVENT_END = re.compile(rb"\r?\n\r?\n|\r\r")


def _counted(stream: Any, *, streamed: bool, fault: str) -> Any:
    from httpx2 import AsyncByteStream, SSEError, StreamError  # noqa: PLC0415 - the SDK brings it

    # The SDK answers a call with each of them. Another exception would end the connection.
    kind = SSEError if streamed else StreamError

    class Counted(AsyncByteStream):
        async def __aiter__(self) -> AsyncGenerator[bytes, None]:
            if fault:
                raise kind(fault)
            size = values = 0
            async for chunk in stream:
                for place, piece in enumerate(_EVENT_END.split(chunk) if streamed else [chunk]):
                    if place:
                        size = values = 0
                    size += len(piece)
                    values += sum(piece.count(mark) for mark in _SEPARATORS)
                    if size > MCP_SERVER.received or values > MCP_SERVER.values:
                        raise kind(_TOO_LARGE)
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return Counted()


# --- The standard error of a program ---------------------------------------------------------------------


_KEPT = 4000  # characters, of which an error quotes the last lines
_QUOTED = 10  # lines
_LINE = 300  # characters of each
#: A key that the program names, whatever it is: `API_KEY=…`, `"token": "…"`, `Authorization: Bearer …`.
_NAMED = re.compile(
    r"""(?i)((?:api[_-]?|access[_-]?)?(?:key|token|secret|password|passwd|authorization|credentials?)["']?\s*[=:]\s*)(?:(?:bearer|basic)\s+)?[^\s,;]+"""
)


class ErrorOutput:
    """The standard error of a server's program. It is shown as it comes, and its end is kept to say why the program ended."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.file = os.fdopen(writing, "w")
        self._end = ""
        self._thread = Thread(target=self._read, args=(reading,), name="stderr of an MCP server", daemon=True)
        self._thread.start()

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, errors="replace") as output:
            while line := output.readline(_KEPT):
                self._end = (self._end + line)[-_KEPT:]
                with suppress(Exception):  # this program may have closed its own, or have none
                    sys.stderr.write(line)

    def last_lines(self, keys: SentKeys) -> str:
        """Returns the last lines without these keys, and without others that have a name."""
        self.file.close()
        self._thread.join(1)  # until the program's end is read; a program that it started may go on
        text = _NAMED.sub(r"\1[key]", keys.hidden_in_error(self._end))
        lines = [line.rstrip()[:_LINE] for line in text.splitlines() if line.strip()]
        return "\n".join(lines[-_QUOTED:])
