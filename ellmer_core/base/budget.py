"""The limits of what the three packages read from untrusted sources: one `Budget` for each kind of source.

The harness and the suite import this module of the library, and no other one: it has numbers, a count and reads that end in time, and judges nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from math import inf
from threading import local
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar, cast

__all__ = [
    "ARCHIVE", "CLIENT", "CLIENT_ERROR", "COMPLAINTS", "DOWNLOAD", "EXTRACTED", "EXTRACTED_FILE", "FAULTS", "INDEX_PAGE", "MCP_CALL", "MCP_RECORDING", "MCP_SERVER", "PAGE", "PRICES", "RECORDED_REQUEST", "RECORDING",
    "REPORT", "SERVER", "SERVER_HEAD", "SERVER_TARGET", "SETTINGS", "VIOLATIONS", "WEB", "YAML", "YAML_COPIES", "Budget", "has_more_values", "remembered",
]  # fmt: skip

_MB = 1024**2
UNLIMITED = 2**62


class Budget(NamedTuple):
    """What a reader takes from one source: an answer, a file, an archive. What is not named has no limit.

    Args:
        received: Bytes as they arrive, or as they lie on the disk.
        unpacked: Bytes after decompression.
        values: Values of one JSON or YAML text: objects, lists, names, texts, numbers.
        depth: Levels of lists and objects.
        events: Events of a stream, lines of a log, or entries of a list.
        files: Files of an archive, or codings of a body.
        seconds: Seconds of the clock.

    Examples:
        >>> from ellmer_core.base.budget import CLIENT
        >>> CLIENT.depth
        100
    """

    received: int = UNLIMITED
    unpacked: int = UNLIMITED
    values: int = UNLIMITED
    depth: int = UNLIMITED
    events: int = UNLIMITED
    files: int = UNLIMITED
    seconds: float = inf


# --- The library -----------------------------------------------------------------------------------------


#: One answer of a provider; `values` and `depth` are for one event, or for a body that is not streamed. `Limits` and `Timeouts`
#: have these numbers as defaults. A list of two million logarithms of probabilities has some 100 MB.
CLIENT = Budget(
    received=100_000_000, unpacked=100_000_000, values=4_000_000, depth=100, events=1_000_000, seconds=3600.0
)
#: The body of an error. The rest is not read.
CLIENT_ERROR = Budget(received=250_000, unpacked=250_000, values=4_000_000, depth=100)
#: A document or an image, at a URL or in a file. No provider takes a larger one.
DOWNLOAD = Budget(received=50_000_000, unpacked=50_000_000, seconds=60.0)
#: A table of prices.
PRICES = Budget(received=10_000_000, unpacked=10_000_000, values=1_000_000, seconds=60.0)
#: A request to `ellmer_core.web.endpoint()`.
WEB = Budget(received=20_000_000, unpacked=20_000_000, values=4_000_000, depth=100)
#: A message of the chat app's page, or a file that it uploads. The seconds are those of the head of a request.
PAGE = Budget(received=20_000_000, values=100_000, seconds=30.0)
#: An MCP server that introduces itself and lists its tools, resources or prompts. `received` and `values` are for each message of it,
#: of whose values the SDK makes some 330 bytes each. `depth` is for messages of a transport that a program brings.
MCP_SERVER = Budget(received=64_000_000, values=500_000, depth=200, events=1000, seconds=60.0)
#: A call of an MCP server's tool. `events` are its questions to the user or the model. Its seconds are those that the SDK waits over HTTP.
MCP_CALL = Budget(events=100, seconds=300.0)


# --- The harness, and the suite over the same files ------------------------------------------------------


#: A file of recordings, a line of a log, or one of their bodies. `files` are the codings of a body, one over the other, and `seconds` are
#: for a whole file: one of 100 MB takes some ten.
RECORDING = Budget(
    received=256 * _MB, unpacked=256 * _MB, values=5_000_000, depth=200, files=4, seconds=120.0
)
#: A file of YAML, whose values need hundreds of bytes each while it is read; and the values that its aliases and merge keys stand for.
YAML, YAML_COPIES = Budget(values=1_000_000, depth=200), Budget(values=100_000)
#: A line of an MCP server that is recorded.
MCP_RECORDING = Budget(received=64_000_000)


# --- The suite -------------------------------------------------------------------------------------------


#: A request to the strict server, and the part of an answer that its proxy keeps. The largest request that a provider takes has 50 MB.
SERVER = Budget(received=64 * _MB, unpacked=64 * _MB, values=100_000, depth=200, seconds=120.0)
#: A recorded request. A model's context has room for fewer values; these are judged in `lint`, which waits for nobody.
RECORDED_REQUEST = Budget(values=1_000_000)
#: The headers of such a request, and its path with the query.
SERVER_HEAD, SERVER_TARGET = Budget(received=64 * 1024), Budget(received=16 * 1024)
#: What clients store on the strict server: files, batches, answers.
STORED = Budget(unpacked=512 * _MB)
#: What is noted of one request: violations of one rule, and faults of its shape; and of one file. A note needs some two thousand bytes.
VIOLATIONS, FAULTS, COMPLAINTS = Budget(events=1000), Budget(events=50_000), Budget(events=200_000)
#: A file of settings: a baseline, a script of the server.
SETTINGS = Budget(received=16 * _MB)
#: A page of a package index. The largest of PyPI's have some 10 MB.
INDEX_PAGE = Budget(unpacked=64 * _MB)
#: A published package with recordings; what is taken of it; and one of these files.
ARCHIVE = Budget(received=200 * _MB, unpacked=1024 * _MB)
EXTRACTED = Budget(unpacked=512 * _MB, files=50_000)
EXTRACTED_FILE = Budget(unpacked=64 * _MB)
#: A saved report. One of all runs over all wire formats has four million values.
REPORT = Budget(received=256 * _MB, values=15_000_000, depth=200)


# --- The count of values ---------------------------------------------------------------------------------


_VALUE = 70  # bytes of a parsed value, about
_PIECE = 65536  # characters of a text that are counted at a time


def has_more_values(text: str | bytes, most: int) -> bool:
    """Tells whether a JSON text has more values than a limit, without parsing it. A value of three bytes needs some seventy in memory.

    Args:
        text: The text. It may be damaged.
        most: The limit. Names of objects count as values, and an empty list as two.

    Examples:
        >>> has_more_values('{"a": [1, 2, "x, [y]"]}', 6), has_more_values('{"a": [1, 2, "x, [y]"]}', 5)
        (False, True)
    """
    if len(text) <= most:  # each value has one character
        return False
    return _separators(text) >= most and _counted(text, most) > most


def memory_of(text: bytes) -> int:
    """Returns the bytes that a JSON text and its parsed values need in memory, about.

    Args:
        text: The text. It may be damaged.

    Examples:
        >>> memory_of(b"[1, 2]")
        146
    """
    return len(text) + _VALUE * _separators(text)


_NO_SEPARATORS = bytes(code for code in range(256) if code not in b",:[{")


def _separators(text: Any) -> int:
    if isinstance(text, bytes):
        return len(text.translate(None, _NO_SEPARATORS))
    return sum(map(text.count, ",:[{"))


def _counted(text: Any, most: int) -> int:
    """Returns the number of values, and no more than that it is above the limit. Separators in strings do not count."""
    marks: Any = (b"\\", b'"', b"") if isinstance(text, bytes) else ("\\", '"', "")
    backslash, quote, nothing = marks
    count, place, in_string = 1, 0, 0
    while place < len(text) and count <= most:
        end = place + _PIECE
        while text[end - 1 : end] == backslash:  # what it escapes belongs to the same piece
            end += 1
        piece = text[place:end].replace(backslash * 2, nothing).replace(backslash + quote, nothing)
        parts = piece.split(quote)
        count += _separators(nothing.join(parts[in_string::2]))
        in_string, place = (in_string + len(parts) - 1) % 2, end
    return count


# --- Caches ----------------------------------------------------------------------------------------------

P = ParamSpec("P")
T = TypeVar("T")


def remembered(most: int, longest: int = 1000) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Returns a decorator that keeps the last results of a function whose arguments come from outside: `lru_cache()` alone keeps texts of
    any length.

    Args:
        most: How many results are kept.
        longest: The length of the arguments, all together, whose result is kept. Default: 1000.

    Examples:
        >>> lengths = []
        >>> length = remembered(8, longest=5)(lambda text: lengths.append(len(text)))
        >>> [length(text) for text in ("short", "short", "longer", "longer")] and lengths
        [5, 6, 6]
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        kept = cast("Callable[P, T]", lru_cache(most)(function))

        @wraps(function)
        def read(*given: P.args, **named: P.kwargs) -> T:
            size = sum([len(each) for each in given if isinstance(each, str | bytes | tuple)])
            return (kept if size <= longest else function)(*given, **named)

        return read

    return decorated


# --- Reads that end when an answer must be complete ------------------------------------------------------

# httpcore reads a head without an end, byte by byte, for as long as each byte comes in time. So each connection's `read()` asks whether
# the time of the thread's answer is over. Connections of our own clients do so from the beginning; for others, the extension `TRACE` of
# a request tells of each new one.

_OPENED = ("connect_tcp.complete", "connect_unix_socket.complete", "start_tls.complete")


class Monitor(Protocol):
    """Monitors one answer."""

    ends: float | None  # when it must be complete, by time.monotonic()

    def check(self) -> None:
        """Raises an error if the answer took longer than allowed."""


class _Thread(local):
    monitor: Monitor | None = None  # of the answer that this thread reads


thread = _Thread()


class Late(Exception):
    """An answer was not complete in time."""


@dataclass
class Deadline:
    """The time when an answer must be complete."""

    ends: float | None

    def check(self) -> None:
        """Raises `Late` if it is over."""
        if self.ends is not None and time.monotonic() >= self.ends:
            raise Late


@contextmanager
def ended_by(monitor: Monitor) -> Iterator[None]:
    """Reads the answers of this thread with a monitor, as long as the block runs."""
    before, thread.monitor = thread.monitor, monitor
    try:
        yield
    finally:
        thread.monitor = before


def read_in_time(read: Callable[..., bytes], max_bytes: int, timeout: float | None = None) -> bytes:
    """Reads from a connection as `read` does, but no longer than the thread's answer may take."""
    monitor = thread.monitor
    if monitor is not None and monitor.ends is not None:
        monitor.check()
        left = max(monitor.ends - time.monotonic(), 0.0)
        timeout = left if timeout is None else min(timeout, left)
    return read(max_bytes, timeout)


def _traced(event: str, details: dict[str, Any]) -> None:
    if event.endswith(_OPENED):
        stream = details["return_value"]
        with suppress(AttributeError):  # a network of the caller's own, which has slots
            stream.read = partial(read_in_time, stream.read)


#: The extension of a request that lets its connections be timed.
TRACE = {"trace": _traced}
