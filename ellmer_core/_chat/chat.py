"""`Chat`: a conversation with memory, tools and callbacks, over one model of one provider.

`chat()`, `stream()` and their like plan a conversation (`_plan()`), which `conversation.loop` holds and a driver of
`transport` carries out. Each method with an `_async` twin stands beside it.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FunctionType, TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NoReturn,
    ParamSpec,
    Self,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)

from ..contents.content import (
    Content,
    ContentImageInline,
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    ContentUploaded,
    ToolCallDelta,
    ToolDef,
)
from ..contents.display import Displayed
from ..contents.turns import AssistantTurn, SystemTurn, Turn, UserTurn
from ..conversation.approval import AskBefore, Decide, DecisionLike, decision_of
from ..conversation.history import SUMMARIZE, History, chat_of_record, chat_record, parted, shorten
from ..conversation.io_operations import Loop
from ..conversation.loop import converse
from ..conversation.repaired_turns import repaired
from ..conversation.request import as_sent, conversation_as_sent
from ..conversation.request_cache import RequestCache
from ..conversation.response import cut_short
from ..conversation.settings import Fallback, OneAtATime, Settings, StreamController, UsageLimits, WhenBusy
from ..errors import UsageError, spelt
from ..log import warn
from ..models.prices.price_lookup import cost, log_usage
from ..models.unsupported_parameters import Asked, fitted
from ..telemetry.spans import traced, tracer
from ..transport.blocking_driver import BlockingDriver, drive
from ..transport.http_clients import Connection, Limits, Timeouts
from ..transport.single_requests import arun, counted, deleted, run, uploaded
from ..wire.base import StructuredMode, Wire
from ..wire.interfaces import Profile
from ..wire.interfaces import params as named_params
from .answers import Answer, AsyncStream, EchoMode, Input, Shown, echo_mode, picker

if TYPE_CHECKING:
    from concurrent.futures import Future

    from typing_extensions import TypeForm

    from ..schemas.data_frames import Library
    from ..tools.definition import FunctionTool
    from .console import Echo
    from .structured_output import Structured

__all__ = ["Chat", "ToolMode", "chat_fallback"]

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Callback = Callable[[T], Awaitable[object] | object]
Params = Mapping[str, Any] | None
ToolMode = Literal["sequential", "concurrent"]

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


class Chat(Displayed):
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

        self._asked = Asked({**wire.params, **({} if thinking is None else {"thinking": thinking})}, profile)
        self.wire: Wire = _fitted(wire, self._asked)
        self.fallbacks: list[tuple[Fallback, Connection]] = []
        self._connection = Connection(client, timeouts, limits or Limits(), proxy)

        self._history = History()
        self._turn = OneAtATime()
        self._written = RequestCache()
        self._warned: set[str] = set()  # replaced content that the caller was warned of
        self._plain: dict[int, tuple[Turn, Turn]] = {}  # answers whose provider refused its attachments
        self._fetch = fetch == "https"
        self._fetched: dict[str, ContentImageInline | str] = {}  # by URL: the image, or why there is none

        self._tools: dict[str, ToolDef] = {}
        self._on_request: list[Callback[ContentToolRequest]] = []
        self._on_result: list[Callback[ContentToolResult]] = []
        self._on_history: list[Callable[[list[Turn]], Iterable[Turn]]] = []

        self.echo: EchoMode = echo
        self.max_tries = max_tries
        self.max_tool_rounds = max_tool_rounds
        self.usage_limits = UsageLimits()
        self.ask_before: AskBefore = ()
        self.approve: Decide | Literal["console", "defer"] | None = None
        self.deps: Any = None
        self._count: Callable[[Wire, AssistantTurn], object] = log_usage
        self.when_busy: WhenBusy = "raise"
        self.set_system_prompt(system_prompt)

    if not TYPE_CHECKING:  # a type checker that saw it would accept any name

        def __setattr__(self, name: str, value: Any) -> None:
            from .attributes import checked  # noqa: PLC0415 - it is loaded for the first chat

            object.__setattr__(
                self, name, value if name.startswith("_") else checked(type(self), name, value)
            )

    # --- Questions and answers -------------------------------------------------------------------------------

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
            *inputs: What to send: strings, contents, or lists of those. After `decide()`, nothing is needed.
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
        settings = self._plan(stream=mode != "none", tool_mode=tool_mode, params=params)
        for _ in self._picked(self._converse(inputs, settings), mode, settings):
            pass
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
        await self._exhaust_async(
            inputs, mode, self._plan(stream=mode != "none", tool_mode=tool_mode, params=params)
        )
        return Answer(self._answer, shown=mode != "none")

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
            stream=True,
            deltas=content == "deltas",
            tool_mode=tool_mode,
            controller=controller,
            params=params,
        )
        return self._stream(inputs, echo_mode(echo), settings, picker(content))

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
        """
        settings = self._plan(
            stream=True,
            deltas=content == "deltas",
            tool_mode=tool_mode,
            controller=controller,
            params=params,
        )
        return self._stream_async(inputs, echo_mode(echo), settings, picker(content))

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
        shown = echo_mode(echo)
        wanted, settings = self._plan_data(
            *(type, convert, frame, mode, max_retries),
            stream=shown != "none",
            tool_mode=tool_mode,
            params=params,
        )
        for _ in self._picked(self._converse(inputs, settings), shown, settings):
            pass
        return wanted.value(self._answer)

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
        """
        shown = echo_mode(echo)
        wanted, settings = self._plan_data(
            *(type, convert, frame, mode, max_retries),
            stream=shown != "none",
            tool_mode=tool_mode,
            params=params,
        )
        await self._exhaust_async(inputs, shown, settings)
        return wanted.value(self._answer)

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
        wanted, settings = self._plan_data(
            *(type, True, None, mode, max_retries),
            stream=True,
            tool_mode=tool_mode,
            params=params,
            controller=controller,
        )
        return self._stream(inputs, "none", settings, self._picker(wanted, max_retries))

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
        """
        wanted, settings = self._plan_data(
            *(type, True, None, mode, max_retries),
            stream=True,
            tool_mode=tool_mode,
            params=params,
            controller=controller,
        )
        return self._stream_async(inputs, "none", settings, self._picker(wanted, max_retries))

    def _plan_data(
        self,
        type: Any,
        convert: bool,
        frame: Library | None,
        mode: StructuredMode | None,
        max_retries: int,
        **options: Any,
    ) -> tuple[Structured, Settings]:
        """Returns the type to ask for, and the settings of a conversation for it. Raises `UsageError` if the mode does not
        work.
        """
        from .structured_output import Structured  # noqa: PLC0415 - what reads types takes long to load

        if not isinstance(max_retries, int) or max_retries < 0:
            raise UsageError(f"max_retries= must be a whole number, 0 or more, not {max_retries!r}.")
        wanted = Structured(type, convert=convert, frame=frame)
        settings = self._plan(type=wanted.sent, **options)
        settings.wire.structured_mode(wanted.sent, list(self._tools.values()), mode)
        return wanted, replace(settings, mode=mode, check=wanted.problem, max_retries=max_retries)

    def _picker(self, wanted: Structured, max_retries: int) -> Callable[[Shown], Any]:
        from .structured_output import PartialData  # noqa: PLC0415 - few chats stream data

        return PartialData(wanted, max_retries, self.wire.paused).pick

    # --- The history -----------------------------------------------------------------------------------------

    def get_turns(self, *, include_system_prompt: bool = False) -> list[Turn]:
        """Returns the history, oldest turn first. An answer that broke off is an `AssistantPartialTurn`.

        If a request failed after tools had run, the last turn is the one that called them; the next request sends their
        results.

        Args:
            include_system_prompt: Whether the system prompt is included as a `SystemTurn`. Default: `False`.
        """
        turns = self._history.view()
        return turns if include_system_prompt else [t for t in turns if not isinstance(t, SystemTurn)]

    def set_turns(self, turns: Iterable[Turn]) -> None:
        """Replaces the history.

        Args:
            turns: The turns. A `SystemTurn` at the beginning replaces the system prompt, which otherwise stays.

        Raises:
            UsageError: A value is not a turn; the history did not change.
        """
        turns = list(turns)
        first, others = {*map(type, turns[:1])}, {*map(type, turns[1:])}  # few, whereas a history may be long
        if wrong := [kind for kind in first | others if not issubclass(kind, Turn)]:
            raise UsageError(
                f"A turn must be a UserTurn, an AssistantTurn or a SystemTurn, not {wrong[0].__name__}."
            )
        if any(issubclass(kind, SystemTurn) for kind in others):
            raise UsageError(
                "Only the first turn can be a SystemTurn. Use set_system_prompt() to replace the system prompt."
            )
        with self._turn.idle("set_turns()"):
            system = () if turns and isinstance(turns[0], SystemTurn) else self._history.turns[:1]
            turns[:0] = [turn for turn in system if isinstance(turn, SystemTurn)]
            self._history.replace(turns)

    def add_turn(self, *turns: Turn) -> None:
        """Adds turns to the history.

        Args:
            *turns: The turns.

        Raises:
            UsageError: A value is not a turn.
        """
        unsent = [self._history.reply(())] if self._history.results else []
        self.set_turns([*self.get_turns(include_system_prompt=True), *unsent, *turns])

    @overload
    def last_turn(self, role: Literal["assistant"]) -> AssistantTurn | None: ...
    @overload
    def last_turn(self, role: Literal["user", "system"] | None = None) -> Turn | None: ...
    def last_turn(self, role: Literal["user", "assistant", "system"] | None = None) -> Turn | None:
        """Returns the last turn, or `None` where there is none.

        Args:
            role: `"user"`, `"assistant"` or `"system"` returns the last turn of that role; `None` (default) any.
        """
        if role not in (None, "user", "assistant", "system"):
            raise UsageError(f'role must be "user", "assistant" or "system", not {role!r}.')
        turns = reversed(self._history.view())
        return next((turn for turn in turns if role in (None, turn.role)), None)

    def get_system_prompt(self) -> str | None:
        """Returns the system prompt."""
        first = self._history.turns[0] if self._history.turns else None
        return first.text if isinstance(first, SystemTurn) else None

    def set_system_prompt(self, value: str | None) -> None:
        """Replaces the system prompt.

        Args:
            value: The system prompt; `None` removes it.
        """
        if value is not None and not isinstance(value, str):
            raise UsageError(f"The system prompt must be a string or None, not {type(value).__name__}.")
        with self._turn.idle("set_system_prompt()"):
            rest = [turn for turn in self._history.turns if not isinstance(turn, SystemTurn)]
            self._history.turns[:] = [*([SystemTurn(value)] if value is not None else []), *rest]

    def get_tokens(self) -> list[dict[str, Any]]:
        """Returns a row for each answer that its provider finished.

        Returns:
            Dictionaries with `input`, `output`, `cached`, `cache_write` and `reasoning` (tokens; `None` where the provider did
            not report them), `cost` (US dollars; `None` where the price is not known), and `preview`, the beginning of
            the question.
        """
        rows, asked = [], ""
        for turn in self._history.turns:
            if isinstance(turn, UserTurn):
                asked = turn.text
            elif isinstance(turn, AssistantTurn) and not turn.lost:
                rows.append({**vars(turn.tokens), "cost": turn.cost, "preview": asked[:60]})
        return rows

    def get_cost(self, include: Literal["all", "last"] = "all") -> float | None:
        """Returns the cost in US dollars, or `None` where the price of an answer is not known.

        Args:
            include: `"all"` (default) counts all answers, `"last"` the last one.
        """
        if include not in ("all", "last"):
            raise UsageError(f'include must be "all" or "last", not {include!r}.')
        costs = [row["cost"] for row in self.get_tokens()]
        costs = costs[-1:] if include == "last" else costs
        return None if None in costs else float(sum(costs))

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
            to_sum.chat(SUMMARIZE, echo="none")
        self._shorten(keep, to_sum)

    async def compact_async(self, *, keep: int = 2, how: Literal["summary", "drop"] = "summary") -> None:
        """Works as `compact()`, for async code.

        Args:
            keep: As in `compact()`. Default: 2.
            how: As in `compact()`. Default: `"summary"`.
        """
        if to_sum := self._older(keep, how):
            await to_sum.chat_async(SUMMARIZE, echo="none")
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
        with self._turn.idle("compact()"):
            shorten(self._history, keep, summed.last_turn("assistant") if summed else None)

    # --- Tools, callbacks and decisions ----------------------------------------------------------------------

    def register_tool(
        self, tool_def: Callable[P, R], *, model: type[Any] | None = None
    ) -> FunctionTool[P, R]:
        """Registers a tool. It replaces a tool of the same name with a warning, and works as a decorator.

        Args:
            tool_def: A tool, or a function that `tool()` can make one of.
            model: A pydantic model of all arguments of the function, as `arguments=` of `tool()`. Default: `None`: the signature
                of the function says them.

        Returns:
            The tool.

        Raises:
            UsageError: The function has a parameter without a type, or its name is not allowed.
        """
        definition: Any = _definition(tool_def, model)
        if definition.name in self._tools:
            warn(f"The tool {definition.name!r} was registered before; the new one replaces it.")
        self._tools[definition.name] = definition
        return definition  # type: ignore[no-any-return]  # a class for type checkers only

    def register_tools(self, tools: Iterable[ToolDef | Callable[..., Any]]) -> None:
        """Registers several tools, or none if one of them is not a tool. If a tool replaces another one of the same name, such as a
        tool of an MCP server, there is a warning.

        Args:
            tools: The tools, or functions.

        Raises:
            UsageError: One of them is not a tool.
        """
        new = _defined(tools)
        for name in new.keys() & self._tools.keys():
            if new[name].function is not self._tools[name].function:
                warn(_REPLACED.format(repr(name)))
        self._tools.update(new)

    def set_tools(self, tools: Iterable[ToolDef | Callable[..., Any]]) -> None:
        """Replaces all tools.

        Args:
            tools: The tools, or functions.

        Raises:
            UsageError: One of them is not a tool.
        """
        new = _defined(tools)
        self._tools.clear()
        self._tools.update(new)

    def _searchable(self) -> Mapping[str, ToolDef]:
        """Returns the tools, with a search beside deferred ones."""
        from ..tools.tool_search import with_search  # noqa: PLC0415 - few chats defer tools

        return with_search(self._tools)

    def get_tools(self) -> dict[str, ToolDef]:
        """Returns the tools by name."""
        return dict(self._tools)

    def on_tool_request(self, callback: Callback[ContentToolRequest]) -> Callable[[], None]:
        """Calls a function before each tool call.

        Args:
            callback: The function; it receives the `ContentToolRequest` and may raise `ToolReject` (see `tool_reject()`). An
                async function works only in async calls.

        Returns:
            A function that removes the callback.
        """
        return _registered(self._on_request, callback)

    def on_tool_result(self, callback: Callback[ContentToolResult]) -> Callable[[], None]:
        """Calls a function after each tool call, also after one that was rejected.

        Args:
            callback: The function; it receives the `ContentToolResult`. An async function works only in async calls.

        Returns:
            A function that removes the callback.
        """
        return _registered(self._on_result, callback)

    def on_history(self, callback: Callable[[list[Turn]], Iterable[Turn]]) -> Callable[[], None]:
        """Calls a function before each request. The turns that it returns are sent instead of the history, which does not
        change.

        Args:
            callback: The function; it receives the list of turns.

        Returns:
            A function that removes the callback.
        """
        return _registered(self._on_history, callback)

    def waiting_requests(self) -> list[ContentToolRequest]:
        """Returns the tool calls of the last answer that have not been run, because they wait for a decision. For a tool that
        asked the user something, it is a `ContentToolQuestion`.
        """
        return list(self._history.questions)

    def decide(self, decisions: Mapping[str, DecisionLike]) -> None:
        """Stores decisions about waiting tool calls. The next `chat()`, which needs no input, continues with them.

        Args:
            decisions: A decision for each call id: `True`, `False`, a `Decision`, or its JSON form
                `{"approved": true, "arguments": {…}, "reason": "…"}`.

        Raises:
            UsageError: No call with such an id waits, or a value is not a decision.
        """
        with self._turn.idle("decide()"):
            self._history.decide({id: decision_of(decision) for id, decision in decisions.items()})

    # --- The model and its parameters ------------------------------------------------------------------------

    def get_model(self) -> str:
        """Returns the model's name."""
        return self.wire.model

    def set_model(self, model: str) -> None:
        """Continues with another model of the provider.

        Args:
            model: Name of the model.
        """
        if not isinstance(model, str) or not model:
            raise UsageError(f"The model must be a name, not {model!r}.")
        self.wire = _fitted(replace(self.wire, model=model), self._asked)

    @property
    def profile(self) -> Profile:
        """The profile of the model: what it accepts, as far as it is known, with the sources."""
        return self.wire.profile

    def get_params(self) -> dict[str, Any]:
        """Returns the parameters that were asked for, `thinking` among them; the model may take fewer."""
        return dict(self._asked.params)

    def set_params(self, params: Mapping[str, Any] | None = None, **words: Any) -> None:
        """Replaces the parameters of the chat: `set_params(params(temperature=0.2))` or `set_params(temperature=0.2)`.

        Args:
            params: The parameters; `None` (default) leaves those that are given by name.
            **words: Parameters by name, as in `params()`.
        """
        asked = Asked({**_checked(params), **named_params(**words)}, self._asked.profile)
        self.wire, self._asked = _fitted(self.wire, asked), asked

    def _wire_with(self, params: Mapping[str, Any]) -> Wire:
        """Returns the wire for one call, with parameters added to those of the chat."""
        return _fitted(self.wire, Asked({**self._asked.params, **_checked(params)}, self._asked.profile))

    # --- Tokens and files, at the provider -------------------------------------------------------------------

    def token_count(
        self, *inputs: Input, include: Literal["new", "complete"] = "new", type: Any = None
    ) -> int:
        """Returns how many tokens an input has, as the provider counts it; the model does not answer.

        Args:
            *inputs: As in `chat()`.
            include: `"new"` (default) counts the inputs alone; `"complete"` counts the whole request with system prompt, tools
                and history.
            type: The `type` of `chat_structured()`; `None` (default) for `chat()`.

        Returns:
            The number of tokens.

        Raises:
            UsageError: The provider does not count tokens. OpenAI (over Responses), Anthropic and Google do.
        """
        return run(self._counted(inputs, include, type), self._connection)

    async def token_count_async(
        self, *inputs: Input, include: Literal["new", "complete"] = "new", type: Any = None
    ) -> int:
        """Works as `token_count()`, for async code.

        Args:
            *inputs: As in `chat()`.
            include: As in `token_count()`. Default: `"new"`.
            type: As in `token_count()`.

        Returns:
            The number of tokens.
        """
        return await arun(self._counted(inputs, include, type), self._connection)

    def _counted(self, inputs: Sequence[Input], include: str, type: Any) -> Loop[int]:
        from ..tools.tool_search import offered  # noqa: PLC0415 - few chats count tokens beforehand
        from .structured_output import Structured  # noqa: PLC0415 - likewise

        contents, wanted = self._contents(inputs), None if type is None else Structured(type).sent
        if include == "complete":
            history = list(self._history.turns)
            new = [self._history.reply(contents)] if contents or self._history.open_requests else []
            turns = repaired([*history, *new]).turns
            tools = offered(self._searchable(), turns, native=self.wire.searches)
            return counted(self.wire, turns, tools, wanted)
        if include == "new":
            return counted(self.wire, [UserTurn(contents)], [], wanted)
        raise UsageError(f'include must be "new" or "complete", not {include!r}.')

    def upload(
        self, path: str | Path, *, content_type: str | None = None, expires_in: float | None = None
    ) -> ContentUploaded:
        """Uploads a file to OpenAI, Anthropic or Google, for any number of questions about it.

        Other providers receive the file itself. `delete_upload()` deletes it.

        Args:
            path: Path of the file.
            content_type: Media type; `None` (default) finds it out.
            expires_in: Seconds after which OpenAI deletes it; `None` (default) means never. Google deletes it after 48 hours,
                Anthropic does not delete it.

        Returns:
            The uploaded file, to pass to `chat()`.

        Raises:
            UsageError: The provider has no uploads, or the path is not a regular file.
            ProviderError: The provider refused the file.
        """
        return run(uploaded(self.wire, path, content_type, expires_in), self._connection)

    async def upload_async(
        self, path: str | Path, *, content_type: str | None = None, expires_in: float | None = None
    ) -> ContentUploaded:
        """Works as `upload()`, for async code.

        Args:
            path: As in `upload()`.
            content_type: As in `upload()`.
            expires_in: As in `upload()`.

        Returns:
            The uploaded file.
        """
        return await arun(uploaded(self.wire, path, content_type, expires_in), self._connection)

    def delete_upload(self, uploaded: ContentUploaded) -> None:
        """Deletes an uploaded file from the provider. Turns that refer to it can then no longer be sent there.

        Args:
            uploaded: The file.

        Raises:
            ProviderError: The provider answered with an error.
        """
        run(deleted(self.wire, uploaded), self._connection)

    async def delete_upload_async(self, uploaded: ContentUploaded) -> None:
        """Works as `delete_upload()`, for async code.

        Args:
            uploaded: The file.
        """
        await arun(deleted(self.wire, uploaded), self._connection)

    # --- Copies, fallbacks, saving ---------------------------------------------------------------------------

    def fork(self) -> Chat:
        """Returns an independent copy of the chat with the same history, tools and settings. The two share
        connections.
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

    def __copy__(self) -> Chat:
        return self.fork()

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
        """
        fork = self.fork()
        fork.fallbacks += [other.as_fallback() for other in others]
        return fork

    def as_fallback(self) -> tuple[Fallback, Connection]:
        """Returns the provider of this chat, as a fallback for another chat."""
        return Fallback(self.wire, max_tries=self.max_tries), self._connection

    def record(self) -> dict[str, Any]:
        """Returns the conversation as plain JSON, for `restore()`. Neither the key nor the tools are in it."""
        return chat_record(self._history, self.wire.provider, self.wire.model)

    def restore(
        self,
        record: Any,
        *,
        classes: Iterable[type] = (),
        keep_model: bool = False,
        trust_html: bool = False,
    ) -> None:
        """Continues a recorded conversation in this chat.

        Requests find their tools among those that are registered here.

        Args:
            record: The JSON value of `record()`.
            classes: Content classes of other packages that may occur; any other class is refused.
            keep_model: Whether this chat keeps its own model. Default: `False`: it takes the recorded model if the provider is
                the same.
            trust_html: Whether the HTML in displays of tool results is kept, because your own program recorded it. Default:
                `False`: only texts are shown.

        Raises:
            UsageError: The value is not a record; the chat did not change.
        """
        history, provider, model = chat_of_record(
            record, self._tools.values(), classes, trust_html=trust_html
        )
        with self._turn.idle("restore()"):
            self._history.replace(history.turns, history.results)
        if provider == self.wire.provider and not keep_model:
            self.set_model(model)

    # --- Display ---------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        from ..render.printed_form import format_chat  # noqa: PLC0415 - only needed to print

        results, wire = self._history.results, self.wire
        unsent = UserTurn([results[place] for place in sorted(results)]) if results else None
        turns = conversation_as_sent(wire, self._history.view())
        return format_chat(wire.provider, wire.model, turns, unsent and as_sent(wire, unsent), as_sent=True)

    def __repr__(self) -> str:
        return str(self).partition("\n")[0]

    def _repr_html_(self) -> str | None:
        from ..render.html import notebook_html  # noqa: PLC0415 - only needed in notebooks

        return notebook_html(self)

    def _repr_markdown_(self) -> str | None:
        from ..render.markdown import contents_markdown  # noqa: PLC0415 - only needed in notebooks

        return contents_markdown(self)

    # --- Connections -----------------------------------------------------------------------------------------

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
            self._searchable() if any(tool.deferred for tool in self._tools.values()) else self._tools,
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

    def _contents(self, inputs: Sequence[Input]) -> list[Content]:
        for value in inputs:
            if not isinstance(value, str | Content):
                raise UsageError(
                    f"A chat takes strings and contents, not {type(value).__name__}: {value!r:.80}"
                )
        return [ContentText(value) if isinstance(value, str) else value for value in inputs]

    def _converse(self, inputs: Sequence[Input], settings: Settings) -> Loop[AssistantTurn | None]:
        loop, found = converse(self._history, settings, self._contents(inputs)), tracer()
        return loop if found is None else traced(found, loop, self._history, settings)

    async def _exhaust_async(self, inputs: Sequence[Input], mode: EchoMode, settings: Settings) -> None:
        loop = self._converse(inputs, settings)
        async with aclosing(self._talk_async(loop, mode, settings)) as shown:
            async for _ in shown:
                pass

    def _stream(
        self, inputs: Sequence[Input], mode: EchoMode, settings: Settings, pick: Callable[[Shown], Any]
    ) -> Generator[Any, None, None]:
        return self._picked(self._converse(inputs, settings), mode, settings, pick)

    def _stream_async(
        self, inputs: Sequence[Input], mode: EchoMode, settings: Settings, pick: Callable[[Shown], Any]
    ) -> AsyncStream[Any]:
        loop = self._converse(inputs, settings)
        return AsyncStream(self._talk_async(loop, mode, settings), pick, lambda: self._abandon(loop))

    def _stream_when_free(
        self, begin: Callable[[History], Sequence[Content]], controller: StreamController
    ) -> AsyncStream[Content | ToolCallDelta]:
        """Streams an answer for a web client. What to send is asked for when the chat is free: `begin` may change the history
        and decide about calls. A call that needs a decision waits for a later request, unless the chat has `approve`.
        """
        settings = self._plan(stream=True, deltas=True, tool_mode="concurrent", controller=controller)
        settings = replace(settings, approve=settings.approve or _approver("defer"))
        loop = self._begun(begin, settings)
        return AsyncStream(
            self._talk_async(loop, "none", settings), picker("deltas"), lambda: self._abandon(loop)
        )

    def _begun(
        self, begin: Callable[[History], Sequence[Content]], settings: Settings
    ) -> Loop[AssistantTurn | None]:
        return (yield from self._converse(begin(self._history), settings))

    def _picked(
        self, loop: Loop[Any], mode: EchoMode, settings: Settings, pick: Callable[[Shown], Any] = bool
    ) -> Generator[Any, None, None]:
        """Yields what `pick` returns for each shown content, but for `None`."""
        echo = None if mode == "none" else _echo(mode, self.wire)
        driver = BlockingDriver(
            self._connection, settings.controller, *(connection for _, connection in self.fallbacks)
        )
        with self._entered(loop, echo) as ahead, closing(drive(loop, driver)) as shown:
            if ahead is not None:
                ahead.result()
            for content in shown:
                if echo is not None or isinstance(content, AssistantTurn):
                    _show(echo, content)
                if (piece := pick(content)) is not None:
                    yield piece

    def _talk_async(self, loop: Loop[Any], mode: EchoMode, settings: Settings) -> AsyncGenerator[Shown, None]:
        from ..transport.async_driver import AsyncDriver, adrive  # noqa: PLC0415 - it imports asyncio

        echo = None if mode == "none" else _echo(mode, self.wire)
        driver = AsyncDriver(
            self._connection, settings.controller, *(connection for _, connection in self.fallbacks)
        )
        show = partial(_show, echo)
        return adrive(loop, driver, around=self._entered(loop, echo), show=show)

    @property
    def _answer(self) -> AssistantTurn:
        return next(turn for turn in reversed(self._history.turns) if isinstance(turn, AssistantTurn))

    @contextmanager
    def _entered(self, loop: object, echo: Echo | None) -> Iterator[Future[None] | None]:
        """Reserves the chat for one conversation, and closes its echo afterwards. Yields what is done when the conversation
        may begin, or `None`.
        """
        ahead = self._turn.take(loop, self.when_busy)
        try:
            with nullcontext() if echo is None else closing(echo):
                yield ahead
        finally:
            self._turn.leave(loop)

    def _abandon(self, loop: Loop[Any]) -> None:
        """Handles an abandoned stream: keeps its received text, and allows the next conversation."""
        loop.close()
        self._turn.leave(loop)


for _name, _method in [*vars(Chat).items()]:
    if isinstance(_method, FunctionType) and not _name.startswith("_"):
        setattr(Chat, _name, spelt(_method))


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


def _definition(tool_def: ToolDef | Callable[..., Any], model: type[Any] | None = None) -> ToolDef:
    from ..tools.definition import tool  # noqa: PLC0415 - it takes long to load, and many chats have no tools

    if model is not None:
        function = tool_def.function if isinstance(tool_def, ToolDef) else tool_def
        return tool(function, arguments=model)
    return tool_def if isinstance(tool_def, ToolDef) else tool(tool_def)


_REPLACED = "The tool {} was registered before; the new one replaces it."


def _defined(tools: Iterable[ToolDef | Callable[..., Any]]) -> dict[str, ToolDef]:
    """Returns the tools by name."""
    definitions = map(_definition, tools)
    return {definition.name: definition for definition in definitions}


def _registered(callbacks: list[F], callback: F) -> Callable[[], None]:
    if not callable(callback):
        raise UsageError(f"A callback must be a function of one argument, not {callback!r}.")
    callbacks.append(callback)
    registered = [callback]

    def remove() -> None:
        while registered:  # once: the same function may have been registered twice
            callbacks.remove(registered.pop())

    return remove


def _fitted(wire: Wire, asked: Asked) -> Wire:
    """Returns the wire with the parameters that the model accepts, and warns the caller of the others."""
    fit, warning = fitted(wire, asked)
    if warning:
        warn(warning)
    return fit


def _checked(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if not isinstance(params, Mapping | None):
        raise UsageError(f"params= must be a dictionary such as params() returns, not {params!r}.")
    return params or {}


def _approver(approve: Any) -> Decide | None:
    from .console import approver  # noqa: PLC0415 - as the next one

    return approver(approve)


def _echo(mode: EchoMode, wire: Wire) -> Echo:
    from .console import Echo  # noqa: PLC0415 - most chats in programs print nothing

    return Echo(mode, sent=partial(as_sent, wire))


def _show(echo: Echo | None, content: Shown) -> None:
    """Shows a content. Warns if an answer is complete and the model had more to say."""
    if echo is not None:
        echo(content)
    if isinstance(content, AssistantTurn) and (cut := cut_short(content)):
        warn(cut[0].upper() + cut[1:])
