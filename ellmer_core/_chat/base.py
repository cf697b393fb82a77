"""The base class of `Chat`: its model, its history, its connections, and how it holds a conversation."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, Self

from ..contents.content import Content, ContentImageInline, ContentText, ContentToolRequest
from ..contents.display import Displayed
from ..contents.turns import AssistantTurn, Turn, UserTurn
from ..conversation.approval import AskBefore, Decide, Said, decision_of
from ..conversation.cancellation import StreamController
from ..conversation.io_operations import Loop
from ..conversation.loop import converse
from ..conversation.request.serialized_turn_cache import RequestCache
from ..conversation.response.answer_reading import cut_short
from ..conversation.settings import Fallback, Settings
from ..conversation.usage_limits import UsageLimits
from ..errors import UsageError
from ..log import warn
from ..models.prices.price_lookup import cost, log_usage
from ..telemetry.chat_spans import traced
from ..transport.blocking_driver import BlockingDriver, drive
from ..transport.http_clients import Connection
from ..transport.timeouts_and_limits import Limits, Timeouts
from ..wire.base import Wire
from ..wire.interfaces import Profile
from .approvers import approver
from .echo import Echo, EchoMode, echo_mode
from .file_uploads import Uploading
from .model_and_params import ModelChoice
from .tools_and_callbacks import ToolRegistry
from .turns_and_usage import Memory

__all__ = ["ChatBase", "Input", "Shown"]

Input = str | Content
Shown = Content | Turn


class ChatBase(ModelChoice, Memory, ToolRegistry, Uploading, Displayed):
    """The internal parts of `Chat`."""

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
        Memory.__init__(self)
        ToolRegistry.__init__(self)
        ModelChoice.__init__(self, wire, thinking, profile)
        for name, count, least in (("max_tries", max_tries, 1), ("max_tool_rounds", max_tool_rounds, 0)):
            if not isinstance(count, int) or count < least:
                raise UsageError(f"{name}= must be a whole number, {least} or more, not {count!r}.")
        self._told: set[str] = set()
        if fetch not in (None, "none", "https"):
            raise UsageError(f'fetch= must be "none" or "https", not {fetch!r}.')
        self._fetch = fetch == "https"
        self._fetched: dict[str, ContentImageInline | str] = {}
        self.echo = echo_mode(echo)
        self.max_tries = max_tries
        self.max_tool_rounds = max_tool_rounds
        self._connection = Connection(client, timeouts, limits or Limits(), proxy)
        self._written = RequestCache()
        self.fallbacks: list[tuple[Fallback, Connection]] = []
        self.deps: Any = None
        self.usage_limits = UsageLimits()
        self.ask_before: AskBefore = ()
        self.approve: Decide | Literal["console", "defer"] | None = None
        self.set_system_prompt(system_prompt)

    def waiting_requests(self) -> list[ContentToolRequest]:
        """Returns the tool calls of the last answer that have not been run, because they wait for a decision."""
        return list(self._history.waiting)

    def decide(self, decisions: Mapping[str, Said]) -> None:
        """Stores decisions about waiting tool calls. The next `chat()`, which needs no input, continues with them.

        Args:
            decisions: A decision for each call id: `True`, `False`, a `Decision`, or its JSON form
                `{"approved": true, "arguments": {…}, "reason": "…"}`.

        Raises:
            UsageError: No call with such an id waits, or a value is not a decision.
        """
        with self._idle("decide()"):
            self._history.decide({id: decision_of(said) for id, said in decisions.items()})

    def record(self) -> dict[str, Any]:
        """Returns the conversation as plain JSON, for `restore()`. Neither the key nor the tools are in it."""
        from .save_and_restore import recorded  # noqa: PLC0415 - only needed to save

        return recorded(self._history, self.wire.provider, self.wire.model)

    def restore(self, record: Any, *, classes: Iterable[type] = (), keep_model: bool = False) -> None:
        """Continues a recorded conversation in this chat.

        Requests find their tools among those that are registered here.

        Args:
            record: The JSON value of `record()`.
            classes: Content classes of other packages that may occur; any other class is refused.
            keep_model: Whether this chat keeps its own model. Default: `False`: it takes the recorded model if the provider is
                the same.

        Raises:
            UsageError: The value is not a record; the chat did not change.
        """
        from .save_and_restore import restored  # noqa: PLC0415 - only needed to save

        history, provider, model = restored(record, self._tools.values(), classes)
        with self._idle("restore()"):
            self._history.replace(history.turns, history.results)
        if provider == self.wire.provider and not keep_model:
            self.set_model(model)

    def __str__(self) -> str:
        from ..render.printed_form import format_chat  # noqa: PLC0415 - only needed to print

        results = self._history.results
        unsent = UserTurn([results[place] for place in sorted(results)]) if results else None
        return format_chat(self.wire.provider, self.wire.model, self._history.view(), unsent)

    def __repr__(self) -> str:
        return str(self).partition("\n")[0]

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

    @property
    def _answer(self) -> AssistantTurn:
        turn = self.last_turn("assistant")
        assert isinstance(turn, AssistantTurn)
        return turn

    def _plan(
        self,
        *,
        stream: bool,
        tool_mode: str,
        type: Any = None,
        controller: Any = None,
        params: Mapping[str, Any] | None = None,
    ) -> Settings:
        _check_call(tool_mode, controller, self.usage_limits)
        return Settings(
            self.wire if params is None else self._wire_with(params),
            self._tools,
            stream=stream,
            type=type,
            concurrent=tool_mode == "concurrent",
            max_tries=self.max_tries,
            max_tool_rounds=self.max_tool_rounds,
            on_request=self._on_request,
            on_result=self._on_result,
            controller=controller or StreamController(),
            price=cost,
            count=log_usage,
            written=self._written,
            fallbacks=[replace(one, provider=place) for place, (one, _) in enumerate(self.fallbacks, 1)],
            deps=self.deps,
            usage_limits=self.usage_limits,
            ask_before=self.ask_before,
            approve=approver(self.approve),
            told=self._told,
            fetch=self._fetch,
            fetched=self._fetched,
            on_history=self._on_history,
        )

    @property
    def _connections(self) -> list[Connection]:
        """The connections of the fallbacks."""
        return [connection for _, connection in self.fallbacks]

    def as_fallback(self) -> tuple[Fallback, Connection]:
        """Returns the provider of this chat, as a fallback for another chat."""
        return Fallback(self.wire, max_tries=self.max_tries), self._connection

    def _contents(self, inputs: Sequence[Input]) -> list[Content]:
        for one in inputs:
            if not isinstance(one, str | Content):
                raise UsageError(f"A chat takes strings and contents, not {type(one).__name__}: {one!r:.80}")
        return [ContentText(one) if isinstance(one, str) else one for one in inputs]

    def _converse(self, contents: Sequence[Content], settings: Settings) -> Loop[AssistantTurn | None]:
        return traced(converse(self._history, settings, contents), self._history, settings)

    def _exhaust(self, inputs: Sequence[Input], mode: EchoMode, settings: Settings) -> None:
        for _ in self._talk(self._converse(self._contents(inputs), settings), mode, settings):
            pass

    async def _aexhaust(self, inputs: Sequence[Input], mode: EchoMode, settings: Settings) -> None:
        loop = self._converse(self._contents(inputs), settings)
        async with aclosing(self._atalk(loop, mode, settings)) as shown:
            async for _ in shown:
                pass

    def _stream(
        self, contents: list[Content], mode: EchoMode, settings: Settings, pick: Callable[[Shown], Any]
    ) -> Generator[Any, None, None]:
        with closing(self._talk(self._converse(contents, settings), mode, settings)) as shown:
            for one in shown:
                if (picked := pick(one)) is not None:
                    yield picked

    def _talk(self, loop: Loop[Any], mode: EchoMode, settings: Settings) -> Generator[Shown, None, None]:
        echo, line = Echo(mode), BlockingDriver(self._connection, settings.controller, *self._connections)
        with self._entered(loop), closing(drive(loop, line)) as shown, closing(echo):
            for one in shown:
                echo(one)
                self._note(one)
                yield one

    def _atalk(self, loop: Loop[Any], mode: EchoMode, settings: Settings) -> AsyncGenerator[Shown, None]:
        from ..transport.async_driver import AsyncDriver, adrive  # noqa: PLC0415 - it imports asyncio

        echo, line = Echo(mode), AsyncDriver(self._connection, settings.controller, *self._connections)

        def show(one: Shown) -> None:
            echo(one)
            self._note(one)

        return adrive(loop, line, around=self._around(loop, echo), show=show)

    @contextmanager
    def _around(self, loop: Loop[Any], echo: Echo) -> Iterator[None]:
        with self._entered(loop), closing(echo):
            yield

    def _note(self, shown: Shown) -> None:
        """Handles a complete answer, and warns if the model had more to say."""
        if isinstance(shown, AssistantTurn) and (cut := cut_short(shown)):
            warn(cut[0].upper() + cut[1:])

    def _abandon(self, loop: Loop[Any]) -> None:
        """Handles an abandoned stream: keeps its received text, and allows the next conversation."""
        loop.close()
        self._left(loop)


def _check_call(tool_mode: str, controller: Any, usage_limits: Any) -> None:
    if tool_mode not in {"sequential", "concurrent"}:
        raise UsageError(f'tool_mode must be "sequential" or "concurrent", not {tool_mode!r}.')
    if controller is not None and not isinstance(controller, StreamController):
        raise UsageError(f"controller must be a StreamController, not {controller.__class__.__name__}.")
    if not isinstance(usage_limits, UsageLimits):
        raise UsageError(f"usage_limits must be UsageLimits(…), not {usage_limits!r:.80}.")
