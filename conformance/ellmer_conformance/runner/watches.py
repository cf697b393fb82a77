"""What is watched while an adapter runs a case: printed and logged keys, hosts that are called, blocking calls in an event
loop, and a request that its caller cancels.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from asyncio import sleep  # the real one: adapters' pauses may be put forward
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache, lru_cache
from ipaddress import ip_address
from typing import Any, TextIO

from ..scenarios.canary_keys import is_canary
from ..scenarios.messages import Reply

# --- Printed and logged keys -----------------------------------------------------------------------------


#: Libraries that say at DEBUG what each step of a connection does. No adapter decides it, and it has no header of a request.
_TRANSPORTS = ("httpcore", "httpcore2")


@contextmanager
def watching_prints() -> Iterator[list[str]]:
    """Notes each place where a key is written inside the block. All text is still written."""
    places = list[str]()
    root, listener = logging.getLogger(), _Listener(places)
    out, err = _watched(sys.stdout, "standard output"), _watched(sys.stderr, "standard error")
    out.places = err.places = places
    levels: dict[logging.Logger | logging.Handler, int] = {
        handler: max(handler.level, root.level)
        for handler in root.handlers  # they get no more lines than before
    }
    levels |= {each: each.level or logging.INFO for each in map(logging.getLogger, _TRANSPORTS)}
    levels[root] = logging.DEBUG  # what is only logged for those who debug is logged, too
    with ExitStack() as stack:
        stack.enter_context(_at_levels(levels))
        root.addHandler(listener)
        stack.callback(root.removeHandler, listener)
        stack.enter_context(redirect_stdout(out))  # type: ignore[type-var]  # what is written to
        stack.enter_context(redirect_stderr(err))  # type: ignore[type-var]  # likewise
        yield places


@contextmanager
def _at_levels(levels: Mapping[logging.Logger | logging.Handler, int]) -> Iterator[None]:
    """Changes the levels of loggers and handlers inside the block.

    Args:
        levels: The levels, those of the root logger among them.
    """
    before = {each: each.level for each in levels}
    _set(levels)
    try:
        yield
    finally:
        _set(before)


def _set(levels: Mapping[logging.Logger | logging.Handler, int]) -> None:
    """Sets the levels. Loggers remember what they are enabled for, and `setLevel` visits all of them, so it is called once."""
    for each, level in levels.items():
        each.level = level
    root = logging.getLogger()
    root.setLevel(root.level)


def found_in(**texts: str) -> list[str]:
    """Returns the names of the places whose text contains a key."""
    return [name.replace("_", " ") for name, text in texts.items() if is_canary(text)]


class _Listener(logging.Handler):
    def __init__(self, places: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self.places = places

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except Exception:  # noqa: BLE001 - a line that cannot be formatted is ignored
            return
        place = f"the log {record.name} ({record.levelname})"
        if is_canary(text) and place not in self.places:
            self.places.append(place)


class _Watched:
    """A text stream that passes its text on."""

    places: list[str]  # of the conversation that is held now

    def __init__(self, stream: TextIO, name: str) -> None:
        self.stream, self.name = stream, name

    def write(self, text: str) -> int:
        if is_canary(text) and self.name not in self.places:
            self.places.append(self.name)
        return self.stream.write(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)


@lru_cache(maxsize=4)
def _watched(stream: TextIO, name: str) -> _Watched:
    """Returns a wrapper for each stream. It lives longer than the conversation, because until Python 3.14, `print` in
    a library's thread crashes the process if `sys.stdout` is freed meanwhile (gh-130163).
    """
    return _Watched(stream, name)


# --- Hosts that are called -------------------------------------------------------------------------------


_HOST_AT = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}
_host_watches: list[tuple[int, list[str]]] = []


class Elsewhere(ConnectionRefusedError):
    """A connection to another place than the session's server."""


@contextmanager
def watching(port: int) -> Iterator[list[str]]:
    """Refuses and lists every other place than this port of this machine, each once, inside the block."""
    _watch_hosts()
    seen: list[str] = []
    _host_watches.append((port, seen))
    try:
        yield seen
    finally:
        _host_watches.remove((port, seen))


@cache
def _watch_hosts() -> None:
    sys.addaudithook(_refuse_other_hosts)


def _refuse_other_hosts(event: str, args: tuple[Any, ...]) -> None:
    if not _host_watches or event not in _HOST_AT:
        return
    port, seen = _host_watches[-1]
    where = _elsewhere(args[_HOST_AT[event]], port)
    if where:
        if where not in seen:
            seen.append(where)
        raise Elsewhere(
            f"the code connects to {where} ({event}), and the session may connect only to 127.0.0.1:{port}"
        )


def _elsewhere(address: object, port: int) -> str:
    """Returns the place if it is another one; `""` for the server, a local socket, and a wildcard address."""
    if isinstance(address, tuple):
        ours = _is_local(str(address[0])) and address[1] == port
        return "" if ours else f"{address[0]}:{address[1]}"
    host = address.decode() if isinstance(address, bytes) else address
    is_name = isinstance(host, str) and host and not host.startswith("/") and not _is_local(host)
    return str(host) if is_name else ""


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# --- Blocking calls in an event loop ---------------------------------------------------------------------


_loop_watches: list[list[str]] = []


@contextmanager
def watching_loops() -> Iterator[list[str]]:
    """Lists the connections that block an event loop inside the block."""
    _watch_connections()
    seen: list[str] = []
    _loop_watches.append(seen)
    try:
        yield seen
    finally:
        _loop_watches.remove(seen)


@cache
def _watch_connections() -> None:
    sys.addaudithook(_note_blocking_connection)


def _note_blocking_connection(event: str, args: tuple[Any, ...]) -> None:
    if _loop_watches and event == "socket.connect" and asyncio._get_running_loop() is not None:  # noqa: SLF001 - raises not
        waits = getattr(args[0], "gettimeout", lambda: 0.0)()
        if waits != 0.0:
            where = args[1]
            _loop_watches[-1].append(
                f"connect to {':'.join(map(str, where[:2])) if isinstance(where, tuple) else where}"
            )


# --- A request that its caller cancels in the middle of the answer ---------------------------------------


_STEP = 0.005  # seconds between two looks
_UNTIL_SENT = 5.0  # seconds until a request must have come
_UNTIL_LEFT = 1.0  # seconds in which a client must have left


@dataclass
class Answers:
    """The server's knowledge of a conversation's answers: the number of started ones, and the number of clients that
    left early.

    `left` notes for each cancelled request whether the server saw the client close the connection.
    """

    begun: Callable[[], int]
    abandoned: Callable[[], int]
    left: list[bool]


async def cancelled_reply(sending: Awaitable[Reply], answers: Answers, after: int = 0) -> Reply:
    """Cancels a send after its answer has begun, and notes whether the connection was closed within a second.

    `after` is the number of answers that come before the one to cancel.
    """
    before, gone = max(after, answers.begun()), answers.abandoned()
    task = asyncio.ensure_future(sending)
    await _until(lambda: answers.begun() > before or task.done(), _UNTIL_SENT)
    await sleep(_STEP * 4)  # some of the answer is read
    task.cancel()
    try:
        reply = await task
    except asyncio.CancelledError as error:
        reply = Reply(complete=False, error=error)
    except Exception as error:  # noqa: BLE001 - whatever the library raises is its reply
        reply = Reply(complete=False, error=error)
    answers.left.append(await _until(lambda: answers.abandoned() > gone, _UNTIL_LEFT))
    return reply


async def _until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:  # noqa: ASYNC110 - the server is another thread
        await sleep(_STEP)
    return condition()
