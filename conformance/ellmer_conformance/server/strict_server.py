"""The strict server, in a thread for tests, or in the foreground."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import date
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import quote

from ..contract.observed.exchange import Exchange
from ..contract.rule import Verdict
from ..garbage_collection import collected_rarely
from ..scenarios.script import Script
from .engine import BesideTheLoop, Engine, Mode
from .http.connection import PATIENCE, Connection, Handler
from .http.messages import KnownRequests
from .journal import Entry

if TYPE_CHECKING:
    from ..scenarios.answer_script import AnswerScript
    from .proxy import Proxy
    from .scripts.script_player import ScriptPlayer


class PortInUse(OSError):
    """Another program uses the port.

    Examples:
        >>> with StrictServer() as server:
        ...     try:
        ...         with StrictServer(port=int(server.origin.rpartition(":")[2])):
        ...             pass
        ...     except PortInUse:
        ...         print("Choose another port.")
        Choose another port.
    """


class StrictServer:
    """A strict server on a port of its own while the `with` block runs.

    Each pair of case and nonce is a conversation of its own. The case `any` is always there.

    Args:
        scripts: The scripts by name of the case. Default: none.
        mode: `"reject"` (default) refuses requests as the providers do, `"observe"` only notes what is wrong, and `"proxy"`
            passes requests to the API at `upstream`.
        port: The port; 0 (default) takes a free one.
        host: The address to listen on. Default: `"127.0.0.1"`.
        upstream: The URL of the API in the mode `"proxy"`. Default: `""`, for the other modes.
        names: Host names under which the pages (`/`, `/reports`) may be opened, besides addresses and `localhost`.
            Default: none.
        handler: Answers requests instead of the server's engine. Default: `None`, the engine answers.
        script: The answers to requests that name no case: the entries of a script, an `AnswerScript`, or the path of a file of
            YAML or JSON, which is read again when it changes. Default: the server's own model answers.
        strict_script: Whether a request that no entry of the script fits is an error. Default: `False`.
        today: The day as of which requests are judged: rules that came later do not hold yet. Default: today.

    Examples:
        >>> with StrictServer({"hello": Script((Answer((Say("Hi"),)),))}) as server:
        ...     server.url("hello", "1").removeprefix(server.origin)
        '/c/hello/1'
    """

    def __init__(
        self,
        scripts: Mapping[str, Script] | None = None,
        *,
        mode: Mode = "reject",
        port: int = 0,
        host: str = "127.0.0.1",
        upstream: str = "",
        names: Iterable[str] = (),
        handler: Handler | None = None,
        script: AnswerScript | Path | str | Mapping[str, Any] | Sequence[Any] | None = None,
        strict_script: bool = False,
        today: date | None = None,
    ) -> None:
        if (mode == "proxy") != bool(upstream):
            raise ValueError("the mode proxy needs an upstream URL, and other modes accept none")
        player = None if script is None else _player(script, strict=strict_script)
        self.engine = Engine(scripts or {}, mode, names=frozenset({host, *names}), today=today, player=player)
        self._proxy = _proxy(self.engine, upstream) if upstream else None
        self._handler: Handler = handler or self._proxy or BesideTheLoop(self.engine)
        self.host, self.port = host, port
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._up = Event()
        self._failed: BaseException | None = None
        self._thread = Thread(target=self._run, name="strict-server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._up.wait()
        if self._failed:
            self._thread.join()
            raise self._failed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def origin(self) -> str:
        """The address of the server, such as `http://127.0.0.1:PORT`. It is this machine's own (`127.0.0.1`, `[::1]`) if the
        server listens on all addresses (`0.0.0.0`, `::`).
        """
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - it is only compared
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def url(self, case: str, nonce: str) -> str:
        """Returns the base URL of a conversation. The provider's own path comes after it.

        Args:
            case: Name of the case.
            nonce: Any text; it separates conversations with the same case.

        Examples:
            >>> with StrictServer() as server:
            ...     server.url("two_parallel_tools", "1").removeprefix(server.origin)
            '/c/two_parallel_tools/1'
        """
        return f"{self.origin}/c/{quote(case, safe='')}/{quote(nonce, safe='')}"

    def knows(self, case: str, script: Script) -> None:
        """Adds the script of a case, unless the server has one of that name.

        Args:
            case: Name of the case.
            script: What the model says.

        Examples:
            >>> with StrictServer() as server:
            ...     server.knows("hello", Script((Answer((Say("Hi"),)),)))
        """
        cast("MutableMapping[str, Script]", self.engine.scripts).setdefault(case, script)

    @property
    def requests(self) -> list[Entry]:
        """The requests to all conversations, oldest first, with their answers and their violations.

        Examples:
            >>> with StrictServer() as server:
            ...     server.requests
            []
        """
        return self.engine.journal.all()[0]

    def exchanges(self, case: str, nonce: str) -> list[Exchange]:
        """Returns the requests and answers of a conversation, including refused ones.

        Args:
            case: Name of the case.
            nonce: The nonce of the conversation.

        Examples:
            >>> with StrictServer({"hello": Script(())}) as server:
            ...     server.exchanges("hello", "1")
            []
        """
        return [entry.exchange for entry in self.engine.journal.of(case, nonce)]

    def verdicts(self, case: str, nonce: str) -> list[Verdict]:
        """Returns the verdicts of the rules on the requests of a conversation, request by request.

        Args:
            case: Name of the case.
            nonce: The nonce of the conversation.

        Examples:
            >>> with StrictServer({"hello": Script(())}) as server:
            ...     server.verdicts("hello", "1")
            []
        """
        return [verdict for entry in self.engine.journal.of(case, nonce) for verdict in entry.verdicts]

    def serve_forever(self, ready: Callable[[], None]) -> None:
        """Serves in this thread until it is interrupted. Meanwhile, the process collects garbage rarely.

        Args:
            ready: Function that is called when the port is known.
        """
        try:
            with collected_rarely(), asyncio.Runner(loop_factory=_fast_loop()) as runner:
                runner.run(self._serve(ready))
        except KeyboardInterrupt:
            return

    def _run(self) -> None:
        try:
            asyncio.run(self._serve(self._up.set))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._failed = error
        finally:
            self._up.set()

    async def _serve(self, ready: Callable[[], None]) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            # A real key passes the proxy, and is not kept.
            requests = None if self._proxy else KnownRequests()
            async with _listening(self._handler, requests, self.host, self.port) as self.port:
                ready()
                await self._stop.wait()
        finally:
            if self._proxy:
                await self._proxy.aclose()


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Returns the maker of uvloop's event loops, which Windows does not have, or `None` for Python's own."""
    try:
        from uvloop import new_event_loop  # noqa: PLC0415 - it is not installed everywhere
    except ImportError:
        return None
    maker: Callable[[], asyncio.AbstractEventLoop] = new_event_loop
    return maker


async def _sweep(connections: set[Connection]) -> None:
    """Closes idle connections from time to time. `asyncio.sleep()` may use a client's virtual clock here."""
    while True:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), PATIENCE / 8)
        now = asyncio.get_running_loop().time()
        for connection in list(connections):
            connection.weary(now)


def _player(
    script: AnswerScript | Path | str | Mapping[str, Any] | Sequence[Any], *, strict: bool
) -> ScriptPlayer:
    """Returns the player of a script. Its modules take a while to import, and most servers have none."""
    from ..scenarios.answer_script import script_of  # noqa: PLC0415 - see above
    from .scripts.script_player import ScriptPlayer  # noqa: PLC0415 - see above

    place = Path(script) if isinstance(script, str) else script
    return ScriptPlayer(place if isinstance(place, Path) else script_of(place), strict=strict)


def _proxy(engine: Engine, upstream: str) -> Proxy:
    """Returns the way to the upstream. Its client takes a while to import, and most servers have none."""
    from .proxy import Proxy  # noqa: PLC0415 - see above

    return Proxy(engine, upstream)


async def _turns() -> None:
    """Lets the loop make the connection that was accepted last, or tell each closed one that it is lost."""
    for _ in range(8):
        await asyncio.sleep(0)


@asynccontextmanager
async def _listening(
    handler: Handler, cache: KnownRequests | None, host: str, port: int
) -> AsyncIterator[int]:
    """Listens and yields the port. It closes every connection at the end."""
    connections: set[Connection] = set()
    try:
        server = await asyncio.get_running_loop().create_server(
            lambda: Connection(handler, connections, cache), host, port, backlog=1024
        )
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise PortInUse(
            errno.EADDRINUSE,
            f"port {port} on {host} is in use. Stop the program that listens there, or choose another port",
        ) from error
    swept = asyncio.create_task(_sweep(connections))
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        swept.cancel()
        with suppress(NotImplementedError):  # Windows
            for listener in server.sockets:  # a closed server would leave open what it accepted just now
                asyncio.get_running_loop().remove_reader(listener.fileno())
        await _turns()
        server.close()
        for connection in list(connections):
            connection.close()
        await _turns()
        await server.wait_closed()
