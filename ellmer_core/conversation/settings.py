"""What a caller sets for a conversation: limits of its usage, a way to cancel it, whether calls wait for each other, and all
settings together.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from itertools import count
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Literal

from ..base.argument_checks import spelt
from ..base.values import Value
from ..contents.content import ContentImageInline, ContentToolRequest, ToolDef
from ..contents.turns import AssistantTurn, Tokens, Turn, UserTurn
from ..errors import UsageError, UsageLimitError
from ..tools.results import pointed, result_text
from ..wire.base import StructuredMode, Wire
from .approval import AskBefore, Decide
from .io_operations import Callback
from .request_cache import RequestCache

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..schemas.type_classes import Type

__all__ = ["StreamController", "UsageLimits"]


# --- Usage limits ----------------------------------------------------------------------------------------


@spelt
@dataclass(frozen=True, eq=False, repr=False)
class UsageLimits(Value):
    """The most that a call of `chat()` may use, all its tool rounds included. `None` (default) means no limit.

    No request is sent and no tool is called once a limit is reached. `UsageLimitError` names the limit, and the history
    keeps what was answered. One answer may exceed `tokens` and `cost`, because they are known only at its end.

    Args:
        requests: Number of answered requests. Default: `None`.
        tool_calls: Number of tool calls. Default: `None`.
        tokens: Number of tokens, input and output together. Default: `None`.
        cost: Cost in US dollars. Default: `None`.
        per: `"call"` (default) counts one call; `"chat"` counts all that the history contains, and all prompts of
            `parallel_chat()` together.
        same_calls: How often in a row the model may make the same calls, with the same arguments, and get the same
            results. A model that repeats itself seldom stops by itself. Default: `None`.
        at_limit: `"raise"` (default) raises the error. `"answer"` asks the model once more, without tools: in the last of the
            `requests`, or after `tool_calls`, `same_calls` or the chat's `max_tool_rounds`. `tokens` and `cost` always raise.

    Examples:
        >>> chat = chat_openai(usage_limits=UsageLimits(requests=10, cost=0.50))
        >>> chat.usage_limits.requests
        10
    """

    requests: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    per: Literal["call", "chat"] = "call"
    same_calls: int | None = None
    at_limit: Literal["raise", "answer"] = "raise"

    def __post_init__(self) -> None:
        if self.per not in {"call", "chat"}:
            raise UsageError(f'per= must be "call" or "chat", not {self.per!r}.')
        if self.at_limit not in {"raise", "answer"}:
            raise UsageError(f'at_limit= must be "raise" or "answer", not {self.at_limit!r}.')
        for name in (limit.name for limit in fields(self) if limit.name not in {"per", "at_limit"}):
            limit = getattr(self, name)
            kinds = int | float if name == "cost" else int
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, kinds) or limit < 0):
                raise UsageError(f"{name}= must be a number, 0 or more, or None, not {limit!r}.")

    def check_request(self, turns: Sequence[Turn]) -> None:
        """Raises `UsageLimitError` if the next request would exceed a limit.

        Args:
            turns: The turns of the call so far. Their requests, tokens and calls are counted.

        Examples:
            >>> UsageLimits(requests=2).check_request([UserTurn("Hi"), AssistantTurn("Hello!")])
        """
        if self.requests is None and self.tokens is None and self.cost is None:
            return
        answers = [turn for turn in turns if isinstance(turn, AssistantTurn) and not turn.lost]
        _check("requests", len(answers), self.requests)
        _check("tokens", sum((a.tokens.input or 0) + (a.tokens.output or 0) for a in answers), self.tokens)
        if self.cost is not None:
            if unknown := [answer for answer in answers if answer.cost is None]:
                model = (unknown[0].json or {}).get("model") or "this model"
                raise UsageLimitError(
                    f"The cost of {model} is not known, so UsageLimits(cost=…) cannot be enforced. Limit requests= or "
                    "tokens= instead."
                )
            _check("cost", sum(answer.cost or 0.0 for answer in answers), self.cost)

    def next_is_last(self, turns: Sequence[Turn]) -> bool:
        """Returns whether the next request is the last of `requests`.

        Args:
            turns: The turns of the call so far.

        Examples:
            >>> UsageLimits(requests=2).next_is_last([UserTurn("Hi"), AssistantTurn("Hello!")])
            True
        """
        if self.requests is None:
            return False
        return sum(isinstance(turn, AssistantTurn) and not turn.lost for turn in turns) == self.requests - 1

    def check_calls(self, turns: Sequence[Turn]) -> None:
        """Raises `UsageLimitError` if the calls of the last turn would exceed a limit.

        Args:
            turns: The turns of the call so far. Their requests, tokens and calls are counted.

        Examples:
            >>> UsageLimits(tool_calls=2).check_calls([UserTurn("Hi"), AssistantTurn("Hello!")])
        """
        calls = sum(len(t.tool_requests) for t in turns if isinstance(t, AssistantTurn) and not t.lost)
        if self.tool_calls is not None and calls > self.tool_calls:
            raise UsageLimitError(
                f"The model asked for {calls} tool calls, and the limit is tool_calls={self.tool_calls}. The last "
                "calls were not run. The next chat() tells the model so."
            )
        if self.same_calls is not None and calls and (made := _repeated(turns, self.same_calls)):
            raise UsageLimitError(
                f"The model made the same call {self.same_calls} times in a row, with the same result, and asked for it again: "
                f"{made}. The limit is same_calls={self.same_calls}. The last calls were not run. The next chat() tells the model so."
            )


def _repeated(turns: Sequence[Turn], limit: int) -> str:
    """Returns the calls of the last turn in words if the rounds before it had the same calls and results, and `""` otherwise."""
    *before, last = turns
    rounds = before[-2 * limit :] if limit else []
    calls = _calls_of(last)
    if len(rounds) < 2 * limit or any(_calls_of(turn) != calls for turn in rounds[::2]):
        return ""
    outcomes = [_outcomes_of(turn) for turn in rounds[1::2]]
    if any(each is None or each != outcomes[0] for each in outcomes):
        return ""
    return ", ".join(f"{name}({arguments})" for name, arguments in calls)[:200]


def _calls_of(turn: Turn) -> list[tuple[str, str]]:
    requests = turn.tool_requests if isinstance(turn, AssistantTurn) else ()
    return sorted(map(_call, requests))


def _call(request: ContentToolRequest) -> tuple[str, str]:
    if request.problem:
        return request.name, request.raw or ""
    arguments = json.dumps(dict(request.arguments), sort_keys=True, ensure_ascii=False, default=str)
    return request.name, arguments


def _outcomes_of(turn: Turn) -> list[tuple[str, list[Any]]] | None:
    """Returns the texts and media that the model got, in the order of `_calls_of()`; `None` if the user said something, too."""
    results = turn.tool_results if isinstance(turn, UserTurn) else ()
    if not results or len(results) < len(turn.contents):
        return None
    ordered = sorted(results, key=lambda result: _call(result.request) if result.request else ("", ""))
    return [(result_text(result), pointed(result, lambda _: "")[1:]) for result in ordered]


def _check(name: str, used: float, limit: float | None) -> None:
    if limit is not None and used >= limit:
        raise UsageLimitError(
            f"The conversation has used {used:g} of {name}={limit:g}; the request was not sent."
        )


# --- Cancellation ----------------------------------------------------------------------------------------


class Cancelled(Exception):  # not an EllmerError: it never leaves the chat
    """The controller was cancelled; the message is the reason."""


@dataclass(eq=False, repr=False)
class StreamController:
    """Cancels the streams that it is passed to.

    A cancelled stream ends without an error. What was received stays in the history as an `AssistantPartialTurn`
    with the reason. No further tool starts; one that runs is finished first. A blocking `stream()` that has not
    received the headers of an answer yet ends when they arrive.

    Examples:
        >>> controller = StreamController()
        >>> for piece in chat_openai().stream("Hi", controller=controller):
        ...     controller.cancel()
        >>> controller.reason
        'cancelled'
    """

    #: The reason of the cancellation, or `None`.
    reason: str | None = field(default=None, init=False)
    _lock: Any = field(default_factory=Lock, init=False)
    _wakers: list[Callable[[], object]] = field(default_factory=list, init=False)

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self.reason is not None

    @spelt
    def cancel(self, reason: str = "cancelled") -> None:
        """Cancels the streams. It can be called from any thread.

        Args:
            reason: The reason, which `controller.reason` returns; a later call does not change it. Default: `"cancelled"`.

        Examples:
            >>> controller = StreamController()
            >>> controller.cancel("The user left.")
            >>> controller.reason
            'The user left.'
        """
        with self._lock:
            self.reason = self.reason or reason or "cancelled"
            wakers = [*self._wakers]
        for wake in wakers:
            wake()

    def reset(self) -> None:
        """Resets the controller for another stream.

        Examples:
            >>> controller = StreamController()
            >>> controller.cancel()
            >>> controller.reset()
            >>> controller.cancelled
            False
        """
        self.reason = None

    def check(self) -> None:
        """Raises `Cancelled` if it was cancelled.

        Examples:
            >>> StreamController().check()
        """
        if self.reason is not None:
            raise Cancelled(self.reason)

    def wait(self, seconds: float) -> None:
        """Blocks until the time has passed or the controller is cancelled.

        Args:
            seconds: The longest time to block.

        Examples:
            >>> StreamController().wait(0.001)
        """
        event = Event()
        with self.waking(event.set):
            event.wait(seconds)

    @contextmanager
    def waking(self, wake: Callable[[], object]) -> Iterator[None]:
        """Calls a function when the controller is cancelled while the block runs.

        Args:
            wake: The function, without arguments.

        Returns:
            A context manager. Its block is the time in which the function may be called.

        Examples:
            >>> from threading import Event
            >>> controller, stopped = StreamController(), Event()
            >>> with controller.waking(stopped.set):
            ...     controller.cancel()
            >>> stopped.is_set()
            True
        """
        with self._lock:
            self._wakers.append(wake)
        try:
            if self.reason is not None:
                wake()
            yield
        finally:
            with self._lock:
                self._wakers.remove(wake)

    def __repr__(self) -> str:
        state = f"cancelled={self.reason!r}" if self.cancelled else "active"
        return f"<StreamController {state}>"


# --- One conversation at a time --------------------------------------------------------------------------


WhenBusy = Literal["raise", "wait"]

BUSY = (
    "This chat is in the middle of an answer. Wait until it finishes, close() the stream, use a fork() for two requests at "
    'once, or set when_busy="wait".'
)
INSIDE = "This chat is in the middle of an answer that waits for this call, so this call cannot wait for it. Use a fork()."

_numbers = count()
_inside: ContextVar[frozenset[int]] = ContextVar("ellmer_core_inside", default=frozenset())


class OneAtATime:
    """The conversation that has reserved a chat, and those that wait for it. Threads and event loops may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holder: object = None
        self._number = -1  # of the holder, by which a call knows that it is part of that conversation
        self._queue: deque[tuple[object, int, Future[None]]] = deque()

    @property
    def taken(self) -> bool:
        """Whether a conversation has reserved the chat."""
        return self._holder is not None

    @contextmanager
    def idle(self, what: str) -> Iterator[None]:
        """Allows a change of the history, while no conversation has reserved the chat."""
        with self._lock:
            if self._holder is not None:
                raise UsageError(
                    f"{what} cannot be used while the chat is answering. Wait for the answer, or change a fork()."
                )
            yield

    def take(self, talk: object, mode: WhenBusy) -> Future[None] | None:
        """Reserves the chat. Returns `None`, or a future that is done when it is this conversation's turn. After each call that does not raise,
        call `leave()`.
        """
        if mode not in ("raise", "wait"):
            raise UsageError(f'when_busy= must be "raise" or "wait", not {mode!r}.')
        with self._lock:
            if self._holder is not None and self._number in _inside.get():
                raise UsageError(INSIDE if mode == "wait" else BUSY)
            if self._holder is not None and mode != "wait":
                raise UsageError(BUSY)
            number, ahead = next(_numbers), None
            if self._holder is None:
                self._holder, self._number = talk, number
            else:
                self._queue.append((talk, number, ahead := _future()))
            _inside.set(_inside.get() | {number})
            return ahead

    def leave(self, talk: object) -> None:
        """Ends a conversation, or its waiting. The next conversation in the queue begins."""
        with self._lock:
            self._queue = deque(each for each in self._queue if each[0] is not talk)
            if self._holder is not talk:
                return
            _inside.set(_inside.get() - {self._number})
            self._holder = None
            while self._queue and self._holder is None:
                following, number, ahead = self._queue.popleft()
                if ahead.set_running_or_notify_cancel():
                    self._holder, self._number = following, number
                    ahead.set_result(None)


def _future() -> Future[None]:
    from concurrent.futures import Future  # noqa: PLC0415 - few chats wait

    return Future()


# --- All settings ----------------------------------------------------------------------------------------


Check = Callable[[AssistantTurn], str | None]


@dataclass(
    eq=False, repr=False
)  # what is not made need not be compiled; nobody changes it, and a frozen one takes thrice the time
class Settings:
    """The settings of one conversation. `type` asks for data, in a `mode`. An answer in which `check` finds a problem
    is requested again, up to `max_retries` times, with the problem as the next message. `price` returns US dollars
    for a model's tokens, if known; `count` is called for every answer. `fallbacks` are the providers to try next, in
    order.
    """

    wire: Wire
    tools: Mapping[str, ToolDef] = field(default_factory=dict)
    stream: bool = False
    deltas: bool = False  # the arguments of calls are shown while they arrive
    type: Type | None = None
    mode: StructuredMode | None = None
    check: Check | None = None
    max_retries: int = 0
    concurrent: bool = False
    max_tries: int = 3
    max_tool_rounds: int = 100
    on_request: Sequence[Callback] = ()
    on_result: Sequence[Callback] = ()
    on_history: Sequence[Callable[[list[Turn]], Iterable[Turn]]] = ()
    controller: StreamController = field(default_factory=StreamController)
    price: Callable[[Wire, Tokens], float | None] = lambda _wire, _tokens: None
    count: Callable[[Wire, AssistantTurn], object] = lambda _wire, _turn: None
    written: RequestCache = field(default_factory=RequestCache)
    fetch: bool = False  # images by URL, where the API fetches none
    fetched: dict[str, ContentImageInline | str] = field(default_factory=dict)  # or why not
    warned: set[str] = field(default_factory=set)  # what the caller was warned of
    plain: dict[int, tuple[Turn, Turn]] = field(default_factory=dict)  # answers without refused attachments
    provider: int = 0
    fallbacks: Sequence[Fallback] = ()
    describes: bool = False  # the user's new content, too, where the model does not accept it
    deps: Any = None
    usage_limits: UsageLimits = field(default_factory=UsageLimits)
    ask_before: AskBefore = ()
    approve: Decide | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Fallback:
    """Another provider, and its index in the chat."""

    wire: Wire
    provider: int = 1
    max_tries: int = 3
    written: RequestCache = field(default_factory=RequestCache)
