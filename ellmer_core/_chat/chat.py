"""`Chat`: a conversation with memory, tools and callbacks, over one model of one provider.

`chat()`, `stream()` and their like plan a conversation (`_plan()`), which `conversation.loop` holds and a driver of
`transport` carries out. Each method with an `_async` twin stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, Unpack, overload

from ..base.argument_checks import spelt_methods
from ..contents.content import Content, ContentImageInline, ToolCallDelta
from ..contents.turns import AssistantTurn, Turn
from ..conversation.approval import Decide
from ..conversation.history import SUMMARIZE, parted, rounds_of, shorten, without_results
from ..conversation.io_operations import Shown
from ..conversation.loop import converse
from ..conversation.request import as_sent
from ..conversation.request_cache import RequestCache
from ..conversation.settings import Fallback, OneAtATime, Settings, StreamController
from ..errors import UsageError
from ..models.prices.price_lookup import cost, log_usage
from ..telemetry.spans import traced, tracer
from ..transport.http_clients import Connection, Limits, Timeouts
from ..wire.base import StructuredMode, Wire
from ..wire.interfaces import Profile
from .answers import (
    Answer,
    AsyncStream,
    EchoMode,
    Input,
    Params,
    Talk,
    ToolMode,
    contents_of,
    echo_mode,
    picker,
)
from .requests_beside import RequestsBeside, structured

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from ..schemas.data_frames import Library
    from .answers import DataOptions, DataStreamOptions, StreamOptions
    from .console import Echo
    from .structured_output import Structured

__all__ = ["Chat", "ToolMode", "chat_fallback"]

T = TypeVar("T")


@spelt_methods
class Chat(RequestsBeside):
    """A conversation with a model. Constructors such as `chat_openai()` make one, and `fork()` copies one.

    A chat holds one conversation at a time: a second call that starts before the first has ended raises
    `UsageError`, or waits with `chat.when_busy = "wait"`. Answers that were received stay in the history, even if a later step fails; see `get_turns()`.

    Args:
        wire: The wire format with its provider and model, from `ellmer_core.wire`.
        system_prompt: Instructions for the model; `None` (default) sends none.
        echo: What is printed to the terminal: `"none"` (default), `"output"` or `"all"`.
        client: Your `httpx.Client`, `httpx.AsyncClient`, or a tuple of both; it is not closed. `None` (default)
            uses clients of the library's own.
        timeouts: How long to wait, in seconds; `None` (default) means `Timeouts()`.
        limits: How much of an answer is read; `None` (default) means `Limits()`.
        proxy: URL of a proxy for all requests; `None` (default) reads `HTTPS_PROXY` and its like.
        max_tries: How often one request is tried, if a retry may help. Default: 3.
        max_tool_rounds: How many rounds of tool calls one answer may need. Default: 100.
        thinking: `"off"`, `"low"`, `"medium"`, `"high"`, `"max"`, or a number of tokens; `None` (default) leaves it
            to the provider.
        profile: What the model accepts, if you know better than the library: a `Profile` or some of its fields.
            Default: `None`, the library's own profile.
        fetch: `"https"` downloads images by URL where the API fetches none; `None` (default) does not.

    Examples:
        >>> chat = chat_openai("You are terse.", model="gpt-4.1")
        >>> chat.get_model()
        'gpt-4.1'
    """

    def __init__(
        self,
        wire: Wire,
        system_prompt: str | None = None,
        *,
        echo: EchoMode = "none",
        client: Any = None,
        timeouts: Timeouts | None = None,
        limits: Limits | None = None,
        proxy: str | None = None,
        max_tries: int = 3,
        max_tool_rounds: int = 100,
        thinking: Any = None,
        profile: Profile | Mapping[str, Any] | None = None,
        fetch: str | None = None,
    ) -> None:
        if fetch not in (None, "none", "https"):
            raise UsageError(f'fetch= must be "none" or "https", not {fetch!r}.')
        super().__init__(
            wire, system_prompt, thinking, profile, Connection(client, timeouts, limits or Limits(), proxy)
        )
        self.echo: EchoMode = echo
        self.max_tries = max_tries
        self.max_tool_rounds = max_tool_rounds
        self.fallbacks: list[tuple[Fallback, Connection]] = []
        self._count: Callable[[Wire, AssistantTurn], object] = log_usage

        self._written = RequestCache()
        self._warned: set[str] = set()  # replaced content that the caller was warned of
        self._plain: dict[int, tuple[Turn, Turn]] = {}  # answers whose provider refused its attachments
        self._fetch = fetch == "https"
        self._fetched: dict[str, ContentImageInline | str] = {}  # by URL: the image, or why there is none

    # --- Questions and answers -------------------------------------------------------------------------------

    def chat(
        self,
        *inputs: Input,
        echo: EchoMode | None = None,
        tool_mode: ToolMode = "sequential",
        params: Params = None,
    ) -> str:
        """Sends something to the model, runs the tools that it calls, and returns the text of its last answer, or of the result of
        a tool with `final=True`.

        In a notebook, the text is shown as Markdown.

        Args:
            *inputs: What to send: strings and contents. After `decide()`, nothing is needed.
            echo: What is printed meanwhile: `"none"`, `"output"` or `"all"`; `None` (default) is the chat's setting.
            tool_mode: `"sequential"` (default) runs one tool after the other, `"concurrent"` several at once, in threads.
            params: Parameters for this call, in addition to those of the chat. Default: `None`, no others.

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
        settings = self._plan(stream=mode != "none", tool_mode=tool_mode, params=params)
        for _ in self._talk(inputs, settings, mode).stream(bool):
            pass
        return Answer(self._history.turns[-1], self._history.final, shown=mode != "none")

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

        Examples:
            >>> import asyncio
            >>> asyncio.run(chat_openai().chat_async("Hi"))
            'Hello!'
        """
        mode = self.echo if echo is None else echo_mode(echo)
        settings = self._plan(stream=mode != "none", tool_mode=tool_mode, params=params)
        await self._talk(inputs, settings, mode).held()
        return Answer(self._history.turns[-1], self._history.final, shown=mode != "none")

    @overload
    def stream(
        self, *inputs: Input, content: Literal["text"] = "text", **options: Unpack[StreamOptions]
    ) -> Generator[str, None, None]: ...
    @overload
    def stream(
        self, *inputs: Input, content: Literal["all"], **options: Unpack[StreamOptions]
    ) -> Generator[Content, None, None]: ...
    @overload
    def stream(
        self, *inputs: Input, content: Literal["deltas"], **options: Unpack[StreamOptions]
    ) -> Generator[Content | ToolCallDelta, None, None]: ...
    def stream(
        self,
        *inputs: Input,
        content: Literal["text", "all", "deltas"] = "text",
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
                tool requests and results. `"deltas"` also yields a `ToolCallDelta` for each piece of a call's arguments.
            echo: As in `chat()`. Default: `"none"`.
            tool_mode: As in `chat()`.
            controller: Cancels the stream. `None` (default): the stream cannot be cancelled.
            params: As in `chat()`.

        Returns:
            A generator of strings, or of contents.

        Examples:
            >>> "".join(chat_openai().stream("Hi"))
            'Hello!'
        """
        settings = self._plan(
            stream=True, deltas=content == "deltas", tool_mode=tool_mode, controller=controller, params=params
        )
        return self._talk(inputs, settings, echo_mode(echo)).stream(picker(content))

    @overload
    def stream_async(
        self, *inputs: Input, content: Literal["text"] = "text", **options: Unpack[StreamOptions]
    ) -> AsyncStream[str]: ...
    @overload
    def stream_async(
        self, *inputs: Input, content: Literal["all"], **options: Unpack[StreamOptions]
    ) -> AsyncStream[Content]: ...
    @overload
    def stream_async(
        self, *inputs: Input, content: Literal["deltas"], **options: Unpack[StreamOptions]
    ) -> AsyncStream[Content | ToolCallDelta]: ...
    def stream_async(
        self,
        *inputs: Input,
        content: Literal["text", "all", "deltas"] = "text",
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

        Examples:
            >>> import asyncio
            >>> async def answer():
            ...     return [piece async for piece in chat_openai().stream_async("Hi")]
            >>> "".join(asyncio.run(answer()))
            'Hello!'
        """
        settings = self._plan(
            stream=True, deltas=content == "deltas", tool_mode=tool_mode, controller=controller, params=params
        )
        return self._talk(inputs, settings, echo_mode(echo)).stream_async(picker(content))

    # --- Structured output -----------------------------------------------------------------------------------

    @overload
    def chat_structured(
        self,
        *inputs: Input,
        type: TypeForm[T],
        convert: Literal[True] = True,
        frame: None = None,
        **options: Unpack[DataOptions],
    ) -> T: ...
    @overload
    def chat_structured(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        **options: Unpack[DataOptions],
    ) -> Any: ...
    def chat_structured(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Params = None,
        echo: EchoMode = "none",
        tool_mode: ToolMode = "sequential",
    ) -> Any:
        """Works as `chat()`, but the last answer is data of a type.

        The provider is asked in the first way that its model and this schema allow: `"native"` (the API enforces the schema),
        `"tool"` (the answer is a tool call), or `"prompt"` (the prompt describes the JSON).

        Args:
            *inputs: As in `chat()`.
            type: The type: a `type_…()`, a Python type, or a model class.
            convert: Whether the data are validated and converted to `type`. Default: `True`. Otherwise they are the JSON
                value.
            frame: `"pandas"` or `"polars"` turns an array of objects into a data frame; `None` (default) does not.
            mode: `"native"`, `"tool"` or `"prompt"` selects the way; `None` (default) selects the first that works.
            max_retries: How often invalid data are requested again, with the error. Default: 1.
            params: As in `chat()`.
            echo: As in `chat()`. Default: `"none"`.
            tool_mode: As in `chat()`.

        Returns:
            The data.

        Raises:
            ConversionError: The data do not fit the type, after all retries.
            IncompleteResponseError: The answer was cut at a limit.
            UsageError: The schema cannot be requested; nothing was sent.

        Examples:
            >>> person = type_object(name=type_string(), born=type_integer())
            >>> chat_openai().chat_structured("Who wrote the first program?", type=person)
            {'name': 'Ada Lovelace', 'born': 1815}
        """
        wanted = structured(type, convert=convert, frame=frame)
        talk = self._data_talk(inputs, wanted, (mode, max_retries), echo, tool_mode=tool_mode, params=params)
        for _ in talk.stream(bool):
            pass
        return wanted.value(self._history.answer)

    @overload
    async def chat_structured_async(
        self,
        *inputs: Input,
        type: TypeForm[T],
        convert: Literal[True] = True,
        frame: None = None,
        **options: Unpack[DataOptions],
    ) -> T: ...
    @overload
    async def chat_structured_async(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        **options: Unpack[DataOptions],
    ) -> Any: ...
    async def chat_structured_async(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Params = None,
        echo: EchoMode = "none",
        tool_mode: ToolMode = "concurrent",
    ) -> Any:
        """Works as `chat_structured()`, for async code.

        Args:
            *inputs: As in `chat()`.
            type: As in `chat_structured()`.
            convert: As in `chat_structured()`. Default: `True`.
            frame: As in `chat_structured()`.
            mode: As in `chat_structured()`.
            max_retries: As in `chat_structured()`. Default: 1.
            params: As in `chat()`.
            echo: As in `chat()`. Default: `"none"`.
            tool_mode: As in `chat()`, but `"concurrent"` by default.

        Returns:
            The data.

        Examples:
            >>> import asyncio
            >>> person = type_object(name=type_string(), born=type_integer())
            >>> asyncio.run(chat_openai().chat_structured_async("Who wrote the first program?", type=person))
            {'name': 'Ada Lovelace', 'born': 1815}
        """
        wanted = structured(type, convert=convert, frame=frame)
        talk = self._data_talk(inputs, wanted, (mode, max_retries), echo, tool_mode=tool_mode, params=params)
        await talk.held()
        return wanted.value(self._history.answer)

    @overload
    def stream_structured(
        self, *inputs: Input, type: TypeForm[T], **options: Unpack[DataStreamOptions]
    ) -> Generator[T, None, None]: ...
    @overload
    def stream_structured(
        self, *inputs: Input, type: Any, **options: Unpack[DataStreamOptions]
    ) -> Generator[Any, None, None]: ...
    def stream_structured(
        self,
        *inputs: Input,
        type: Any,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Params = None,
        tool_mode: ToolMode = "sequential",
        controller: StreamController | None = None,
    ) -> Generator[Any, None, None]:
        """Works as `chat_structured()`, but yields the data while they arrive.

        Fields that have not arrived have their default, or `None`; lists and texts grow. Parts that are complete are the
        same objects in the next data. The last object is complete and validated. When an answer is requested again, the
        data start from the beginning. Nothing is sent before the first `next()`.

        Args:
            *inputs: As in `chat()`.
            type: As in `chat_structured()`.
            mode: As in `chat_structured()`.
            max_retries: As in `chat_structured()`. Default: 1.
            params: As in `chat()`.
            tool_mode: As in `chat()`.
            controller: As in `stream()`.

        Returns:
            A generator of objects of the type.

        Raises:
            ConversionError: The data do not fit the type, after all retries.
            UsageError: The schema cannot be requested; nothing was sent.

        Examples:
            >>> person = type_object(name=type_string(), born=type_integer())
            >>> list(chat_openai().stream_structured("Who wrote the first program?", type=person))[-1]
            {'name': 'Ada Lovelace', 'born': 1815}
        """
        wanted = structured(type)
        how: Any = {"tool_mode": tool_mode, "params": params, "controller": controller}
        talk = self._data_talk(inputs, wanted, (mode, max_retries), stream=True, **how)
        return talk.stream(self._picker(wanted, max_retries))

    @overload
    def stream_structured_async(
        self, *inputs: Input, type: TypeForm[T], **options: Unpack[DataStreamOptions]
    ) -> AsyncStream[T]: ...
    @overload
    def stream_structured_async(
        self, *inputs: Input, type: Any, **options: Unpack[DataStreamOptions]
    ) -> AsyncStream[Any]: ...
    def stream_structured_async(
        self,
        *inputs: Input,
        type: Any,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Params = None,
        tool_mode: ToolMode = "concurrent",
        controller: StreamController | None = None,
    ) -> AsyncStream[Any]:
        """Works as `stream_structured()`, for async code: iterate with `async for`.

        Args:
            *inputs: As in `chat()`.
            type: As in `chat_structured()`.
            mode: As in `chat_structured()`.
            max_retries: As in `chat_structured()`. Default: 1.
            params: As in `chat()`.
            tool_mode: As in `chat()`, but `"concurrent"` by default.
            controller: As in `stream()`.

        Returns:
            An asynchronous iterator of objects of the type.

        Examples:
            >>> import asyncio
            >>> person = type_object(name=type_string(), born=type_integer())
            >>> async def last():
            ...     async for data in chat_openai().stream_structured_async("Who wrote the first program?", type=person):
            ...         pass
            ...     return data
            >>> asyncio.run(last())
            {'name': 'Ada Lovelace', 'born': 1815}
        """
        wanted = structured(type)
        how: Any = {"tool_mode": tool_mode, "params": params, "controller": controller}
        talk = self._data_talk(inputs, wanted, (mode, max_retries), stream=True, **how)
        return talk.stream_async(self._picker(wanted, max_retries))

    def _data_talk(
        self,
        inputs: Sequence[Input],
        wanted: Structured,
        how: tuple[StructuredMode | None, int],
        echo: EchoMode = "none",
        *,
        stream: bool = False,
        **options: Any,
    ) -> Talk:
        """Returns a conversation for data, in a mode, with so many retries. Raises `UsageError` if the mode does not work."""
        mode, max_retries = how
        if not isinstance(max_retries, int) or max_retries < 0:
            raise UsageError(f"max_retries= must be a whole number, 0 or more, not {max_retries!r}.")
        shown = echo_mode(echo)
        settings = self._plan(type=wanted.sent, stream=stream or shown != "none", **options)
        settings.wire.structured_mode(wanted.sent, list(self._tools.values()), mode)
        settings = replace(settings, mode=mode, check=wanted.problem, max_retries=max_retries)
        return self._talk(inputs, settings, shown)

    def _picker(self, wanted: Structured, max_retries: int) -> Callable[[Shown], Any]:
        from .structured_output import PartialData  # noqa: PLC0415 - few chats stream data

        return PartialData(wanted, max_retries, self.wire.paused).pick

    # --- A shorter history -----------------------------------------------------------------------------------

    def compact(self, *, keep: int = 2, how: Literal["summary", "drop", "results"] = "summary") -> None:
        """Makes the conversation shorter, when the context is full (`ContextWindowError`) or too expensive.

        Nothing changes if there are no older rounds.

        Args:
            keep: Number of the last rounds that stay. Default: 2.
            how: `"summary"` (default) replaces older rounds by a summary that the model writes; `"drop"` removes them;
                `"results"` removes only the long results of their tools, which the model can call again.

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
            to_sum.chat(SUMMARIZE, echo="none")
        self._shorten(keep, how, to_sum)

    async def compact_async(
        self, *, keep: int = 2, how: Literal["summary", "drop", "results"] = "summary"
    ) -> None:
        """Works as `compact()`, for async code.

        Args:
            keep: As in `compact()`. Default: 2.
            how: As in `compact()`. Default: `"summary"`.

        Examples:
            >>> import asyncio
            >>> chat = chat_openai()
            >>> chat.set_turns([UserTurn("Hi"), AssistantTurn("Hello!"), UserTurn("And?"), AssistantTurn("Yes.")])
            >>> asyncio.run(chat.compact_async(keep=1, how="drop"))
            >>> len(chat.get_turns())
            2
        """
        if to_sum := self._older(keep, how):
            await to_sum.chat_async(SUMMARIZE, echo="none")
        self._shorten(keep, how, to_sum)

    def _older(self, keep: int, how: str) -> Chat | None:
        """Returns a chat with the older rounds alone, if they are to be summarized."""
        if how not in ("summary", "drop", "results"):
            raise UsageError(f'how= must be "summary", "drop" or "results", not {how!r}.')
        system, older, _ = parted(self._history.turns, keep)
        if not older or how != "summary":
            return None
        other = self.fork()
        other.set_tools([])
        other.set_turns([*system, *older])
        return other

    def _shorten(self, keep: int, how: str, summed: Chat | None) -> None:
        with self._turn.idle("compact()"):
            if how == "results":
                shorten(self._history, keep, without_results)
            else:
                summary = summed.last_turn("assistant") if summed else None
                spent = summed.get_cost() if summed else None
                shorten(self._history, keep, lambda _older: rounds_of(summary, spent))

    # --- Copies, fallbacks, saving ---------------------------------------------------------------------------

    def fork(self) -> Chat:
        """Returns an independent copy of the chat with the same history, tools and settings. The two share
        connections.

        Examples:
            >>> chat = chat_openai()
            >>> other = chat.fork()
            >>> _ = other.chat("Hi")
            >>> len(chat.get_turns()), len(other.get_turns())
            (0, 2)
        """
        other = object.__new__(Chat)
        vars(other).update(
            vars(self),
            fallbacks=[(replace(each, written=each.written.copy()), c) for each, c in self.fallbacks],
            _history=self._history.copy(),
            _turn=OneAtATime(),
            _written=self._written.copy(),
            _warned=set(),
            _plain=dict(self._plain),
            _fetched=dict(self._fetched),
            _tools=dict(self._tools),
            _on_request=list(self._on_request),
            _on_result=list(self._on_result),
            _on_history=list(self._on_history),
        )
        return other

    __copy__ = fork

    def __deepcopy__(self, _memo: object) -> Chat:
        return self.fork()

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "A chat holds a key and connections, which cannot be pickled: save contents_record(chat)."
        )

    def with_fallbacks(self, others: Sequence[Chat]) -> Chat:
        """Returns a fork that continues with other providers when its own fails; see `chat_fallback()`.

        Args:
            others: The chats whose providers are tried, in order.

        Examples:
            >>> chat = chat_anthropic().with_fallbacks([chat_openai()])
            >>> chat.get_model() == chat_anthropic().get_model()
            True
        """
        fork = self.fork()
        fork.fallbacks += [other.as_fallback() for other in others]
        return fork

    def as_fallback(self) -> tuple[Fallback, Connection]:
        """Returns the provider of this chat, as a fallback for another chat.

        Examples:
            >>> fallback, connection = chat_openai(model="gpt-4.1").as_fallback()
            >>> fallback.wire.model
            'gpt-4.1'
        """
        return Fallback(self.wire, max_tries=self.max_tries), self._connection

    # --- One conversation at a time --------------------------------------------------------------------------

    def _plan(
        self,
        *,
        stream: bool,
        tool_mode: str,
        deltas: bool = False,
        type: Any = None,
        controller: Any = None,
        params: Mapping[str, Any] | None = None,
    ) -> Settings:
        return Settings(
            self.wire if params is None else self._wire_with(params),
            self._searchable() if any(map(attrgetter("deferred"), self._tools.values())) else self._tools,
            stream=stream,
            deltas=deltas,
            type=type,
            concurrent=tool_mode == "concurrent",
            max_tries=self.max_tries,
            max_tool_rounds=self.max_tool_rounds,
            on_request=self._on_request,
            on_result=self._on_result,
            controller=controller or StreamController(),
            price=cost,
            count=self._count,
            written=self._written,
            fallbacks=[replace(each, provider=place) for place, (each, _) in enumerate(self.fallbacks, 1)],
            deps=self.deps,
            usage_limits=self.usage_limits,
            ask_before=self.ask_before,
            approve=None if self.approve is None else _approver(self.approve),
            warned=self._warned,
            plain=self._plain,
            fetch=self._fetch,
            fetched=self._fetched,
            on_history=self._on_history,
        )

    def _talk(self, inputs: Sequence[Input], settings: Settings, mode: EchoMode = "none") -> Talk:
        """Returns one conversation, which has not begun."""
        loop, found = converse(self._history, settings, contents_of(inputs)), tracer()
        if found is not None:
            loop = traced(found, loop, self._history, settings)
        echo = None if mode == "none" else partial(_echo, mode, settings.wire)
        connections = self._connection, *[connection for _, connection in self.fallbacks]
        return Talk(loop, settings, echo, connections, self._turn, self.when_busy)


def chat_fallback(chats: Sequence[Chat]) -> Chat:
    """Makes a chat that asks the first chat, and on overload, outage or a lost connection the next.

    The system prompt, tools and history are those of the first chat. Provider, model, parameters and connection are
    each chat's own. A chat is tried as often as its own `max_tries` says. Once a part of an answer was shown, its error
    is raised. The next call starts with the first chat again.

    Args:
        chats: The chats, in the order in which they are tried.

    Returns:
        The chat.

    Raises:
        UsageError: The list is empty.

    Examples:
        >>> chat = chat_fallback([chat_anthropic(max_tries=1), chat_openai()])
        >>> chat.get_model() == chat_anthropic().get_model()
        True
    """
    chats = list(chats)
    if not chats or not all(isinstance(chat, Chat) for chat in chats):
        raise UsageError("chat_fallback() takes a list of chats: [chat_anthropic(…), chat_openai(…)].")
    first, *others = chats
    return first.with_fallbacks(others)


def _approver(approve: Any) -> Decide | None:
    from .console import approver  # noqa: PLC0415 - most chats ask nobody

    return approver(approve)


def _echo(mode: EchoMode, wire: Wire) -> Echo:
    from .console import Echo  # noqa: PLC0415 - most chats in programs print nothing

    return Echo(mode, sent=partial(as_sent, wire))
