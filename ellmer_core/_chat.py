"""`Chat`: a conversation with memory, tools and callbacks, over one model of one vendor."""

from __future__ import annotations

import sys
import warnings
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

from . import _prices
from ._ask import arun, counted, run
from ._cancel import StreamController
from ._clients import Connection, Timeouts
from ._echo import Echo, EchoMode, echo_mode
from ._frames import Library
from ._history import History, sendable
from ._http import AsyncLine, Line, adrive, drive
from ._loop import Loop, Plan, converse, cut_short
from ._memory import Memory
from ._stream import AsyncStream
from ._structured import Structured
from ._toolbox import Toolbox
from .content import Content, ContentText
from .errors import EllmerWarning, UsageError
from .turns import AssistantTurn, Turn, UserTurn
from .wire import Wire

__all__ = ["Chat", "ToolMode"]

T = TypeVar("T")
Input = str | Content
Shown = Content | Turn
ToolMode = Literal["sequential", "concurrent"]


class Chat(Memory, Toolbox):
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
        Memory.__init__(self)
        Toolbox.__init__(self)
        self.wire = wire
        self.echo = echo_mode(echo)
        self.max_tries = max_tries
        self.max_tool_rounds = max_tool_rounds
        self._connection = Connection(client, timeouts)
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

    @overload
    def chat_structured(
        self,
        *inputs: Input,
        type: type[T],
        convert: Literal[True] = True,
        frame: None = None,
        echo: EchoMode = "none",
        tool_mode: ToolMode = "sequential",
    ) -> T: ...
    @overload
    def chat_structured(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        echo: EchoMode = "none",
        tool_mode: ToolMode = "sequential",
    ) -> Any: ...
    def chat_structured(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        echo: EchoMode = "none",
        tool_mode: ToolMode = "sequential",
    ) -> Any:
        """As `chat()`, but the last answer is data of `type` (a `type_…()`, a Python type, a model class).

        With `convert`, it is checked and made what the type says; without, it is the JSON as it came. An array of
        objects becomes a data frame with `frame="pandas"` or `frame="polars"`. Raises
        `IncompleteResponseError` for an answer that was cut at a limit, `ConversionError` for data of another
        shape.
        """
        wanted = Structured(type, convert=convert, frame=frame)
        plan = self._plan(stream=echo != "none", tool_mode=tool_mode, type=wanted.sent)
        self._exhaust(inputs, echo_mode(echo), plan)
        return wanted.value(self._answer.text)

    @overload
    async def chat_structured_async(
        self,
        *inputs: Input,
        type: type[T],
        convert: Literal[True] = True,
        frame: None = None,
        echo: EchoMode = "none",
        tool_mode: ToolMode = "concurrent",
    ) -> T: ...
    @overload
    async def chat_structured_async(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        echo: EchoMode = "none",
        tool_mode: ToolMode = "concurrent",
    ) -> Any: ...
    async def chat_structured_async(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        echo: EchoMode = "none",
        tool_mode: ToolMode = "concurrent",
    ) -> Any:
        """`chat_structured()` without blocking."""
        wanted = Structured(type, convert=convert, frame=frame)
        plan = self._plan(stream=echo != "none", tool_mode=tool_mode, type=wanted.sent)
        await self._aexhaust(inputs, echo_mode(echo), plan)
        return wanted.value(self._answer.text)

    def token_count(
        self, *inputs: Input, include: Literal["new", "complete"] = "new", type: Any = None
    ) -> int:
        """How many tokens the inputs are, as the provider counts them before anything is answered: by themselves, or
        (`include="complete"`) with the system prompt, the tools and all that was said, as they would be sent.

        `type` is that of structured output. Raises `UsageError` where the provider does not count; OpenAI (over
        Responses), Anthropic and Google do.
        """
        return run(self._counted(inputs, include, type), self._connection)

    async def token_count_async(
        self, *inputs: Input, include: Literal["new", "complete"] = "new", type: Any = None
    ) -> int:
        """`token_count()` without blocking."""
        return await arun(self._counted(inputs, include, type), self._connection)

    def get_model(self) -> str:
        """The model's name."""
        return self.wire.model

    def set_model(self, model: str) -> None:
        """Goes on with another model of the vendor."""
        self.wire = replace(self.wire, model=model)

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

    def _counted(self, inputs: Sequence[Input], include: str, type: Any) -> Loop[int]:
        contents, wanted = self._contents(inputs), None if type is None else Structured(type).sent
        if include == "complete":
            said = list(self._history.turns)
            new = [self._history.reply(contents)] if contents or self._history.open_requests else []
            return counted(self.wire, sendable([*said, *new]), [*self._tools.values()], wanted)
        if include == "new":
            return counted(self.wire, [UserTurn(contents)], [], wanted)
        raise UsageError(f'include is "new" or "complete", not {include!r}.')

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

    def _abandon(self, loop: Loop[Any]) -> None:
        """The stream of this conversation is gone: keeps what it received, and lets the next one in."""
        loop.close()
        self._left(loop)


def _picker(content: str) -> Callable[[Shown], Any]:
    """What a stream yields of what a conversation shows; `None` for what it leaves out."""
    match content:
        case "text":
            return lambda shown: shown.text if isinstance(shown, ContentText) else None
        case "all":
            return lambda shown: shown if isinstance(shown, Content) else None
    raise UsageError(f'content is "text" or "all", not {content!r}.')


def _depth_of_caller() -> int:
    """The stacklevel of the first frame outside this package, for `warnings.warn()` in the calling function."""
    depth, frame = 1, sys._getframe(1)  # noqa: SLF001 - warnings has no such option before Python 3.12
    while frame.f_back is not None and frame.f_globals.get("__package__", "") == __package__:
        depth, frame = depth + 1, frame.f_back
    return depth
