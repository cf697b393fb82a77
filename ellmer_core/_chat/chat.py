"""`Chat`: a conversation with memory, tools and callbacks, over one model of one provider."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NoReturn, overload

from ..contents.content import Content
from ..conversation.settings import StreamController
from ..errors import UsageError
from .answer_text import Answer, picker
from .async_stream import AsyncStream
from .base import Input
from .compaction import PROMPT, parted, shorten
from .echo import EchoMode, echo_mode
from .structured_output.stream_methods import StructuredStreams
from .token_counting import TokenCounting

__all__ = ["Chat", "ToolMode"]

ToolMode = Literal["sequential", "concurrent"]
Params = Mapping[str, Any] | None


class Chat(StructuredStreams, TokenCounting):
    """A conversation with a model. Constructors such as `chat_openai()` make one, and `fork()` copies one.

    A chat holds one conversation at a time: a second call that starts before the first has ended raises
    `UsageError`. Answers that were received stay in the history, even if a later step fails; see `get_turns()`.

    Args:
        wire: The wire format with its provider and model, from `ellmer_core.wire`.
        system_prompt: Instructions for the model; `None` (default) sends none.
        echo: What is printed to the terminal: `"none"` (default), `"output"` or `"all"`.
        client: Your `httpx.Client`, `httpx.AsyncClient`, or a tuple of both; it is not closed. `None` (default)
            uses clients of the library's own.
        timeouts: How long to wait, in seconds; `None` (default) means `Timeouts()`.
        limits: How much of an answer is read; `None` (default) means `Limits()`.
        proxy: URL of a proxy for all requests; `None` (default) reads `HTTPS_PROXY` and its like.
        max_tries: How often one request is tried where a retry may help. Default: 3.
        max_tool_rounds: How many rounds of tool calls one answer may need. Default: 100.
        thinking: `"off"`, `"low"`, `"medium"`, `"high"`, `"max"`, or a number of tokens; `None` (default) leaves it
            to the provider.
        profile: What the model accepts, if you know better than the library: a `Profile` or some of its fields.
        fetch: `"https"` downloads images by URL where the API fetches none; `None` (default) does not.

    Examples:
        >>> chat = chat_openai("You are terse.", model="gpt-4.1")
        >>> chat.get_model()
        'gpt-4.1'
    """

    def chat(
        self,
        *inputs: Input,
        echo: EchoMode | None = None,
        tool_mode: ToolMode = "sequential",
        params: Params = None,
    ) -> str:
        """Sends something to the model, runs the tools that it calls, and returns the text of its last answer.

        In a notebook, the text is shown as Markdown.

        Args:
            *inputs: What to send: strings, contents, or lists of those. None is needed after `decide()`.
            echo: What is printed meanwhile: `"none"`, `"output"` or `"all"`; `None` (default) is the chat's setting.
            tool_mode: `"sequential"` (default) runs one tool after the other, `"concurrent"` several at once, in threads.
            params: Parameters for this call, in addition to those of the chat.

        Returns:
            The text.

        Raises:
            ProviderError: The provider answered with an error.
            ConnectError: The provider could not be reached.
            IncompleteResponseError: The answer ended before its end marker.
            UsageError: The call cannot work as written.

        Examples:
            >>> chat_openai().chat("Hi")
            'Hello!'
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
        """Works as `chat()`, for async code.

        Args:
            *inputs: As in `chat()`.
            echo: As in `chat()`.
            tool_mode: As in `chat()`, but `"concurrent"` by default.
            params: As in `chat()`.

        Returns:
            The text.
        """
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
        """Works as `chat()`, but yields the answer while it arrives.

        Nothing is sent before the first `next()`. A stream that is abandoned keeps what it received as a partial turn.

        Args:
            *inputs: As in `chat()`.
            content: `"text"` (default) yields pieces of text; `"all"` yields contents: pieces of text and of thinking,
                tool requests and results.
            echo: As in `chat()`. Default: `"none"`.
            tool_mode: As in `chat()`.
            controller: Cancels the stream; `None` (default) means that nobody can.
            params: As in `chat()`.

        Returns:
            A generator of strings, or of contents.

        Examples:
            >>> "".join(chat_openai().stream("Hi"))
            'Hello!'
        """
        settings = self._plan(stream=True, tool_mode=tool_mode, controller=controller, params=params)
        return self._stream(self._contents(inputs), echo_mode(echo), settings, picker(content))

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
        """Works as `stream()`, for async code: iterate with `async for`.

        Args:
            *inputs: As in `chat()`.
            content: As in `stream()`. Default: `"text"`.
            echo: As in `chat()`. Default: `"none"`.
            tool_mode: As in `chat()`, but `"concurrent"` by default.
            controller: As in `stream()`.
            params: As in `chat()`.

        Returns:
            An asynchronous iterator of strings, or of contents.
        """
        settings = self._plan(stream=True, tool_mode=tool_mode, controller=controller, params=params)
        loop = self._converse(self._contents(inputs), settings)
        shown = self._atalk(loop, echo_mode(echo), settings)
        return AsyncStream(shown, picker(content), lambda: self._abandon(loop))

    def compact(self, *, keep: int = 2, how: Literal["summary", "drop"] = "summary") -> None:
        """Makes the conversation shorter, when the context is full (`ContextWindowError`) or too expensive.

        Nothing changes if there are no older rounds.

        Args:
            keep: Number of the last rounds that stay. Default: 2.
            how: `"summary"` (default) replaces older rounds by a summary that the model writes; `"drop"` removes them.

        Raises:
            ProviderError: The model could not write the summary; the conversation did not change.

        Examples:
            >>> chat = chat_openai()
            >>> for question in ("Hi", "And?", "Then?"):
            ...     _ = chat.chat(question)
            >>> chat.compact(keep=1, how="drop")
            >>> len(chat.get_turns())
            2
        """
        if to_sum := self._older(keep, how):
            to_sum.chat(PROMPT, echo="none")
        self._shorten(keep, to_sum)

    async def compact_async(self, *, keep: int = 2, how: Literal["summary", "drop"] = "summary") -> None:
        """Works as `compact()`, for async code.

        Args:
            keep: As in `compact()`. Default: 2.
            how: As in `compact()`. Default: `"summary"`.
        """
        if to_sum := self._older(keep, how):
            await to_sum.chat_async(PROMPT, echo="none")
        self._shorten(keep, to_sum)

    def _older(self, keep: int, how: str) -> Chat | None:
        """Returns a chat with the older rounds alone, if they are to be summarized."""
        if how not in ("summary", "drop"):
            raise UsageError(f'how= must be "summary" or "drop", not {how!r}.')
        system, older, _ = parted(self._history.turns, keep)
        if not older or how == "drop":
            return None
        other = self.fork()
        other.set_tools([])
        other.set_turns([*system, *older])
        return other

    def _shorten(self, keep: int, summed: Chat | None) -> None:
        with self._idle("compact()"):
            shorten(self._history, keep, summed.last_turn("assistant") if summed else None)

    def fork(self) -> Chat:
        """Returns an independent copy of the chat with the same history, tools and settings. The two share
        connections.
        """
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
        """Returns a fork that continues with other providers when its own fails; see `chat_fallback()`.

        Args:
            others: The chats whose providers are tried, in order.
        """
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
