"""What an MCP server sends, read within bounds: its messages, its requests, and what its program writes to the standard error.

`LINES` is the encoding of the messages of a program, `bounded_answer()` a hook for those over HTTP. `few_requests()` opens either transport,
and one that a program brings itself, whose messages are measured.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Any

from ..base.budget import MCP_CALL, MCP_SERVER, has_more_values
from ..base.printable_text import printable
from ..transport.sent_keys import SentKeys

if TYPE_CHECKING:
    from mcp.client import Transport

# --- The size of its messages ----------------------------------------------------------------------------


#: UTF-8 whose decoder gives whole lines of a bounded length. The SDK itself takes any, and copies a line with each chunk of it.
LINES = "ellmer_core_lines"
_SEPARATORS = b",:[{"  # one stands before each value


class _LineDecoder(codecs.IncrementalDecoder):
    """Keeps the parts of a line until it ends, so that a line is the same however its bytes were cut. An error stands in place of a line
    that is too long, has too many values, or is not UTF-8.
    """

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._parts: list[bytes] = []
        self._begin = b""
        self._length = 0

    def decode(self, input: Any, final: bool = False) -> str:  # noqa: ARG002 - what has no end is no line
        """Returns the lines that end in these bytes."""
        *ended, begun = bytes(input).split(b"\n")
        return "".join([*map(self._ended, ended), self._added(begun)])

    def _ended(self, piece: bytes) -> str:
        error, whole = self._added(piece), self._length <= MCP_SERVER.received
        line = b"".join(self._parts)
        self._parts, self._begin, self._length = [], b"", 0
        return self._checked(line) if whole else error

    def _checked(self, line: bytes) -> str:
        try:
            text = line.decode(errors=self.errors)
        except UnicodeDecodeError:
            return _error_for(line, _NOT_UTF_8)
        return _error_for(line, _TOO_LARGE) if has_more_values(text, MCP_SERVER.values) else f"{text}\n"

    def _added(self, piece: bytes) -> str:
        """Adds a part of a line. Returns the error for a line that has become too long, whose rest is dropped."""
        before, self._length = self._length, self._length + len(piece)
        self._begin += piece[: max(_BEGINNING - before, 0)]
        if self._length <= MCP_SERVER.received:
            self._parts.append(piece)
            return ""
        self._parts = []
        return _error_for(self._begin, _TOO_LARGE) if before <= MCP_SERVER.received else ""


_BEGINNING = 1000  # bytes, in which a message says what it answers
_ID = re.compile(rb'"id"\s*:\s*("[^"\\]{0,99}"|\d{1,20})')
_TOO_LARGE = (
    f"A message of the MCP server has more than {MCP_SERVER.received:,} bytes or {MCP_SERVER.values:,} values"
    f", or more than {MCP_SERVER.depth} levels."
)
_NOT_UTF_8 = "A message of the MCP server is not UTF-8."


def _error_for(line: bytes, message: str) -> str:
    """Returns the line that answers the same request with an error."""
    found = _ID.search(line[:_BEGINNING])
    number = found[1].decode(errors="replace") if found else 0
    error = json.dumps({"code": _INTERNAL, "message": message})
    return f'{{"jsonrpc": "2.0", "id": {number}, "error": {error}}}\n'


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


def _counted(stream: Any, *, streamed: bool, fault: str) -> Any:
    from httpx2 import AsyncByteStream, SSEError, StreamError  # noqa: PLC0415 - the SDK brings it

    # The SDK answers a call with each of them. Another exception would end the connection.
    kind = SSEError if streamed else StreamError

    class Counted(AsyncByteStream):
        async def __aiter__(self) -> AsyncGenerator[bytes, None]:
            if fault:
                raise kind(fault)
            count = _Count(streamed=streamed)
            async for chunk in stream:
                if count.exceeded(chunk):
                    raise kind(_TOO_LARGE)
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return Counted()


#: Behind it, another event begins.
_EVENT_END = re.compile(rb"\r?\n\r?\n|\r\r")


class _Count:
    """Counts the bytes and the values of a body, or of each event of a stream. Line ends are counted when it is known whether they end the
    event.
    """

    def __init__(self, *, streamed: bool) -> None:
        self._streamed = streamed
        self._line_ends = b""
        self._size = self._values = 0

    def exceeded(self, chunk: bytes) -> bool:
        """Adds a chunk, and tells whether a message is too large."""
        if not self._streamed:
            return self._added(chunk)
        *ended, begun = _EVENT_END.split(self._line_ends + chunk)
        text = begun.rstrip(b"\r\n")
        self._line_ends = begun[len(text) :]
        for piece in ended:
            if self._added(piece):
                return True
            self._size = self._values = 0
        return self._added(text)

    def _added(self, piece: bytes) -> bool:
        self._size += len(piece)
        self._values += sum(piece.count(mark) for mark in _SEPARATORS)
        return self._size > MCP_SERVER.received or self._values > MCP_SERVER.values


def _is_too_large(message: Any) -> bool:
    """Tells whether a message that was parsed elsewhere has too much text, too many values or too many levels. One that contains itself has."""
    size = values = 0
    left: list[tuple[int, Any]] = [(0, message)]
    while left:
        level, value = left.pop()
        within = _within(value)
        size, values = size + _size(value), values + 1
        if (
            size > MCP_SERVER.received
            or values + len(left) + len(within) > MCP_SERVER.values
            or level > MCP_SERVER.depth
        ):
            return True
        left += [(level + 1, each) for each in within]
    return False


def _refused(item: Any) -> Any:
    """Returns the error that stands in place of an answer that is too large, or of another message, which answers no call."""
    from mcp.types import ErrorData, JSONRPCError  # noqa: PLC0415 - mcp is an extra, and slow to import

    number = None if getattr(item.message, "method", "") else item.message.id
    error = ErrorData(code=_INTERNAL, message=_TOO_LARGE)
    return replace(item, message=JSONRPCError(jsonrpc="2.0", id=number, error=error))


def _within(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return [*value, *value.values()]
    if isinstance(value, list | tuple):
        return value
    return [*vars(value).values()] if hasattr(value, "model_dump") else ()


def _size(value: Any) -> int:
    if not isinstance(value, str):
        return len(value) if isinstance(value, bytes) else 0
    return len(value) if value.isascii() else len(value.encode(errors="replace"))


# --- The number of its requests --------------------------------------------------------------------------


@asynccontextmanager
async def few_requests(transport: Transport, *, measured: bool = False) -> AsyncGenerator[Any, None]:
    """Opens a transport, and yields its two streams. While many requests of the server wait for an answer, no message is read: the SDK
    starts a task for each request, and a server need not read the answers.

    Args:
        transport: The transport.
        measured: Whether its messages are measured, because nothing has bounded their bytes. Default: `False`.
    """
    async with transport as (reading, writing):
        waiting = _Waiting()
        yield _Received(reading, waiting, measured), _Sent(writing, waiting)


class _Waiting:
    """The requests of a server that have no answer yet."""

    def __init__(self) -> None:
        from anyio import Event  # noqa: PLC0415 - the SDK brings it

        self._sizes: dict[str, int] = {}
        self._writing: set[str] = set()
        self._event, self._fewer = Event, Event()

    async def admitted(self, request: Any) -> bool:
        """Waits while too many requests have no answer. Returns `False` if another request without an answer has the same id."""
        id, size = str(request.id), len(request.model_dump_json())
        while id not in self._sizes and self._are_many(size):
            self._fewer = self._event()
            await self._fewer.wait()
        if id in self._sizes:
            return False
        self._sizes[id] = size
        return True

    def _are_many(self, size: int) -> bool:
        bytes_ = sum(self._sizes.values())
        return len(self._sizes) >= MCP_CALL.events or (bytes_ > 0 and bytes_ + size > MCP_SERVER.received)

    def cancelled(self, id: str) -> None:
        """Notes that a request gets no answer, unless it is being sent."""
        if id not in self._writing:
            self._end(id)

    @contextmanager
    def answering(self, id: str) -> Iterator[None]:
        """Notes that the answer to a request is sent, as long as the block runs."""
        self._writing.add(id)
        try:
            yield
        finally:
            self._writing.discard(id)
            self._end(id)

    def _end(self, id: str) -> None:
        self._sizes.pop(id, None)
        self._fewer.set()


class _Stream:
    """A stream of the SDK."""

    def __init__(self, stream: Any, waiting: _Waiting) -> None:
        self._stream, self._waiting = stream, waiting

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Any:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self._stream.__aexit__(*error)


class _Received(_Stream):
    """The messages of a server."""

    def __init__(self, stream: Any, waiting: _Waiting, measured: bool) -> None:
        super().__init__(stream, waiting)
        self._measured = measured

    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        while True:
            item = await self._stream.__anext__()
            if self._measured and _is_too_large(getattr(item, "message", None)):
                item = _refused(item)
            message: Any = getattr(item, "message", None)  # or an exception: it could not be read
            method = getattr(message, "method", "")
            _drop_output_schemas(getattr(message, "result", None))
            if method == "notifications/cancelled":
                self._waiting.cancelled(str((message.params or {}).get("requestId")))
            if not method or getattr(message, "id", None) is None or await self._waiting.admitted(message):
                return item

    async def receive(self) -> Any:
        from anyio import EndOfStream  # noqa: PLC0415 - the SDK brings it

        try:
            return await anext(self)
        except StopAsyncIteration:
            raise EndOfStream from None


def _drop_output_schemas(result: Any) -> None:
    """Removes the schemas of results from a list of tools. The SDK would check each result by them, in the thread of all calls: a `pattern`
    or a `$ref` of a server can take years, which no timeout ends.
    """
    tools = result.get("tools") if isinstance(result, dict) else None
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            tool.pop("outputSchema", None)


class _Sent(_Stream):
    """The messages to a server."""

    async def send(self, item: Any) -> None:
        is_ours = getattr(item.message, "method", "")  # a request or a notification
        with nullcontext() if is_ours else self._waiting.answering(str(item.message.id)):
            await self._stream.send(item)


# --- The standard error of a program ---------------------------------------------------------------------


_KEPT = 4000  # characters, of which an error quotes the last lines
_QUOTED = 10  # lines
_LINE = 300  # characters of each
#: A key that the program names, whatever it is: `API_KEY=…`, `"token": "…"`, `Authorization: Bearer …`.
_NAMED = re.compile(
    r"""(?i)((?:api[_-]?|access[_-]?)?(?:key|token|secret|password|passwd|authorization|credentials?)["']?\s*[=:]\s*)(?:(?:bearer|basic)\s+)?[^\s,;]+"""
)


class ErrorOutput:
    """The standard error of a server's program. It is shown as it comes, without its keys and what a terminal obeys, and its end is kept
    to say why the program ended.
    """

    def __init__(self, keys: SentKeys) -> None:
        self._keys = keys
        reading, writing = os.pipe()
        self.file = os.fdopen(writing, "w")
        self._end = ""
        self._thread = Thread(target=self._read, args=(reading,), name="stderr of an MCP server", daemon=True)
        self._thread.start()

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, "rb") as output:
            while line := output.readline(_KEPT):
                self._end = (self._end + line.decode(errors="replace"))[-_KEPT:]
                shown = self._keys.hidden_in_body(line, failed=False).decode(errors="replace")
                with suppress(Exception):  # this program may have closed its own, or have none
                    sys.stderr.write(printable(shown))

    def last_lines(self) -> str:
        """Returns the last lines without the keys, and without others that have a name."""
        self.file.close()
        self._thread.join(1)  # until the program's end is read; a program that it started may go on
        text = _NAMED.sub(r"\1[key]", self._keys.hidden_in_error(self._end))
        lines = [line.rstrip()[:_LINE] for line in text.splitlines() if line.strip()]
        return "\n".join(lines[-_QUOTED:])
