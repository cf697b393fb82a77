"""The tools of an MCP server for a chat. The connection has its own thread with an event loop, so that blocking and
async chats can call the same tool.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..contents.content import ContentToolResult, ToolDef, in_words
from ..errors import ConnectError, UsageError
from ..schemas.external_tool_schemas import arguments_of
from ..tools.definition import tool_annotations
from .results import result_of

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from mcp import Client, StdioServerParameters
    from mcp.types import Tool

__all__ = ["McpTools", "mcp_tools"]

MOST_PAGES = 100  # of a list of tools


def mcp_tools(
    server: str | Sequence[str] | StdioServerParameters | Any,
    *,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    prefix: str = "",
    timeout: float | None = None,
    connect_timeout: float = 60.0,
    max_tools: int = 1000,
) -> McpTools:
    """Returns the tools of an MCP server: `with mcp_tools(…) as tools: chat.register_tools(tools)`; also
    `async with`.

    Args:
        server: A URL (streamable HTTP), the words of a command (started here, and ended with the block), or anything
            that the SDK's `Client` connects to.
        headers: HTTP headers of each request to a URL.
        env: Variables that are added to the few that a command inherits.
        prefix: What the names of the tools begin with.
        timeout: Seconds that a call may take; `None` (default) sets no limit.
        connect_timeout: Seconds in which the server has to introduce itself and list its tools.
        max_tools: The most tools that a server may list.

    Returns:
        A context that yields the tools and closes the connection.

    Raises:
        ConnectError: No server answers within `connect_timeout`.
        UsageError: The server lists more than `max_tools` tools, or the SDK is not installed.

    Examples:
        >>> with mcp_tools(["uvx", "mcp-server-time"]) as tools:  # doctest: +SKIP
        ...     chat.register_tools(tools)
    """
    return McpTools(server, dict(headers or {}), dict(env or {}), prefix, timeout, connect_timeout, max_tools)


@dataclass
class McpTools:
    """A connection to an MCP server, open while its `with` block runs; see `mcp_tools()`."""

    server: Any
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    env: dict[str, str] = field(default_factory=dict, repr=False)
    prefix: str = ""
    timeout: float | None = None
    connect_timeout: float = 60.0
    max_tools: int = 1000
    _open: ExitStack = field(default_factory=ExitStack, repr=False)

    def __enter__(self) -> list[ToolDef]:
        from anyio.from_thread import start_blocking_portal  # noqa: PLC0415 - imported when first needed

        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal(name="ellmer_core mcp"))
            try:
                client, listed = stack.enter_context(portal.wrap_async_context_manager(self._connected()))
            except Exception as error:
                first = _first(error)
                if isinstance(first, UsageError):
                    raise first from error
                why = _in_words(first, self.connect_timeout)
                raise ConnectError(f"No MCP server answers at {self._where}: {why}") from error
            self._open = stack.pop_all()
        tools = [self._tool(portal, client, one) for one in listed]
        if twice := _twice(tool.name for tool in tools):
            self._open.close()
            raise UsageError(f"Two tools of {self._where} have the same name for a model: {twice}.")
        return tools

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._open.close()

    async def __aenter__(self) -> list[ToolDef]:
        from anyio.to_thread import run_sync  # noqa: PLC0415 - imported when first needed

        return await run_sync(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        from anyio.to_thread import run_sync  # noqa: PLC0415 - imported when first needed

        await run_sync(self._open.close)

    @property
    def _where(self) -> str:
        return " ".join(self.server) if isinstance(self.server, list | tuple) else str(self.server)

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[tuple[Client, list[Tool]], None]:
        try:
            from mcp import Client, StdioServerParameters  # noqa: PLC0415 - imported when first needed
        except ImportError as error:
            raise UsageError('MCP needs its SDK: pip install "ellmer-core[mcp]"') from error
        from anyio import fail_after  # noqa: PLC0415 - imported when first needed

        async with AsyncExitStack() as stack:
            target = self.server
            if isinstance(target, str):
                target = await _over_http(stack, target, self.headers)
            elif isinstance(target, list | tuple):
                command, *words = target
                target = StdioServerParameters(command=command, args=words, env=self.env or None)
            scope = stack.enter_context(fail_after(self.connect_timeout))
            client = await stack.enter_async_context(Client(target))
            listed = await _listed(client, self.max_tools)
            scope.deadline = math.inf
            yield client, listed

    def _tool(self, portal: BlockingPortal, client: Client, tool: Tool) -> ToolDef:
        def call(**arguments: Any) -> ContentToolResult:
            said = partial(client.call_tool, tool.name, arguments, self.timeout)
            return result_of(portal.call(said))

        name = re.sub(r"[^a-zA-Z0-9_-]", "_", self.prefix + tool.name)[:64]
        annotations = _annotations(tool)
        return ToolDef(
            call,
            name,
            tool.description or in_words(tool.name),
            arguments_of(tool.input_schema),
            convert=False,  # the server reads its arguments itself
            annotations=annotations,
        )


async def _over_http(stack: AsyncExitStack, url: str, headers: Mapping[str, str]) -> Any:
    import httpx2  # noqa: PLC0415 - the SDK brings it
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    client = httpx2.AsyncClient(headers=dict(headers), timeout=httpx2.Timeout(30, read=300))
    return streamable_http_client(url, http_client=await stack.enter_async_context(client))


async def _listed(client: Client, most: int) -> list[Tool]:
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor and len(tools) <= most:
            return tools
        if len(tools) > most:
            break
    raise UsageError(
        f"The server lists more than {most} tools, or more than {MOST_PAGES} pages of them. No model accepts "
        "that many; `max_tools` sets the limit."
    )


def _annotations(tool: Tool) -> dict[str, Any]:
    hints = tool.annotations
    if hints is None:
        return tool_annotations(tool.title)
    return tool_annotations(
        tool.title or hints.title,
        read_only_hint=hints.read_only_hint,
        open_world_hint=hints.open_world_hint,
        idempotent_hint=hints.idempotent_hint,
        destructive_hint=hints.destructive_hint,
    )


def _twice(names: Iterable[str]) -> str:
    return ", ".join(name for name, times in Counter(names).items() if times > 1)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _in_words(error: BaseException, patience: float) -> str:
    if isinstance(error, TimeoutError):
        return f"it said nothing, or went on listing its tools, for {patience:g} seconds (`connect_timeout`)"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
