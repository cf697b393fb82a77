"""`Chat`: a conversation with memory, tools and callbacks, over one model of one vendor."""

from __future__ import annotations

import sys
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import aclosing, closing, contextmanager
from dataclasses import replace
from threading import Lock
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

from . import _prices
from ._cancel import StreamController
from ._clients import Connection, Timeouts
from ._echo import Echo, EchoMode, echo_mode
from ._history import History
from ._http import AsyncLine, Line, adrive, drive
from ._loop import Loop, Plan, converse, cut_short
from ._stream import AsyncStream
from ._structured import Structured
from .content import Content, ContentText, ContentToolRequest, ContentToolResult
from .errors import EllmerWarning, UsageError
from .tools import ToolDef, tool
from .turns import AssistantTurn, SystemTurn, Turn, UserTurn
from .wire import Wire

__all__ = ["Chat", "ToolMode"]

Input = str | Content
Shown = Content | Turn
ToolMode = Literal["sequential", "concurrent"]
T = TypeVar("T")
Callback = Callable[[T], Awaitable[object] | object]


class Chat:
    """A conversation. `chat_openai()` and its like make one; `fork()` makes another from it.

    A chat holds one conversation at a time: entered again before it has answered, it refuses. What was
    answered is in the history, whatever fails later; see `get_turns()`.
    """

    def __init__(
        self,
        wire: Wire,
        system_prompt: str | None = None,
        *,
        echo: EchoMode = "none",
        client: Any = None,
        timeouts: Timeouts | None = None,
        max_tries: int = 3,
        max_tool_rounds: int = 100,
    ) -> None:
        self.wire = wire
        self.echo = echo_mode(echo)
        self.max_tries = max_tries
        self.max_tool_rounds = max_tool_rounds
        self._connection = Connection(client, timeouts)
        self._history = History()
        self._tools: dict[str, ToolDef] = {}
        self._on_request: list[Callback[ContentToolRequest]] = []
        self._on_result: list[Callback[ContentToolResult]] = []
        self._lock = Lock()
        self._talking: object = None
        self.set_system_prompt(system_prompt)

    # Talking ------------------------------------------------------------------------------------------------

    def chat(self, *inputs: Input, echo: EchoMode | None = None, tool_mode: ToolMode = "sequential") -> str:
        """Says something (strings, images, …), runs the tools the model asks for, returns its last answer's text.

        `echo` is what to show meanwhile, `tool_mode="concurrent"` runs several tools at once, in threads.
        """
        mode = self.echo if echo is None else echo_mode(echo)
        self._exhaust(inputs, mode, self._plan(stream=mode != "none", tool_mode=tool_mode))
        return self._answer.text

    async def chat_async(
        self, *inputs: Input, echo: EchoMode | None = None, tool_mode: ToolMode = "concurrent"
    ) -> str:
        """`chat()` without blocking. Several tools run at once unless `tool_mode="sequential"`."""
        mode = self.echo if echo is None else echo_mode(echo)
        await self._aexhaust(inputs, mode, self._plan(stream=mode != "none", tool_mode=tool_mode))
        return self._answer.text

    @overload
    def stream(
        self,
        *inputs: Input,
        content: Literal["text"] = "text",
        echo: EchoMode = "none",
        tool_mode: ToolMode = "sequential",
        controller: StreamController | None = None,
    ) -> Generator[str, None, None]: ...
    @overload
    def stream(
        self,
        *inputs: Input,
        content: Literal["all"],
        echo: EchoMode = "none",
        tool_mode: ToolMode = "sequential",
        controller: StreamController | None = None,
    ) -> Generator[Content, None, None]: ...
    def stream(
        self,
        *inputs: Input,
        content: Literal["text", "all"] = "text",
        echo: EchoMode = "none",
        tool_mode: ToolMode = "sequential",
        controller: StreamController | None = None,
    ) -> Generator[Any, None, None]:
        """As `chat()`, but yields the answer as it comes: its text in pieces, or, with `content="all"`, as
        contents: pieces of text and of thinking, tool requests and their results.

        Nothing is sent before the first `next()`. An abandoned stream keeps what it received as a partial turn.
        """
        plan = self._plan(stream=True, tool_mode=tool_mode, controller=controller)
        return self._stream(self._contents(inputs), echo_mode(echo), plan, _picker(content))

    @overload
    def stream_async(
        self,
        *inputs: Input,
        content: Literal["text"] = "text",
        echo: EchoMode = "none",
        tool_mode: ToolMode = "concurrent",
        controller: StreamController | None = None,
    ) -> AsyncStream[str]: ...
    @overload
    def stream_async(
        self,
        *inputs: Input,
        content: Literal["all"],
        echo: EchoMode = "none",
        tool_mode: ToolMode = "concurrent",
        controller: StreamController | None = None,
    ) -> AsyncStream[Content]: ...
    def stream_async(
        self,
        *inputs: Input,
        content: Literal["text", "all"] = "text",
        echo: EchoMode = "none",
        tool_mode: ToolMode = "concurrent",
        controller: StreamController | None = None,
    ) -> AsyncStream[Any]:
        """`stream()` for `async for`."""
        plan = self._plan(stream=True, tool_mode=tool_mode, controller=controller)
        loop = converse(self._history, plan, self._contents(inputs))
        shown = self._atalk(loop, echo_mode(echo), plan)
        return AsyncStream(shown, _picker(content), lambda: self._abandon(loop))

    def chat_structured(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        echo: EchoMode = "none",
        tool_mode: ToolMode = "sequential",
    ) -> Any:
        """As `chat()`, but the last answer is data of `type` (a `type_…()`, a Python type, a model class).

        With `convert`, it is checked and made what the type says; without, it is the JSON as it came. Raises
        `IncompleteResponseError` for an answer that was cut at a limit, `ConversionError` for data of another
        shape.
        """
        wanted = Structured(type, convert=convert)
        plan = self._plan(stream=echo != "none", tool_mode=tool_mode, type=wanted.sent)
        self._exhaust(inputs, echo_mode(echo), plan)
        return wanted.value(self._answer.text)

    async def chat_structured_async(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        echo: EchoMode = "none",
        tool_mode: ToolMode = "concurrent",
    ) -> Any:
        """`chat_structured()` without blocking."""
        wanted = Structured(type, convert=convert)
        plan = self._plan(stream=echo != "none", tool_mode=tool_mode, type=wanted.sent)
        await self._aexhaust(inputs, echo_mode(echo), plan)
        return wanted.value(self._answer.text)

    # Turns --------------------------------------------------------------------------------------------------

    def get_turns(self, *, include_system_prompt: bool = False) -> list[Turn]:
        """What was said, oldest first. An answer that broke off is an `AssistantPartialTurn`.

        Where a request failed after tools had run, the last turn is the one that asked for them; their
        results go out with the next request.
        """
        turns = self._history.view()
        return turns if include_system_prompt else [t for t in turns if not isinstance(t, SystemTurn)]

    def set_turns(self, turns: Iterable[Turn]) -> None:
        """Replaces what was said. A `SystemTurn` at its beginning replaces the system prompt, which else stays."""
        turns = [_checked_turn(turn) for turn in turns]
        with self._idle("set_turns()"):
            kept = () if turns and isinstance(turns[0], SystemTurn) else self._history.turns[:1]
            self._history.replace([*(t for t in kept if isinstance(t, SystemTurn)), *turns])

    def add_turn(self, *turns: Turn) -> None:
        """Adds turns that were said elsewhere."""
        self.set_turns([*self.get_turns(include_system_prompt=True), *turns])

    def last_turn(self, role: Literal["user", "assistant", "system"] | None = None) -> Turn | None:
        """The last turn, or the last one of a role; `None` where there is none."""
        turns = reversed(self._history.view())
        return next((turn for turn in turns if role in (None, turn.role)), None)

    def get_system_prompt(self) -> str | None:
        """The system prompt."""
        first = self._history.turns[0] if self._history.turns else None
        return first.text if isinstance(first, SystemTurn) else None

    def set_system_prompt(self, value: str | None) -> None:
        """Replaces the system prompt; `None` removes it."""
        if value is not None and not isinstance(value, str):
            raise UsageError(f"The system prompt is a string or None, not {type(value).__name__}.")
        with self._idle("set_system_prompt()"):
            rest = [turn for turn in self._history.turns if not isinstance(turn, SystemTurn)]
            self._history.turns[:] = [*([SystemTurn(value)] if value is not None else []), *rest]

    def get_model(self) -> str:
        """The model's name."""
        return self.wire.model

    def set_model(self, model: str) -> None:
        """Goes on with another model of the vendor."""
        self.wire = replace(self.wire, model=model)

    def get_tokens(self) -> list[dict[str, Any]]:
        """One row per whole answer: `input`, `output`, `cached`, `cache_write`, `reasoning` (tokens, `None`
        where the provider did not say), `cost` (US dollars, `None` where the price is not known) and the
        beginning of what was asked as `preview`."""
        rows, asked = [], ""
        for turn in self._history.turns:
            if isinstance(turn, UserTurn):
                asked = turn.text
            elif isinstance(turn, AssistantTurn) and type(turn) is AssistantTurn:
                rows.append({**vars(turn.tokens), "cost": turn.cost, "preview": asked[:60]})
        return rows

    def get_cost(self, include: Literal["all", "last"] = "all") -> float | None:
        """US dollars, of all answers or the last one; `None` where the price of one is not known."""
        costs = [row["cost"] for row in self.get_tokens()]
        costs = costs[-1:] if include == "last" else costs
        return None if None in costs else float(sum(costs))

    def fork(self) -> Chat:
        """A chat of its own that has heard, and can do, the same up to now. The two share connections."""
        other = Chat(
            self.wire, echo=self.echo, max_tries=self.max_tries, max_tool_rounds=self.max_tool_rounds
        )
        other._connection = self._connection
        other._history = History(list(self._history.turns), dict(self._history.results))
        other._tools = dict(self._tools)
        other._on_request, other._on_result = list(self._on_request), list(self._on_result)
        return other

    def record(self) -> dict[str, Any]:
        """The conversation as plain JSON, for `restore()`. Neither the key nor the tools are in it."""
        from ._saved import recorded  # noqa: PLC0415 - only needed to save

        return recorded(self._history, self.wire.vendor, self.wire.model)

    def restore(self, record: Any, *, classes: Iterable[type] = ()) -> None:
        """Goes on where a recorded chat stopped: its turns, and its model if the vendor is the same.

        Requests find their tools among those registered here. `classes` are the content classes of other
        packages that occur; a class that is not known is refused by its name.
        """
        from ._saved import restored  # noqa: PLC0415 - only needed to save

        history, vendor, model = restored(record, self._tools.values(), classes)
        with self._idle("restore()"):
            self._history.replace(history.turns, history.results)
        if vendor == self.wire.vendor:
            self.set_model(model)

    # Tools --------------------------------------------------------------------------------------------------

    def register_tool(self, tool_def: ToolDef | Callable[..., Any]) -> ToolDef:
        """Lets the model ask for a tool, or for a function as `tool()` makes it one; returns the tool.

        Replaces one of the same name. Also good as a decorator.
        """
        definition = tool_def if isinstance(tool_def, ToolDef) else tool(tool_def)
        self._tools[definition.name] = definition
        return definition

    def register_tools(self, tools: Iterable[ToolDef | Callable[..., Any]]) -> None:
        """Registers several tools."""
        for one in tools:
            self.register_tool(one)

    def set_tools(self, tools: Iterable[ToolDef | Callable[..., Any]]) -> None:
        """Replaces all tools."""
        before, self._tools = self._tools, {}
        try:
            self.register_tools(tools)
        except BaseException:
            self._tools = before
            raise

    def get_tools(self) -> dict[str, ToolDef]:
        """The tools by name."""
        return dict(self._tools)

    def on_tool_request(self, callback: Callback[ContentToolRequest]) -> Callable[[], None]:
        """Has `callback(request)` called before each tool call; it may raise `ToolReject` (see `tool_reject()`).

        Returns a function that removes it again. An async callback needs an async chat.
        """
        return _registered(self._on_request, callback)

    def on_tool_result(self, callback: Callback[ContentToolResult]) -> Callable[[], None]:
        """Has `callback(result)` called after each tool call, refused ones too. Returns a function that removes it."""
        return _registered(self._on_result, callback)

    # Closing, printing --------------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes the connections of blocking calls. The chat can be used again; a client of yours stays open."""
        self._connection.close()

    async def aclose(self) -> None:
        """Closes all connections. (Those of async calls are also closed when their event loop ends.)"""
        await self._connection.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()

    def __str__(self) -> str:
        from .transcript import format_chat  # noqa: PLC0415 - only needed to print

        return format_chat(self.wire.vendor, self.wire.model, self._history.view())

    def __repr__(self) -> str:
        return str(self).partition("\n")[0]

    # The machinery ------------------------------------------------------------------------------------------

    @property
    def _answer(self) -> AssistantTurn:
        turn = self.last_turn("assistant")
        assert isinstance(turn, AssistantTurn)
        return turn

    def _plan(self, *, stream: bool, tool_mode: str, type: Any = None, controller: Any = None) -> Plan:
        if tool_mode not in {"sequential", "concurrent"}:
            raise UsageError(f'tool_mode is "sequential" or "concurrent", not {tool_mode!r}.')
        if controller is not None and not isinstance(controller, StreamController):
            raise UsageError(f"controller is a StreamController, not {controller.__class__.__name__}.")
        return Plan(
            self.wire,
            self._tools,
            stream=stream,
            type=type,
            concurrent=tool_mode == "concurrent",
            max_tries=self.max_tries,
            max_tool_rounds=self.max_tool_rounds,
            on_request=self._on_request,
            on_result=self._on_result,
            controller=controller or StreamController(),
            price=_prices.cost,
        )

    def _contents(self, inputs: Sequence[Input]) -> list[Content]:
        for one in inputs:
            if not isinstance(one, str | Content):
                raise UsageError(f"A chat takes strings and contents, not {type(one).__name__}: {one!r:.80}")
        return [ContentText(one) if isinstance(one, str) else one for one in inputs]

    def _exhaust(self, inputs: Sequence[Input], mode: EchoMode, plan: Plan) -> None:
        for _ in self._talk(converse(self._history, plan, self._contents(inputs)), mode, plan):
            pass

    async def _aexhaust(self, inputs: Sequence[Input], mode: EchoMode, plan: Plan) -> None:
        loop = converse(self._history, plan, self._contents(inputs))
        async with aclosing(self._atalk(loop, mode, plan)) as shown:
            async for _ in shown:
                pass

    def _stream(
        self, contents: list[Content], mode: EchoMode, plan: Plan, pick: Callable[[Shown], Any]
    ) -> Generator[Any, None, None]:
        with closing(self._talk(converse(self._history, plan, contents), mode, plan)) as shown:
            for one in shown:
                if (picked := pick(one)) is not None:
                    yield picked

    def _talk(self, loop: Loop[Any], mode: EchoMode, plan: Plan) -> Generator[Shown, None, None]:
        echo, line = Echo(mode), Line(self._connection, plan.controller)
        with self._entered(loop), closing(drive(loop, line)) as shown, closing(echo):
            for one in shown:
                echo(one)
                self._note(one)
                yield one

    async def _atalk(self, loop: Loop[Any], mode: EchoMode, plan: Plan) -> AsyncGenerator[Shown, None]:
        echo, line = Echo(mode), AsyncLine(self._connection, plan.controller)
        with self._entered(loop), closing(echo):
            async with aclosing(adrive(loop, line)) as shown:
                async for one in shown:
                    echo(one)
                    self._note(one)
                    yield one

    def _note(self, shown: Shown) -> None:
        """An answer is whole: counts it, and warns if it is not all that the model had to say."""
        if isinstance(shown, AssistantTurn):
            _prices.log_usage(self.wire, shown.tokens, shown.cost)
            if cut := cut_short(shown):
                warnings.warn(cut[0].upper() + cut[1:], EllmerWarning, stacklevel=_depth_of_caller())

    @contextmanager
    def _entered(self, loop: object) -> Iterator[None]:
        """Holds the chat for one conversation."""
        with self._lock:
            if self._talking is not None:
                raise UsageError(
                    "This chat is in the middle of an answer. Let it finish (or close() the stream), or use a "
                    "fork() to say two things at once."
                )
            self._talking = loop
        try:
            yield
        finally:
            self._left(loop)

    def _left(self, loop: object) -> None:
        with self._lock:
            if self._talking is loop:
                self._talking = None

    def _abandon(self, loop: Loop[Any]) -> None:
        """The stream of this conversation is gone: keeps what it received, and lets the next one in."""
        loop.close()
        self._left(loop)

    @contextmanager
    def _idle(self, what: str) -> Iterator[None]:
        with self._lock:
            if self._talking is not None:
                raise UsageError(f"{what} has to wait until the chat has answered.")
            yield


def _picker(content: str) -> Callable[[Shown], Any]:
    """What a stream yields of what a conversation shows; `None` for what it leaves out."""
    match content:
        case "text":
            return lambda shown: shown.text if isinstance(shown, ContentText) else None
        case "all":
            return lambda shown: shown if isinstance(shown, Content) else None
    raise UsageError(f'content is "text" or "all", not {content!r}.')


def _registered(callbacks: list[Callback[T]], callback: Callback[T]) -> Callable[[], None]:
    entry: Callback[T] = callback
    if not callable(callback):
        raise UsageError(f"A callback is a function of one argument, not {callback!r}.")
    callbacks.append(entry)

    def remove() -> None:
        if entry in callbacks:
            callbacks.remove(entry)

    return remove


def _checked_turn(turn: Turn) -> Turn:
    if not isinstance(turn, Turn):
        raise UsageError(
            f"A turn is a UserTurn, an AssistantTurn or a SystemTurn, not {type(turn).__name__}."
        )
    return turn


def _depth_of_caller() -> int:
    """The stacklevel of the first frame outside this package, for `warnings.warn()` in the calling function."""
    depth, frame = 1, sys._getframe(1)  # noqa: SLF001 - warnings has no such option before Python 3.12
    while frame.f_back is not None and frame.f_globals.get("__package__", "") == __package__:
        depth, frame = depth + 1, frame.f_back
    return depth
