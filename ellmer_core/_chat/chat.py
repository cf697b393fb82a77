"""`Chat`: a conversation with memory, tools and callbacks, over one model of one vendor."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NoReturn, overload

from ..contents.content import Content
from ..contents.turns import UserTurn
from ..conversation.cancellation import StreamController
from ..conversation.effects import Loop
from ..conversation.history import sendable
from ..errors import UsageError
from ..transport.single_requests import arun, counted, run
from .answer import Answer, Texts
from .async_stream import AsyncStream
from .base import Input, Shown
from .compaction import PROMPT, parted, summarised
from .echo import EchoMode, echo_mode
from .structured_chat import StructuredChat

__all__ = ["Chat", "ToolMode"]

ToolMode = Literal["sequential", "concurrent"]
Params = Mapping[str, Any] | None


class Chat(StructuredChat):
    """A conversation. `chat_openai()` and its like make one; `fork()` makes another from it.

    A chat holds one conversation at a time: entered again before it has answered, it refuses. What was
    answered is in the history, whatever fails later; see `get_turns()`.
    """

    # Talking ------------------------------------------------------------------------------------------------

    def chat(
        self,
        *inputs: Input,
        echo: EchoMode | None = None,
        tool_mode: ToolMode = "sequential",
        params: Params = None,
    ) -> str:
        """Says something (strings, images, …), runs the tools the model asks for, returns its last answer's text.

        `echo` is what to show meanwhile, `tool_mode="concurrent"` runs several tools at once, in threads. `params` are
        parameters for this call, beside those of the chat.
        """
        mode = self.echo if echo is None else echo_mode(echo)
        self._exhaust(inputs, mode, self._plan(stream=mode != "none", tool_mode=tool_mode, params=params))
        return Answer(self._answer, shown=mode != "none")

    async def chat_async(
        self,
        *inputs: Input,
        echo: EchoMode | None = None,
        tool_mode: ToolMode = "concurrent",
        params: Params = None,
    ) -> str:
        """`chat()` without blocking. Several tools run at once unless `tool_mode="sequential"`."""
        mode = self.echo if echo is None else echo_mode(echo)
        await self._aexhaust(
            inputs, mode, self._plan(stream=mode != "none", tool_mode=tool_mode, params=params)
        )
        return Answer(self._answer, shown=mode != "none")

    @overload
    def stream(
        self,
        *inputs: Input,
        content: Literal["text"] = "text",
        echo: EchoMode = "none",
        tool_mode: ToolMode = "sequential",
        controller: StreamController | None = None,
        params: Params = None,
    ) -> Generator[str, None, None]: ...
    @overload
    def stream(
        self,
        *inputs: Input,
        content: Literal["all"],
        echo: EchoMode = "none",
        tool_mode: ToolMode = "sequential",
        controller: StreamController | None = None,
        params: Params = None,
    ) -> Generator[Content, None, None]: ...
    def stream(
        self,
        *inputs: Input,
        content: Literal["text", "all"] = "text",
        echo: EchoMode = "none",
        tool_mode: ToolMode = "sequential",
        controller: StreamController | None = None,
        params: Params = None,
    ) -> Generator[Any, None, None]:
        """As `chat()`, but yields the answer as it comes: its text in pieces, or, with `content="all"`, as
        contents: pieces of text and of thinking, tool requests and their results.

        Nothing is sent before the first `next()`. An abandoned stream keeps what it received as a partial turn.
        """
        settings = self._plan(stream=True, tool_mode=tool_mode, controller=controller, params=params)
        return self._stream(self._contents(inputs), echo_mode(echo), settings, _picker(content))

    @overload
    def stream_async(
        self,
        *inputs: Input,
        content: Literal["text"] = "text",
        echo: EchoMode = "none",
        tool_mode: ToolMode = "concurrent",
        controller: StreamController | None = None,
        params: Params = None,
    ) -> AsyncStream[str]: ...
    @overload
    def stream_async(
        self,
        *inputs: Input,
        content: Literal["all"],
        echo: EchoMode = "none",
        tool_mode: ToolMode = "concurrent",
        controller: StreamController | None = None,
        params: Params = None,
    ) -> AsyncStream[Content]: ...
    def stream_async(
        self,
        *inputs: Input,
        content: Literal["text", "all"] = "text",
        echo: EchoMode = "none",
        tool_mode: ToolMode = "concurrent",
        controller: StreamController | None = None,
        params: Params = None,
    ) -> AsyncStream[Any]:
        """`stream()` for `async for`."""
        settings = self._plan(stream=True, tool_mode=tool_mode, controller=controller, params=params)
        loop = self._converse(self._contents(inputs), settings)
        shown = self._atalk(loop, echo_mode(echo), settings)
        return AsyncStream(shown, _picker(content), lambda: self._abandon(loop))

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

    def compact(self, *, keep: int = 2, how: Literal["summary", "drop"] = "summary") -> None:
        """Makes the conversation shorter, for a context that is full (`ContextWindowError`) or too dear.

        The last `keep` rounds stay as they are. For those before them stands a summary, for which the model is asked; or,
        with `how="drop"`, nothing. Where nothing is older, nothing is changed.
        """
        if to_sum := self._older(keep, how):
            to_sum.chat(PROMPT, echo="none")
        self._shorten(keep, to_sum)

    async def compact_async(self, *, keep: int = 2, how: Literal["summary", "drop"] = "summary") -> None:
        """`compact()` without blocking."""
        if to_sum := self._older(keep, how):
            await to_sum.chat_async(PROMPT, echo="none")
        self._shorten(keep, to_sum)

    def _older(self, keep: int, how: str) -> Chat | None:
        """A chat that has heard the older rounds alone, if they are to be summarized."""
        if how not in ("summary", "drop"):
            raise UsageError(f'how= is "summary" or "drop", not {how!r}.')
        system, older, _ = parted(self._history.turns, keep)
        if not older or how == "drop":
            return None
        other = self.fork()
        other.set_tools([])
        other.set_turns([*system, *older])
        return other

    def _shorten(self, keep: int, summed: Chat | None) -> None:
        with self._idle("compact()"):
            system, older, kept = parted(self._history.turns, keep)
            answer = summed.last_turn("assistant") if summed else None
            summary = summarised(answer.text) if answer else []
            if older:
                results = self._history.results if kept else {}
                self._history.replace([*system, *summary, *kept], results)

    def fork(self) -> Chat:
        """A chat of its own that has heard, and can do, the same up to now. The two share connections."""
        other = Chat(
            self.wire, echo=self.echo, max_tries=self.max_tries, max_tool_rounds=self.max_tool_rounds
        )
        other.wire, other._asked = self.wire, self._asked
        other._fetch, other._fetched = self._fetch, dict(self._fetched)
        other._connection = self._connection
        other.fallbacks = [(replace(one, written=one.written.copy()), c) for one, c in self.fallbacks]
        other.deps, other.usage_limits = self.deps, self.usage_limits
        other.ask_before, other.approve = self.ask_before, self.approve
        other._written = self._written.copy()
        other._history = self._history.copy()
        other._tools = dict(self._tools)
        other._on_history = list(self._on_history)
        other._on_request, other._on_result = list(self._on_request), list(self._on_result)
        return other

    def with_fallbacks(self, others: Sequence[Chat]) -> Chat:
        """A fork that goes on with the providers of `others` where its own fails: see `chat_fallback()`."""
        fork = self.fork()
        fork.fallbacks += [one.as_fallback() for one in others]
        return fork

    def __copy__(self) -> Chat:
        return self.fork()

    def __deepcopy__(self, _memo: object) -> Chat:
        return self.fork()

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "A chat holds a key and connections, which cannot be pickled: save contents_record(chat)."
        )

    def _counted(self, inputs: Sequence[Input], include: str, type: Any) -> Loop[int]:
        from .structured import Structured  # noqa: PLC0415 - few chats count tokens beforehand

        contents, wanted = self._contents(inputs), None if type is None else Structured(type).sent
        if include == "complete":
            said = list(self._history.turns)
            new = [self._history.reply(contents)] if contents or self._history.open_requests else []
            return counted(self.wire, sendable([*said, *new]), [*self._tools.values()], wanted)
        if include == "new":
            return counted(self.wire, [UserTurn(contents)], [], wanted)
        raise UsageError(f'include is "new" or "complete", not {include!r}.')


def _picker(content: str) -> Callable[[Shown], Any]:
    """What a stream yields of what a conversation shows; `None` for what it leaves out."""
    match content:
        case "text":
            return Texts()
        case "all":
            return lambda shown: shown if isinstance(shown, Content) else None
    raise UsageError(f'content is "text" or "all", not {content!r}.')
