"""The HTTP clients of a chat, with their time limits and size limits. Clients are made when first needed, shared by the chat's
forks, and closed with it.

One TLS context serves the process. It is made for the first HTTPS request, because that takes 20 ms and more. Each
event loop has its own client, which is closed when the loop ends at the latest.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, finalize

from ..base.argument_checks import spelt
from ..base.budget import CLIENT, CLIENT_ERROR, TRACE, read_in_time
from ..base.values import Value
from ..errors import UsageError
from .key_forms import HiddenText

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

__all__ = ["Connection", "Limits", "Timeouts"]


# --- Limits ----------------------------------------------------------------------------------------------


@spelt
@dataclass(frozen=True, eq=False, repr=False)
class Timeouts(Value):
    """How long to wait for an answer, in seconds. `None` means no limit.

    Args:
        connect: Until the connection is made. Default: 10.
        idle: Until the next data arrives. An answer that is not streamed arrives all at once. Default: 600.
        total: For the whole answer to one request. Default: 3,600.

    Examples:
        >>> chat = chat_openai(timeout=Timeouts(idle=30))
        >>> Timeouts().total
        3600.0
    """

    connect: float | None = 10.0
    idle: float | None = 600.0
    total: float | None = CLIENT.seconds

    def __post_init__(self) -> None:
        _check_numbers(self, "a number of seconds")


@spelt
@dataclass(frozen=True, eq=False, repr=False)
class Limits(Value):
    """Limits on how much of an answer is read. An answer above a limit raises a `ResponseError` that names the limit.

    Args:
        answer: Bytes of one answer, as they arrive and decompressed. Default: 100 MB. `None` means no limit, here and below.
        events: Events of one stream. Default: 1,000,000.
        error: Bytes of the body of an error; the rest is not read. Default: 250 KB.

    Examples:
        >>> Limits(answer=5_000_000).events
        1000000
    """

    answer: int | None = CLIENT.unpacked
    events: int | None = CLIENT.events
    error: int | None = CLIENT_ERROR.unpacked

    def __post_init__(self) -> None:
        _check_numbers(self, "a number")


def _check_numbers(limits: Timeouts | Limits, what: str) -> None:
    for name, value in vars(limits).items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or value < 0):
            raise UsageError(f"{name}= must be {what}, 0 or more, or None, not {value!r}.")


# --- Clients ---------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class Connection:
    """The clients of one chat. `client` is the caller's own client, or a pair for blocking and async calls. These are
    used unchanged, with their own timeouts unless `timeouts` is set, and are never closed here.
    """

    client: Any = None
    timeouts: Timeouts | None = None
    limits: Limits = field(default_factory=Limits)
    proxy: str | None = None
    #: Is called with the status and the headers of each answer, with the names of the headers in lower case.
    on_answer: Callable[[int, Mapping[str, str]], object] | None = None
    _blocking: dict[int, Any] = field(default_factory=dict, repr=False)
    _async: MutableMapping[AbstractEventLoop, _Tracked] = field(default_factory=WeakKeyDictionary, repr=False)

    def __post_init__(self) -> None:
        if self.client is not None and not all(
            hasattr(client, "build_request") for client in self._own_clients()
        ):
            raise UsageError(
                f"client= must be an httpx.Client or httpx.AsyncClient, or a pair of them, not {self.client!r}."
            )
        if self.proxy is not None and (self.client is not None or "://" not in str(self.proxy)):
            raise UsageError('proxy= must be a URL ("http://localhost:3128") and excludes client=.')
        if self.proxy is not None:
            self.proxy = HiddenText(self.proxy)
        if self.client is None:
            self.timeouts = self.timeouts or Timeouts()

    def blocking(self) -> Any:
        """Returns the client for blocking calls. A forked process gets its own."""
        if self.client is not None:
            return self._own_client(is_async=False)
        process = os.getpid()
        if process not in self._blocking:
            client = _client(self.proxy)
            self._blocking = {process: client}
            finalize(self, client.close)
        return self._blocking[process]

    def prepare(self, url: str) -> None:
        """Makes all that a request to this URL needs and that takes time, but the connection."""
        self.blocking()
        if self.client is None and url.startswith("https:"):
            _tls()

    async def concurrent(self) -> Any:
        """Returns the client for async calls in the running event loop."""
        if self.client is not None:
            return self._own_client(is_async=True)
        loop = _running_loop()
        if loop not in self._async:
            self._async[loop] = tracked = _Tracked(_client(self.proxy, concurrent=True))
            await tracked.start()
        return self._async[loop].client

    def close(self) -> None:
        """Closes the blocking client's connections. The chat stays usable."""
        for client in self._blocking.values():
            client.close()
        self._blocking = {}

    async def aclose(self) -> None:
        """Closes all connections of this event loop, and the blocking client's."""
        self.close()
        tracked = self._async.pop(_running_loop(), None)
        if tracked is not None:
            await tracked.stop()

    def _own_clients(self) -> tuple[Any, ...]:
        return self.client if isinstance(self.client, tuple) else (self.client,)

    def _own_client(self, *, is_async: bool) -> Any:
        for client in self._own_clients():
            if hasattr(client, "aclose") is is_async:
                return client
        wanted, call = ("AsyncClient", "an async") if is_async else ("Client", "a blocking")
        names = " and ".join(type(client).__name__ for client in self._own_clients())
        raise UsageError(
            f"client= is a {names}, which cannot be used in {call} call: give httpx.{wanted}(), or a pair for both."
        )


class _Tracked:
    """An async client that its event loop closes. Event loops finish their generators (`sys.set_asyncgen_hooks`) when
    they end, or when a generator is garbage-collected.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._open = self._closing(self.client)

    async def start(self) -> None:
        await anext(self._open)

    async def stop(self) -> None:
        await self._open.aclose()

    @staticmethod
    async def _closing(client: Any) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await client.aclose()


def _running_loop() -> AbstractEventLoop:
    from asyncio import get_running_loop  # noqa: PLC0415 - blocking chats do without it

    return get_running_loop()


def _client(proxy: str | None, *, concurrent: bool = False) -> Any:
    """Returns a client with a pool for each request, through this proxy or those of the environment."""
    from urllib.request import getproxies  # noqa: PLC0415 - httpx brings it

    from . import httpx_clients  # noqa: PLC0415 - httpx takes longer to import than this package

    proxies = {"all": proxy} if proxy is not None else getproxies()
    if concurrent:
        return httpx_clients.AsyncClient(transport=httpx_clients.AsyncPools(_tls, proxies))
    return httpx_clients.Client(transport=httpx_clients.Pools(_tls, proxies, read_in_time, TRACE))


@cache
def _tls() -> Any:
    import httpx  # noqa: PLC0415 - as above

    return httpx.create_ssl_context()
