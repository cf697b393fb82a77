"""MCP servers that a client starts as a process: each message of the client is an exchange, as over HTTP.

The Python SDK talks to such a server in lines of JSON-RPC, and so do the libraries on top of it. A message of the client is
recorded as MCP sends it over HTTP: a POST, to `stdio://COMMAND/?ARGUMENTS`. The body of its answer has one line for each message that
the server sent until the client sent the next one. In a replay, the server is not started.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
"""

from __future__ import annotations

import functools
import importlib
import json
import re
import tempfile
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from ellmer_core.base.budget import MCP_RECORDING

from ...errors import Miss
from ...exchange.json_rpc import message_of
from ...exchange.messages import Failure
from ...secrets.named_credentials import is_credential, kind
from ...secrets.redaction import MASK
from .. import open_cassettes
from ..http1 import BrokenError, Outgoing, Wire
from ..open_cassettes import RequestInFlight

_WIRE = Wire("mcp")
_MODULE, _STARTS = "mcp.client.stdio", "_create_platform_compatible_process"
_HANDSHAKE = ("initialize", "notifications/initialized")
_ANSWER = [("content-type", "application/x-ndjson")]
_FAILED = -32000  # https://www.jsonrpc.org/specification#error_object: of the implementation
_PROJECT = ("pyproject.toml", "package.json", ".git")
_LIBRARIES = {"site-packages", "node_modules"}
_PARAMETER = re.compile(r"[\w.-]+=")
_NAMED = re.compile(
    r"""(?<![\w.-])(?P<name>[\w.-]{1,99})(?P<between>["']?\s*[:=]\s*["']?(?:(?:Bearer|Basic)\s+)?)(?P<value>[^\s"',;&]+)"""
)
_OPTION = re.compile(r"(?<!\S)(?P<name>--?[\w-]+)(?P<between>\s+)(?P<value>\S+)")
_PYTHON = re.compile(r"python[\d.]*(\.exe)?")
Start = Callable[[], Awaitable[Any]]


def wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields the function that starts a server, with its wrapper."""
    module = importlib.import_module(_MODULE)
    if hasattr(module, _STARTS):
        yield module, _STARTS, _starting


def _starting(real: Any) -> Any:
    async def start(command: str, args: list[str], *rest: Any, **options: Any) -> Any:
        cassette: Any = open_cassettes.current()
        begin = functools.partial(real, command, args, *rest, **options)
        if cassette is None or not cassette.takes("mcp"):
            return await begin()
        url = server_url(command, args)
        return RecordedServer(url, begin, None if cassette.may_answer(url) else await begin())

    return start


# --- The address of a server -------------------------------------------------------------------------------


def server_url(command: str, args: Sequence[str]) -> str:
    """Returns the address of a server: its command and arguments, without what differs from one machine to the next.

    An absolute path is written relative to its project, or as its name. An option is joined with its value, so that
    credentials are masked like parameters of a URL. Those inside of an argument (a header, an assignment, JSON) are masked here.

    Args:
        command: The command that starts the server.
        args: Its arguments.
    """
    program = Path(command).name
    words: list[str] = []
    for arg in args:
        if words and _takes(words[-1], arg):
            words[-1] += f"={_without_credentials(_portable(arg))}"
        else:
            word = _portable(arg)
            name, equals, value = word.partition("=") if _PARAMETER.match(word) else ("", "", word)
            words.append(name + equals + _without_credentials(value))
    query = "&".join(quote(word, safe="=@/:,.+-_~") for word in words)
    return f"stdio://{'python' if _PYTHON.fullmatch(program) else quote(program)}/" + (
        f"?{query}" if query else ""
    )


def _takes(option: str, arg: str) -> bool:
    """Tells whether an argument is the value of the option before it."""
    if not option.startswith("-") or "=" in option:
        return False
    return bool(kind(option)) or (option.startswith("--") and not arg.startswith("-"))


def _without_credentials(text: str) -> str:
    return _NAMED.sub(_masked, _OPTION.sub(_masked, text))


def _masked(found: re.Match[str]) -> str:
    return (
        found["name"] + found["between"] + MASK if is_credential(found["name"], found["value"]) else found[0]
    )


def _portable(arg: str) -> str:
    path = Path(arg)
    if not path.is_absolute():
        return arg
    for folder in () if _LIBRARIES & {*path.parts} else path.parents:
        if any((folder / name).exists() for name in _PROJECT):
            return path.relative_to(folder).as_posix()
    return "tmp" if path.parent == Path(tempfile.gettempdir()) else path.name


# --- A server ----------------------------------------------------------------------------------------------


class RecordedServer(Process):
    """A server as its client sees it. `real` is its process, once it runs: a recorded answer needs none."""

    def __init__(self, url: str, start: Start, real: Any = None) -> None:
        self._url, self._start, self._real = url, start, real
        self._latest: RequestInFlight | None = None
        self._waiting: dict[Any, RequestInFlight] = {}
        self._handshake: list[bytes] = []
        self._dropped: set[Any] = set()
        self._early: list[bytes] = []  # lines that came before the client said anything
        self._begun = bytearray()  # a line of the server that has not ended
        self._out: deque[bytes] = deque()
        self._wakes = anyio.Event()
        self._reading: anyio.CancelScope | None = None
        self._closed = False
        self._stdin, self._stdout = _Input(self), _Output(self)

    # What the client uses.

    @property
    def stdin(self) -> Any:
        """Where the client writes."""
        return self._stdin

    @property
    def stdout(self) -> Any:
        """Where the client reads."""
        return self._stdout

    @property
    def stderr(self) -> Any:
        """The errors of the process."""
        return getattr(self._real, "stderr", None)

    @property
    def pid(self) -> int:
        """The number of the process; 0 if none runs."""
        return getattr(self._real, "pid", 0)

    @property
    def returncode(self) -> int | None:
        """The exit code of the process; 0 once the client has closed a server that does not run."""
        return self._real.returncode if self._real else (0 if self._closed else None)

    async def wait(self) -> int:
        """Waits for the end of the process."""
        return int(await self._real.wait()) if self._real else 0

    def terminate(self) -> None:
        """Ends the process."""
        self.send_signal("terminate")

    def kill(self) -> None:
        """Kills the process."""
        self.send_signal("kill")

    def send_signal(self, signal: Any) -> None:
        """Sends a signal to the process."""
        if self._real:
            getattr(self._real, signal)() if isinstance(signal, str) else self._real.send_signal(signal)
        self._end()

    async def aclose(self) -> None:
        """Closes the process and its streams."""
        if self._real:
            await self._real.aclose()
        self._end()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_real":
            raise AttributeError(name)
        return getattr(self._real, name)

    # What the client sends.

    async def sent(self, line: bytes) -> None:
        """Replays the answer to a message of the client, or sends the message and records what comes back."""
        message = message_of(line) or {}
        try:
            take = self._begin(line)
        except Miss as miss:  # a server has its own task, where nobody expects an exception
            self._refuse(message, f"{type(miss).__name__}: {miss}")
            return
        if take is not None and take.reply is not None:
            if message.get("method") in _HANDSHAKE:
                self._handshake.append(line)
            self._play(message, take)
            return
        if not self._real:
            await self._start_late()
        if take is not None:
            self._follow(message, take)
        await self._real.stdin.send(line + b"\n")

    def _begin(self, line: bytes) -> RequestInFlight | None:
        cassette = open_cassettes.current()
        if cassette is None or not cassette.takes("mcp"):
            return None
        return cassette.begin(
            _WIRE, Outgoing.of("POST", self._url, {"content-type": "application/json"}), line
        )

    async def _start_late(self) -> None:
        """Starts the process after recorded messages were replayed, and tells it how the conversation began."""
        self._real = await self._start()
        for line in self._handshake:
            self._dropped.add((message_of(line) or {}).get("id"))
            await self._real.stdin.send(line + b"\n")
        self._wake()

    async def close_input(self) -> None:
        """Tells the server that the client will send nothing more."""
        if self._real:
            await self._real.stdin.aclose()
        else:
            self._end()

    async def close_output(self) -> None:
        """Closes what the client reads from."""
        if self._real:
            await self._real.stdout.aclose()
        self._end()

    # While a cassette records.

    def _follow(self, message: dict[str, Any], take: RequestInFlight) -> None:
        """Notes from now on what the server says under this message."""
        asks = "method" in message and "id" in message
        take.answered(200, "OK", _ANSWER) if asks else take.answered(202, "Accepted", _ANSWER)
        before, self._latest = self._latest, take
        if before is not None and before not in self._waiting.values():
            before.eof()
        if asks:
            self._waiting[message["id"]] = take
        for line in self._early:
            take.chunk(line)
        self._early.clear()

    def heard(self, data: bytes) -> bytes:
        """Notes what the server said, and returns what the client gets of it. Raises `EndOfStream` for a line without an end."""
        head, ended, rest = data.rpartition(b"\n")
        lines = bytes(self._begun + head).split(b"\n") if ended else []
        if ended:
            self._begun.clear()
        self._begun += rest
        if len(self._begun) > MCP_RECORDING.received:
            self._begun.clear()
            self.server_ended(f"the server sent a line of more than {MCP_RECORDING.received:,} bytes")
            raise anyio.EndOfStream
        return b"".join(line + b"\n" for line in lines if self._is_for_client(line))

    def _is_for_client(self, line: bytes) -> bool:
        message = message_of(line) or {}
        answers = "method" not in message and isinstance(message.get("id"), str | int)
        if answers and message["id"] in self._dropped:
            self._dropped.remove(message["id"])
            return False
        take = self._take_of(message)
        if take is None or take.exchange.ended:
            self._early.append(line + b"\n")
        else:
            take.chunk(line + b"\n")
        if answers and self._waiting.pop(message["id"], None) is not self._latest and take:
            take.eof()
        return True

    def _take_of(self, message: dict[str, Any]) -> RequestInFlight | None:
        """Returns the exchange of a server's message: the request that it answers or reports on, else the latest one."""
        params = message.get("params")
        token = params.get("progressToken") if isinstance(params, dict) else None
        number = token if "method" in message else message.get("id")
        return self._waiting.get(number, self._latest) if isinstance(number, str | int) else self._latest

    def server_ended(self, why: str = "the server ended before it answered") -> None:
        """Notes that the process has closed its output, or that nothing more is read of it."""
        for take in self._waiting.values():
            take.broke(Failure("RemoteProtocolError", why))
        self._end()

    # While a cassette plays.

    def _play(self, message: dict[str, Any], take: RequestInFlight) -> None:
        reply = take.reply
        assert reply is not None, "only an exchange with a reply is played"
        with suppress(BrokenError):
            take.begin_reply()
            if reply.status >= 400:  # of HTTP: an error
                self._refuse(message, f"{reply.status} {reply.reason}")
            else:
                take.exchange.chunks += [piece.data for piece in reply.pieces]
                self._push(reply.body)
            if reply.failure is None:
                take.eof()
                return
            take.broke(reply.failure)
        self._end()

    def _refuse(self, message: dict[str, Any], why: str) -> None:
        """Answers a request with an error of JSON-RPC. A notification has no answer."""
        if "method" in message and "id" in message:
            error = {"code": _FAILED, "message": why}
            answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            self._push(json.dumps(answer, separators=(",", ":")).encode() + b"\n")

    # The output.

    def _push(self, data: bytes) -> None:
        if data:
            self._out.append(data)
            self._wake()

    def _wake(self) -> None:
        wakes, self._wakes = self._wakes, anyio.Event()
        wakes.set()
        if self._reading is not None:
            self._reading.cancel()

    def _end(self) -> None:
        self._closed = True
        if self._latest is not None:
            self._latest.eof()
        self._wake()

    async def said(self) -> bytes:
        """Returns what the client reads next. Raises anyio's `EndOfStream` at the end."""
        while not self._out:
            if self._closed and self._real is None:
                raise anyio.EndOfStream
            if self._real is None:
                await self._wakes.wait()
            elif data := self.heard(await self._read()):
                return data
        await anyio.lowlevel.checkpoint()
        return self._out.popleft()

    async def _read(self) -> bytes:
        """Returns what the process says, or nothing if a replayed answer comes first."""
        try:
            with anyio.CancelScope() as self._reading:
                return bytes(await self._real.stdout.receive())
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self.server_ended()
            raise
        finally:
            self._reading = None
        return b""


class _Input(ByteSendStream):
    def __init__(self, server: RecordedServer) -> None:
        self._server, self._begun = server, b""

    async def send(self, item: bytes) -> None:
        *lines, self._begun = (self._begun + item).split(b"\n")
        for line in lines:
            await self._server.sent(line)

    async def aclose(self) -> None:
        await self._server.close_input()


class _Output(ByteReceiveStream):
    def __init__(self, server: RecordedServer) -> None:
        self._server = server

    async def receive(self, max_bytes: int = 65536) -> bytes:  # noqa: ARG002  # lines come as they are
        return await self._server.said()

    async def aclose(self) -> None:
        await self._server.close_output()
