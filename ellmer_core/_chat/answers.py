"""What a chat returns: `chat()` the text of an answer, which consoles and notebooks show once, and `stream()` its pieces.
The echo prints what happens meanwhile; `console` has it.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeVar

from ..contents.content import Content, ContentText, ToolCallDelta
from ..contents.turns import AssistantTurn, Turn
from ..errors import UsageError, caller

Input = str | Content
Shown = Content | Turn | ToolCallDelta


# --- What is printed meanwhile ---------------------------------------------------------------------------


EchoMode = Literal["none", "output", "all", True, False]


def echo_mode(value: object) -> EchoMode:
    """Returns one of the three modes. `True` means `output`, and `False` means `none`."""
    match value:
        case "none" | "output" | "all":
            return value
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


# --- The text --------------------------------------------------------------------------------------------


class Answer(str):  # noqa: SLOT000 - it bears its turn
    """The text of an answer, which is a `str`. A notebook shows it as Markdown. A console that showed the answer as
    it arrived does not show it again: `repr()` is then a short note.
    """

    turn: AssistantTurn
    shown: bool

    def __new__(cls, turn: AssistantTurn, *, shown: bool) -> Self:
        answer = super().__new__(cls, turn.text)
        answer.turn, answer.shown = turn, shown
        return answer

    def _repr_markdown_(self) -> str:
        markdown: str = self.turn.displayed_as("markdown")
        return markdown

    def __repr__(self) -> str:
        return "<the answer above>" if self.shown and hasattr(sys, "ps1") else super().__repr__()

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


class Texts:
    """Picks the text of a conversation for a stream. Answers with tool calls between them become separate paragraphs."""

    def __init__(self) -> None:
        self.began = self.called = False

    def __call__(self, shown: Shown) -> str | None:
        """Returns the text of a shown content, or `None` if it has none."""
        if isinstance(shown, AssistantTurn):
            self.called = self.called or bool(self.began and shown.tool_requests)
        if not isinstance(shown, ContentText):
            return None
        text = f"\n\n{shown.text}" if self.called and shown.text else shown.text
        self.began, self.called = self.began or bool(text), self.called and not text
        return text


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
