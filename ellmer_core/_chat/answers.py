"""What a chat returns: `chat()` the text of an answer, which consoles and notebooks show once, and `stream()` its pieces; and how a
driver of `transport` carries out the conversation meanwhile. The echo prints what happens; `console` has it.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypedDict, TypeVar, cast

from ..base.argument_checks import caller, quoted
from ..base.log import warn
from ..contents.content import Content, ContentText, ContentToolResult, is_final
from ..contents.turns import AssistantTurn, Turn
from ..conversation.io_operations import Loop, Shown
from ..conversation.response import cut_short
from ..conversation.settings import OneAtATime, Settings, StreamController, WhenBusy
from ..errors import UsageError
from ..tools.results import result_text
from ..transport.blocking_driver import BlockingDriver, drive
from ..transport.http_clients import Connection
from ..wire.base import StructuredMode

if TYPE_CHECKING:
    from concurrent.futures import Future

# --- What is asked for -----------------------------------------------------------------------------------


Input = str | Content
Params = Mapping[str, Any] | None
ToolMode = Literal["sequential", "concurrent"]


def contents_of(inputs: Sequence[Input]) -> list[Content]:
    """Returns what is sent to the model."""
    for value in inputs:
        if not isinstance(value, str | Content):
            advice = next((advice for kind, advice in _INSTEAD.items() if isinstance(value, kind)), "")
            raise UsageError(f"A chat takes strings and contents, not {quoted(value)}.{advice}")
    return [ContentText(value) if isinstance(value, str) else value for value in inputs]


#: What to do with other values.
_INSTEAD: dict[Any, str] = {
    (list, tuple): " Give its items, with a star: chat.chat(*…)",
    PurePath: " content_file(path) reads the file.",
}


# --- What is printed meanwhile ---------------------------------------------------------------------------


EchoMode = Literal["none", "output", "all", True, False]


def echo_mode(value: object) -> EchoMode:
    """Returns one of the three modes. `True` means `output`, and `False` means `none`."""
    match value:
        case "none" | "output" | "all":
            return cast("EchoMode", value)
        case bool():
            return "output" if value else "none"
    raise UsageError(f'echo must be "none", "output" or "all", not {value!r}.')


def default_echo(depth: int) -> EchoMode:
    """Returns `output` if the calling code (`depth` frames up) is typed at the prompt of a console, else `none`.

    A script prints what `chat()` returns if it wants to, and a notebook shows it.
    """
    if not hasattr(sys, "ps1") or _in_notebook():
        return "none"
    frame = caller(depth)
    typed = frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__"
    return "output" if typed else "none"


def _in_notebook() -> bool:
    """Tells whether IPython runs in a kernel, where a cell shows its last value."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


if TYPE_CHECKING:  # what a method and its async twin take, beside what their return type depends on

    class StreamOptions(TypedDict, total=False):
        echo: EchoMode
        tool_mode: ToolMode
        controller: StreamController | None
        params: Params

    class DataOptions(TypedDict, total=False):
        mode: StructuredMode | None
        max_retries: int
        params: Params
        echo: EchoMode
        tool_mode: ToolMode

    class DataStreamOptions(TypedDict, total=False):
        mode: StructuredMode | None
        max_retries: int
        params: Params
        tool_mode: ToolMode
        controller: StreamController | None


# --- The text --------------------------------------------------------------------------------------------


class Answer(str):  # noqa: SLOT000 - it bears its turn
    """The text of an answer, or of the results that are the answer; it is a `str`. A notebook shows it as Markdown, without what that
    would load. A console that showed the answer as it arrived does not show it again: `repr()` is then a short note.
    """

    turn: Turn | None  # of the model, unless the answer is a result
    shown: bool

    def __new__(cls, turn: Turn, results: Sequence[ContentToolResult] = (), *, shown: bool) -> Self:
        answer = super().__new__(cls, "\n\n".join(map(result_text, results)) if results else turn.text)
        answer.turn, answer.shown = None if results else turn, shown
        return answer

    def _repr_markdown_(self) -> str:
        if self.turn is None:
            from ..render.markdown import loading_nothing  # noqa: PLC0415 - only needed in notebooks

            return loading_nothing(str(self))
        return str(self.turn.displayed_as("notebook"))

    def _repr_html_(self) -> str | None:
        """Returns a frame that loads nothing, if the Markdown would load something. Otherwise returns `None`, and the notebook shows the Markdown."""
        from ..render.html import notebook_html  # noqa: PLC0415 - only needed in notebooks
        from ..render.markdown import contents_markdown, loads  # noqa: PLC0415 - only a notebook needs it

        if self.turn is None or not loads(contents_markdown(self.turn) or ""):
            return None
        return notebook_html([self.turn])

    def __repr__(self) -> str:
        return "<the answer above>" if self.shown and hasattr(sys, "ps1") else super().__repr__()

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


class Texts:
    """Picks the text of a conversation for a stream. Answers with tool calls or added messages between them, and results that are the
    answer, become separate paragraphs.
    """

    def __init__(self) -> None:
        self.began = self.called = False

    def __call__(self, shown: Shown) -> str | None:
        """Returns the text of a shown content, or `None` if it has none."""
        if isinstance(shown, ContentText):
            if not shown.text:
                return ""
            text = f"\n\n{shown.text}" if self.called else shown.text
            self.began, self.called = True, False
            return text
        if isinstance(shown, ContentToolResult) and is_final(shown):
            return self(ContentText(result_text(shown)))
        if isinstance(shown, AssistantTurn):
            self.called = self.called or bool(self.began and shown.tool_requests)
        elif isinstance(shown, Turn):  # a message that was added meanwhile
            self.called = self.began
        return None


def picker(content: str) -> Callable[[Shown], Any]:
    """Returns the function that picks what a stream yields. It returns `None` for all that the stream leaves out."""
    match content:
        case "text":
            return Texts()
        case "all":
            return lambda shown: shown if isinstance(shown, Content) else None
        case "deltas":
            return lambda shown: None if isinstance(shown, Turn) else shown
    raise UsageError(f'content must be "text", "all" or "deltas", not {content!r}.')


# --- The pieces, for async code --------------------------------------------------------------------------


T_co = TypeVar("T_co", covariant=True)


class AsyncStream(AsyncIterator[T_co], Generic[T_co]):
    """The pieces of an answer, for `async for`. The loop can be left early. As soon as the stream is
    garbage-collected, its received text is in the history and the chat is free. (An async generator would be closed
    some time later.)
    """

    def __init__(
        self,
        shown: AsyncGenerator[Any, None],
        pick: Callable[[Any], T_co | None],
        abandon: Callable[[], None],
    ) -> None:
        self._shown = shown
        self._pick = pick
        self._abandon = abandon

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T_co:
        async for content in self._shown:
            if (piece := self._pick(content)) is not None:
                return piece
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Ends the stream and its request."""
        await self._shown.aclose()
        self._abandon()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        self._abandon()


# --- One conversation at a time --------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class Talk:
    """One conversation of a chat: its loop, the connections that carry it out, and the chat's turn, which it takes while it runs."""

    loop: Loop[Any]
    settings: Settings
    echo: Callable[[], Any] | None  # makes what prints it (`console.Echo`)
    connections: tuple[Connection, ...]
    turn: OneAtATime
    when_busy: WhenBusy

    async def held(self) -> None:
        """Holds the whole conversation in async code."""
        async with aclosing(self._shown_async()) as shown:
            async for _ in shown:
                pass

    def stream(self, pick: Callable[[Shown], Any]) -> Generator[Any, None, None]:
        """Yields the values of `pick` for the shown contents, except `None`."""
        echo = self.echo and self.echo()
        first, *others = self.connections
        driver = BlockingDriver(first, self.settings.controller, *others)
        with self._entered(echo) as ahead, closing(drive(self.loop, driver)) as shown:
            if ahead is not None:
                ahead.result()
            for content in shown:
                if echo is not None or isinstance(content, AssistantTurn):
                    _show(echo, content)
                if (piece := pick(content)) is not None:
                    yield piece

    def stream_async(self, pick: Callable[[Shown], Any]) -> AsyncStream[Any]:
        """Returns the same for async code."""
        return AsyncStream(self._shown_async(), pick, self._abandon)

    def _shown_async(self) -> AsyncGenerator[Shown, None]:
        from ..transport.async_driver import AsyncDriver, adrive  # noqa: PLC0415 - it imports asyncio

        echo = self.echo and self.echo()
        first, *others = self.connections
        driver = AsyncDriver(first, self.settings.controller, *others)
        return adrive(self.loop, driver, around=self._entered(echo), show=partial(_show, echo))

    @contextmanager
    def _entered(self, echo: Any) -> Iterator[Future[None] | None]:
        """Reserves the chat for one conversation, and closes its echo afterwards. Yields what is done when the conversation
        may begin, or `None`.
        """
        ahead = self.turn.take(self.loop, self.when_busy)
        try:
            with nullcontext() if echo is None else closing(echo):
                yield ahead
        finally:
            self.turn.leave(self.loop)

    def _abandon(self) -> None:
        """Handles an abandoned stream: keeps its received text, and allows the next conversation."""
        self.loop.close()
        self.turn.leave(self.loop)


def _show(echo: Any, content: Shown) -> None:
    """Shows a content. Warns if an answer is complete and the model had more to say."""
    if echo is not None:
        echo(content)
    if isinstance(content, AssistantTurn) and (cut := cut_short(content)):
        warn(cut[0].upper() + cut[1:])
