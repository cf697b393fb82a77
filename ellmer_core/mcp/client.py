"""Tools, resources and prompts of an MCP server, and what it asks while a call runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from logging import WARNING
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast
from urllib.parse import urlsplit

from .._chat.chat import Chat
from ..base.argument_checks import spelt
from ..base.budget import MCP_CALL, MCP_SERVER
from ..base.log import log_raised, warn
from ..contents import content as ours
from ..contents.turns import Turn, UserTurn
from ..errors import ConnectError, EllmerError, UsageError
from ..schemas.type_functions import arguments_of
from ..tools.definition import ToolContext, tool_annotations
from ..transport.http_exchange import NO_KEYS, secrets_in_query, user_of
from ..transport.key_forms import HiddenText
from ..transport.sent_keys import SentKeys, is_secret, keys_in
from ..wire.base import HiddenHeaders
from .conversion import content_of_resource, result_of, turns_of
from .questions import Asking, all_that_is_asked, answer
from .reading import LINES, ErrorOutput, bounded_answer, few_requests

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from mcp import Client, StdioServerParameters
    from mcp.client import Transport
    from mcp.types import CallToolResult, Tool

T = TypeVar("T")


# --- tools of servers ------------------------------------------------------------------------------------


MOST_PAGES = 100  # of a list
CLOSING = 10.0  # seconds that the end of a connection may take


@spelt
def mcp_tools(
    server: str | Sequence[str] | StdioServerParameters | Any,
    *,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    prefix: str = "",
    timeout: float | None = MCP_CALL.seconds,
    connect_timeout: float = MCP_SERVER.seconds,
    max_tools: int = MCP_SERVER.events,
    auth: Any = None,
    sampling: Chat | None = None,
    ask_before_sampling: bool = True,
    defer: bool = False,
    protocol: Literal["auto", "legacy"] = "auto",
) -> McpTools:
    """Returns the tools of an MCP server: `with mcp_tools(…) as tools: chat.register_tools(tools)`; also
    `async with`.

    While one of its tools runs, the server may ask the user something (elicitation). The question is answered
    like the approval of a call: by `chat.approve`, the console, the app, or a later decision, after which the tool is called
    again. If there is nobody to ask, the answer is no. A server that asks more than a hundred times while one call runs ends the call.

    Args:
        server: A URL (streamable HTTP), the words of a command (started here, and ended with the block), or anything
            that the SDK's `Client` connects to.
        headers: HTTP headers of each request to a URL.
        env: Variables that are added to the few that a command inherits.
        prefix: What the names of the tools begin with.
        timeout: Seconds that a call may take, or reading a resource or a prompt. The time of questions to the user or the model
            does not count. Default: 300; `None` sets no limit.
        connect_timeout: Seconds in which the server has to introduce itself and list its tools, its resources or its prompts.
        max_tools: The most tools that a server may list.
        auth: An `httpx2.Auth` for a URL, such as the SDK's `OAuthClientProvider`; `None` (default) sends only the headers.
        sampling: A chat whose model the server may ask while one of its tools runs. Its history and its tools are not used,
            and its `usage_limits` hold for each answer. Default: `None`, the server is told that there is no model.
        ask_before_sampling: Whether the user is asked each time. Default: `True`.
        defer: Whether the model sees the tools only after it searched for them, as of `tool(…, defer=True)`. Default: `False`.
        protocol: `"auto"` (default) uses the newest version of the protocol that the server supports. `"legacy"` uses the versions
            before July 2026, in which a server can ask the user from inside of a tool (`ctx.elicit()` of the SDK).

    Returns:
        A context that yields the tools and closes the connection. It also reads resources and prompts.

    Raises:
        ConnectError: No server answers within `connect_timeout`.
        UsageError: `server` is neither a URL nor a command, it lists more than `max_tools` tools, or the SDK is not installed.

    Examples:
        >>> with mcp_tools(["uvx", "mcp-server-time"]) as tools:  # doctest: +SKIP
        ...     chat.register_tools(tools)
    """
    for name, given in (("headers", headers), ("env", env)):
        if not all(isinstance(each, str) for pair in (given or {}).items() for each in pair):
            raise UsageError(f"{name}= must have strings as names and as values.")
    if isinstance(server, str) and "://" not in server:
        raise UsageError(
            'server= must be a URL, such as "https://example.com/mcp", or the words of a command in a list: ["uvx", "mcp-server-time"].'
        )
    return McpTools(
        server,
        HiddenHeaders(headers or {}),
        HiddenHeaders(env or {}),
        prefix,
        timeout,
        connect_timeout,
        max_tools,
        auth,
        sampling,
        ask_before_sampling,
        defer,
        protocol,
    )


@dataclass
class McpTools:
    """A connection to an MCP server, open while its `with` block runs; see `mcp_tools()`."""

    server: Any = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    env: dict[str, str] = field(default_factory=dict, repr=False)
    prefix: str = ""
    timeout: float | None = MCP_CALL.seconds
    connect_timeout: float = MCP_SERVER.seconds
    max_tools: int = MCP_SERVER.events
    auth: Any = field(default=None, repr=False)
    sampling: Chat | None = None
    ask_before_sampling: bool = True
    defer: bool = False
    protocol: Literal["auto", "legacy"] = "auto"
    _open: ExitStack = field(default_factory=ExitStack, repr=False)
    _session: tuple[BlockingPortal, Client] | None = field(default=None, repr=False)
    _running: list[Asking] = field(default_factory=list, repr=False)
    _keys: SentKeys = field(default=NO_KEYS, repr=False)
    _stderr: ErrorOutput | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        texts = [each for each in self._words if isinstance(each, str)]
        self._keys = SentKeys({**self.env, **self.headers}, tuple(_secrets_in(texts)))
        words = [HiddenText(each) if isinstance(each, str) else each for each in self._words]
        self.server = words if isinstance(self.server, list | tuple) else words[0]

    def __repr__(self) -> str:
        return f"mcp_tools({self._where!r})"

    @property
    def _words(self) -> list[Any]:
        return list(self.server) if isinstance(self.server, list | tuple) else [self.server]

    def __enter__(self) -> list[ours.ToolDef]:
        from anyio.from_thread import start_blocking_portal  # noqa: PLC0415 - imported when first needed

        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal(name="ellmer_core mcp"))
            opened: tuple[Client, list[Tool]] | BaseException
            try:
                opened = stack.enter_context(portal.wrap_async_context_manager(self._connected()))
            except Exception as error:  # noqa: BLE001 - raised again as one of ours
                opened = self._first(error)
            if isinstance(opened, BaseException):  # above, its context would have the frames of the SDK
                started = not isinstance(opened, FileNotFoundError | PermissionError)
                why = f"{_in_words(opened, self.connect_timeout, 'connect_timeout')}{self._last_words() if started else ''}"
                raise self._failure(opened, f"No MCP server answers at {self._where}: {why}")
            client, listed = opened
            self._open, self._session = stack.pop_all(), (portal, client)
        if twice := [name for name, times in Counter(each.name for each in listed).items() if times > 1]:
            self._close()
            raise UsageError(f"{self._where} lists two tools of the same name: {', '.join(twice)}.")
        return _named_apart([self._tool(portal, client, definition) for definition in listed])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._session = None
        self._close()

    def _close(self) -> None:
        """Closes the connection. That it had broken before, the calls have said."""
        try:
            self._open.close()
        except Exception as error:  # noqa: BLE001 - of any transport
            first = self._first(error)
            log_raised(
                WARNING, "mcp: the connection ended with %s: %s", type(first).__name__, first, error=first
            )

    async def __aenter__(self) -> list[ours.ToolDef]:
        from anyio.to_thread import run_sync  # noqa: PLC0415 - imported when first needed

        return await run_sync(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        from anyio.to_thread import run_sync  # noqa: PLC0415 - imported when first needed

        self._session = None
        await run_sync(self._close)

    # --- Resources and prompts -------------------------------------------------------------------------------

    def resources(self) -> list[McpResource]:
        """Returns the resources that the server lists. In async code, call it in a thread.

        Raises:
            UsageError: The connection is not open, or the server lists too many.
            ConnectError: The server does not answer within `connect_timeout`.
        """
        listed = self._listed("resources")
        return [
            McpResource(r.uri, r.title or r.name, r.description or "", r.mime_type or "", r.name)
            for r in listed
        ]

    def read(self, uri: str) -> list[ours.Content]:
        """Reads a resource, as contents to send with a prompt: `chat.chat("Summarize this.", *server.read(uri))`.

        Args:
            uri: Its address, as the server names it.

        Raises:
            UsageError: The connection is not open.
            ConnectError: The server has no such resource, or does not answer within `timeout`.
        """
        found = self._call(lambda client: client.read_resource(uri))
        return [content_of_resource(resource) for resource in found.contents]

    def prompts(self) -> list[McpPrompt]:
        """Returns the prompts that the server lists. In async code, call it in a thread.

        Raises:
            UsageError: The connection is not open, or the server lists too many.
            ConnectError: The server does not answer within `connect_timeout`.
        """
        listed = self._listed("prompts")
        return [
            McpPrompt(
                p.name, p.title or p.name, p.description or "", tuple(a.name for a in p.arguments or ())
            )
            for p in listed
        ]

    def prompt(self, name: str, **arguments: str) -> list[Turn]:
        """Returns the messages of a prompt, for `chat.set_turns()`. The last one is usually the user's, to be sent:
        `*before, last = server.prompt(…)`, `chat.add_turn(*before)`, `chat.chat(*last.contents)`.

        Args:
            name: Its name.
            **arguments: Its arguments.

        Raises:
            UsageError: The connection is not open.
            ConnectError: The server has no such prompt, or does not answer within `timeout`.
        """
        found = self._call(lambda client: client.get_prompt(name, arguments))
        return turns_of(found.messages)

    def _listed(self, what: Literal["resources", "prompts"]) -> list[Any]:
        async def pages(client: Client) -> list[Any]:
            return await _all_pages(getattr(client, f"list_{what}"), what, self.max_tools)

        return self._call(pages, "connect_timeout")

    def _call(
        self,
        ask: Callable[[Client], Awaitable[T]],
        limit: Literal["timeout", "connect_timeout"] = "timeout",
    ) -> T:
        from anyio import fail_after  # noqa: PLC0415 - imported when first needed

        if self._session is None:
            raise UsageError(
                "The connection to the MCP server is not open: use it inside of its `with` block."
            )
        portal, client = self._session
        seconds: float | None = getattr(self, limit)

        async def asked() -> T:
            with fail_after(seconds):
                return self._shown(await ask(client))

        try:
            return portal.call(asked)
        except Exception as error:  # noqa: BLE001 - raised again as one of ours
            failed = self._first(error)
        raise self._failure(failed, f"{self._where}: {_in_words(failed, seconds, limit)}")

    def _failure(self, error: BaseException, text: str) -> EllmerError:
        """Returns the error to raise for one of the SDK, which becomes its cause."""
        if isinstance(error, UsageError):
            return error
        failure = ConnectError(text)
        failure.__cause__ = error
        return failure

    # --- Questions of the server -----------------------------------------------------------------------------

    async def _elicited(self, context: object, params: Any) -> Any:  # noqa: ARG002 - the SDK calls it by name
        from anyio.to_thread import run_sync  # noqa: PLC0415 - imported when first needed
        from mcp.types import ElicitResult  # noqa: PLC0415 - mcp is an extra, and slow to import

        asking = _asking.get() or (self._running[-1] if self._running else None)
        if asking is None or not asking.admitted():  # nobody called a tool, or too often
            return ElicitResult(action="decline")
        params = self._shown(params)
        schema = getattr(params, "requested_schema", None)
        url = str(getattr(params, "url", ""))
        with asking.paused():
            answers = await run_sync(partial(asking.ask, params.message, schema, url))
        if asking.later is not None:
            return ElicitResult(action="cancel")
        if answers is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=answers if schema is not None else None)

    async def _sampled(self, context: object, params: Any) -> Any:  # noqa: ARG002 - as above
        from anyio.to_thread import run_sync  # noqa: PLC0415 - imported when first needed
        from mcp.types import CreateMessageResult, ErrorData, TextContent  # noqa: PLC0415 - mcp is an extra, and slow to import

        asking = _asking.get() or (self._running[-1] if self._running else None)
        params = self._shown(params)
        turns = turns_of(params.messages)
        if asking is None or not turns or not isinstance(turns[-1], UserTurn):
            return ErrorData(
                code=REFUSED, message="Sampling needs a running tool, and a last message of the user."
            )
        if not asking.admitted():
            return ErrorData(code=REFUSED, message="There were too many questions.")
        words = all_that_is_asked(params.system_prompt, turns)
        assert self.sampling is not None
        try:
            with asking.paused():
                if self.ask_before_sampling and await run_sync(partial(asking.ask, words, None, "")) is None:
                    return ErrorData(code=REFUSED, message="The user did not allow it.")
                turn = await answer(self.sampling, turns, params)
        except EllmerError as error:
            log_raised(WARNING, "mcp: sampling: %s", type(error).__name__, error=error)
            return ErrorData(code=REFUSED, message="The model did not answer.")
        return CreateMessageResult(
            role="assistant",
            content=TextContent(text=turn.text),
            model=self.sampling.get_model(),
            stop_reason=STOPS.get(turn.finish_reason or "", turn.finish_reason),
        )

    @property
    def _where(self) -> str:
        """The address or the command of the server, without its keys."""
        return self._keys.hidden_in_error(" ".join(map(str, self._words)))

    def _first(self, error: BaseException) -> BaseException:
        """Returns the cause in a group of errors without the keys, and without the many frames of the SDK and its event loop."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        error.__cause__ = error.__context__ = None
        self._hide_keys(error)
        return error.with_traceback(None)

    def _hide_keys(self, error: BaseException) -> None:
        """Replaces the keys in an exception, and in the error of the server that the SDK's own has in it."""
        told: Any = getattr(error, "error", None)
        if hasattr(told, "model_dump"):
            error.error = self._shown(told, failed=True)  # type: ignore[attr-defined]  # it is read above
        self._keys.hide_in_exception(error)

    def _shown(self, found: T, *, failed: bool = False) -> T:
        """Returns a message of the server, or a list of its parts, without the keys: they were sent to the server, not to the model."""
        if isinstance(found, list):
            return cast("T", [self._shown(each, failed=failed) for each in found])
        message: Any = found
        told = message.model_dump(mode="json", by_alias=True, exclude_none=True)
        shown = self._keys.hidden_in_value(told, failed=failed)
        return found if shown == told else cast("T", type(message).model_validate(shown))

    def _last_words(self) -> str:
        """Returns what the server's program wrote last to its standard error."""
        if self._stderr is None:
            return ""
        said = self._stderr.last_lines()
        return f". It wrote:\n{said}" if said else ". It wrote nothing: run it by hand to see why"

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[tuple[Client, list[Tool]], None]:
        try:
            from mcp import Client, StdioServerParameters  # noqa: PLC0415 - imported when first needed
        except ImportError as error:
            raise UsageError('MCP needs its SDK: pip install "ellmer-core[mcp]"') from error
        from anyio import current_time, fail_after  # noqa: PLC0415 - imported when first needed

        async with AsyncExitStack() as stack:
            target = self.server
            if isinstance(target, str):
                target = await _over_http(stack, target, self.headers, self.auth, self.timeout)
            elif isinstance(target, list | tuple):
                command, *words = target
                target = StdioServerParameters(command=command, args=words, env=dict(self.env) or None)
            if isinstance(target, StdioServerParameters):
                target = self._started(stack, target)
            elif target is self.server and hasattr(target, "__aenter__"):
                target = few_requests(target, measured=True)
            scope = stack.enter_context(fail_after(self.connect_timeout))
            sampled = self._sampled if self.sampling is not None else None
            client = await stack.enter_async_context(
                Client(
                    target,
                    mode=self.protocol,
                    elicitation_callback=self._elicited,
                    sampling_callback=sampled,
                )
            )
            listed: list[Tool] = await _all_pages(client.list_tools, "tools", self.max_tools)
            scope.deadline = math.inf
            try:
                yield client, self._shown(listed)
            finally:  # a server over HTTP is told, and may not answer
                scope.deadline = current_time() + CLOSING

    def _started(self, stack: AsyncExitStack, program: StdioServerParameters) -> Transport:
        """Returns the transport that starts a program, whose messages are bounded."""
        from mcp.client.stdio import stdio_client  # noqa: PLC0415 - imported when first needed

        if program.encoding == "utf-8":
            program = program.model_copy(update={"encoding": LINES})
        self._stderr = ErrorOutput(self._keys)
        stack.callback(self._stderr.file.close)
        return few_requests(stdio_client(program, errlog=self._stderr.file))

    def _tool(self, portal: BlockingPortal, client: Client, tool: Tool) -> ours.ToolDef:
        def call(**arguments: Any) -> ours.ContentToolResult:
            context = arguments.pop(CONTEXT, None) or ToolContext(ours.ContentToolRequest("", tool.name))
            with self._noted(context) as asking:
                result = portal.call(self._called, client, tool.name, arguments, asking)
            asking.check()
            return result_of(self._shown(result, failed=bool(result.is_error)))

        name = _name(self.prefix + tool.name)
        annotations = _annotations(tool)
        return ours.ToolDef(
            call,
            name,
            tool.description or ours.in_words(tool.name),
            arguments_of(tool.input_schema),
            convert=False,  # the server reads its arguments itself
            annotations=annotations,
            context=CONTEXT,
            deferred=self.defer,
        )

    async def _called(
        self, client: Client, name: str, arguments: dict[str, Any], asking: Asking
    ) -> CallToolResult:
        with asking.limited(self.timeout):
            return await client.call_tool(name, arguments)

    @contextmanager
    def _noted(self, context: ToolContext[Any]) -> Iterator[Asking]:
        """Notes that a call runs, so that the server can ask about it. The SDK asks in the context of the call; for servers of
        before July 2026, which ask beside it, it is the call that began last.
        """
        asking = Asking(context)
        token = _asking.set(asking)
        self._running.append(asking)
        try:
            yield asking
        except Exception as error:
            asking.check()
            self._hide_keys(error)
            raise
        finally:
            self._running.remove(asking)
            _asking.reset(token)


#: The parameter that receives the context of a call; no server can have an argument of this name by chance.
CONTEXT = "context of ellmer_core"
REFUSED = -1  # as the specification has it for a user who says no
STOPS = {"success": "endTurn", "max_tokens": "maxTokens", "stop_sequence": "stopSequence"}

_asking: ContextVar[Asking | None] = ContextVar("ellmer_core_mcp_asking", default=None)


@dataclass(frozen=True)
class McpResource:
    """A resource of a server: its address, its title, its description, its media type (`""` if it is not known), and its
    name.
    """

    uri: str
    title: str
    description: str = ""
    type: str = ""
    name: str = ""


@dataclass(frozen=True)
class McpPrompt:
    """A prompt of a server: its name, its title, its description, and the names of its arguments."""

    name: str
    title: str
    description: str = ""
    arguments: tuple[str, ...] = ()


async def _over_http(
    stack: AsyncExitStack, url: str, headers: Mapping[str, str], auth: Any, seconds: float | None
) -> Any:
    import httpx2  # noqa: PLC0415 - the SDK brings it
    from mcp.client import streamable_http  # noqa: PLC0415 - mcp is an extra, and slow to import

    if auth is not None and not isinstance(auth, httpx2.Auth):
        raise UsageError(
            f"auth= must be an httpx2.Auth, such as the SDK's OAuthClientProvider, not a value of type {type(auth).__name__}."
        )
    client = httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **headers},
        timeout=httpx2.Timeout(30, read=None if seconds is None else max(seconds, MCP_CALL.seconds)),
        auth=auth,
        event_hooks={"response": [bounded_answer]},
    )
    opened = await stack.enter_async_context(client)
    open_transport: Any = streamable_http.streamable_http_client
    if hasattr(streamable_http, "DEFAULT_MAX_SSE_EVENT_SIZE"):  # since 2.3; it would be 1 MB
        open_transport = partial(open_transport, max_sse_event_size=MCP_SERVER.received)
    return few_requests(open_transport(url, http_client=opened))


# --- Keys in an address or a command -----------------------------------------------------------------------


_NAMED = re.compile(r"^(?P<name>-{0,2}[\w.-]+)(?:[=:]\s*(?P<value>.+))?$", re.DOTALL)
_RANDOM = re.compile(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[\w.~%+-]{20,}")


def _secrets_in(words: Sequence[str]) -> Iterator[str]:
    """Yields the keys in a URL or in the words of a command: `--api-key KEY`, `KEY=…`, `--header "Authorization: Bearer …"`."""
    before = ""
    for word in words:
        if "://" in word:
            yield from _secrets_of(word)
        elif (named := _NAMED.match(word)) and named["value"] and is_secret(named["name"]):
            yield from keys_in(named["value"])
        if is_secret(before):
            yield from keys_in(word)
        before = word if word.startswith("-") and "=" not in word else ""


def _secrets_of(url: str) -> Iterator[str]:
    """Yields the password of a URL, the keys of its query, and the parts of it that look as keys do."""
    yield from user_of(url)
    yield from secrets_in_query(url)
    with suppress(ValueError):
        parts = urlsplit(url)
        yield from filter(_RANDOM.fullmatch, re.split(r"[/=&]", f"{parts.path}/{parts.query}"))


# --- Lists, and tools --------------------------------------------------------------------------------------


async def _all_pages(list_page: Callable[..., Awaitable[Any]], what: str, most: int) -> list[Any]:
    """Returns all pages of a list."""
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await list_page(cursor=cursor)
        found += getattr(page, what)
        cursor = page.next_cursor
        if not cursor and len(found) <= most:
            return found
        if len(found) > most:
            break
    raise UsageError(
        f"The server lists more than {most} {what}, or more than {MOST_PAGES} pages of them. No model accepts "
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


def _name(name: str) -> str:
    """Returns a name that every provider accepts. Gemini's begin with a letter or `_`."""
    known = re.sub(r"[^a-zA-Z0-9_-]", "_", name)
    return (known if re.match("[a-zA-Z_]", known) else f"_{known}")[:64]


def _named_apart(tools: list[ours.ToolDef]) -> list[ours.ToolDef]:
    """Returns the tools, with a number behind a name that another one has: letters that no provider accepts may tell them apart."""
    taken = {tool.name for tool in tools}
    kept: dict[str, ours.ToolDef] = {}
    for each in tools:
        name = each.name
        if name in kept:
            name = next(new for number in count(2) if (new := f"{name[:59]}_{number}") not in taken)
            warn(
                f"Two tools of an MCP server have the same name for a model, {each.name!r}. The second is {name!r}."
            )
        taken.add(name)
        kept[name] = replace(each, name=name)
    return [*kept.values()]


def _in_words(error: BaseException, patience: float | None, limit: str) -> str:
    if isinstance(error, TimeoutError):
        return f"it said nothing, or did not come to an end, for {patience:g} seconds (`{limit}`)"
    if str(error) == "Connection closed":  # the words of the SDK, which does not tell why
        return "it closed the connection"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
