"""The conversation, with the I/O left out.

`converse()` is a generator. It yields what it needs done, an `Effect`, and is sent the outcome, or has the
failure thrown into it; `_http.py` does what it asks for, once blocking and once async. A test needs neither:
`next()`, `.send()`, `.throw()` and `.close()` are the whole of the outside world.

    Send → Answer(200, …)                the request is out, and the head of the answer is here
        ReadBody → bytes                 the whole body
        ReadEvents → [event, …] | None   of a stream: what one network chunk completed; None at its end
        Finish → None                    the answer is complete, its connection free
    CallTools(requests, keep) → None     runs the tools; `keep(position, result)` the moment each has ended
    Notify(callbacks, content) → None    calls the user's callbacks
    Emit(content) → None                 shows a piece of an answer, a request, a result, or a finished turn
    Wait(at_least, at_most) → None       seconds
    Clock → float                        seconds, from any origin

Whatever happens at a yield, the history (an object of its own) is left such that the chat can go on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, TypeVar

from . import _retry
from ._cancel import Cancelled, StreamController
from ._history import History, sendable
from .content import Content, ContentText, ContentThinking, ContentToolRequest, ContentToolResult, replaced
from .errors import (
    ConnectError,
    EllmerError,
    IncompleteResponseError,
    ProviderError,
    ResponseError,
    TimeoutError,
    ToolReject,
    ToolRoundsError,
    UsageError,
)
from .tools import ToolDef
from .turns import AssistantTurn, Tokens, Turn, UserTurn
from .types import Type
from .wire import Merger, Request, Wire

__all__ = [
    "Answer",
    "CallTools",
    "Clock",
    "Effect",
    "Emit",
    "Finish",
    "Loop",
    "Notify",
    "Plan",
    "ReadBody",
    "ReadEvents",
    "Send",
    "Wait",
    "converse",
]

T = TypeVar("T")
Callback = Callable[[Any], Any]


@dataclass(frozen=True)
class Send:
    """Post `body`; the outcome is an `Answer`. An answer still open is dropped first."""

    request: Request
    body: bytes = field(repr=False)


@dataclass(frozen=True)
class Answer:
    """The head of an answer: header names in lower case, `at` in Unix time."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    at: float = 0.0

    @property
    def media_type(self) -> str:
        """`application/json` of `application/json; charset=utf-8`; `""` where there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True)
class ReadBody:
    """Read the open answer to its end; the outcome is its bytes."""


@dataclass(frozen=True)
class ReadEvents:
    """Read on in the open stream; the outcome is a list of events, or `None` at its end."""


@dataclass(frozen=True)
class Finish:
    """The stream has said all it will say: free its connection, for the next request if possible."""


@dataclass(frozen=True)
class CallTools:
    """Run these requests' tools, at once if there are several; hand over each result when it exists."""

    requests: Mapping[int, ContentToolRequest]
    keep: Callable[[int, ContentToolResult], None]


@dataclass(frozen=True)
class Notify:
    """Call these one after the other with the content."""

    callbacks: Sequence[Callback]
    content: Content


@dataclass(frozen=True)
class Emit:
    """Show this."""

    content: Content | Turn


@dataclass(frozen=True)
class Wait:
    """Do nothing for some time between the two (seconds)."""

    at_least: float
    at_most: float


@dataclass(frozen=True)
class Clock:
    """Say what time it is."""


Effect = Send | ReadBody | ReadEvents | Finish | CallTools | Notify | Emit | Wait | Clock
Loop = Generator[Effect, Any, T]


@dataclass(frozen=True)
class Plan:
    """How one conversation is to be held. `price` gives US dollars for a model's tokens, where it knows them."""

    wire: Wire
    tools: Mapping[str, ToolDef] = field(default_factory=dict)
    stream: bool = False
    type: Type | None = None
    concurrent: bool = False
    max_tries: int = 3
    max_tool_rounds: int = 100
    on_request: Sequence[Callback] = ()
    on_result: Sequence[Callback] = ()
    controller: StreamController = field(default_factory=StreamController)
    price: Callable[[Wire, Tokens], float | None] = lambda _wire, _tokens: None


def converse(history: History, plan: Plan, inputs: Sequence[Content]) -> Loop[AssistantTurn | None]:
    """Sends the inputs, runs the tools the model asks for, and so on until it has answered.

    Returns the last turn, or `None` when the controller was used.
    """
    user = history.reply(inputs)
    yield Emit(user)
    try:
        for rounds in count():
            turn = yield from answered(history, plan, user)
            if not turn.tool_requests:
                return turn
            if rounds >= plan.max_tool_rounds:
                raise ToolRoundsError(
                    f"The model asked for tools {rounds + 1} times in a row, and max_tool_rounds is "
                    f"{plan.max_tool_rounds}. The last requests were not run; the next chat() says so to it."
                )
            yield from called(history, plan, turn.tool_requests)
            user = history.reply(())
    except Cancelled:
        pass
    return None


# One request, one answer ------------------------------------------------------------------------------------


def answered(history: History, plan: Plan, user: UserTurn) -> Loop[AssistantTurn]:
    """One user turn and its answer, in the history; or an error, and the history as it was."""
    turns = [*sendable(history.turns), user]
    request = plan.wire.request(turns, tuple(plan.tools.values()), stream=plan.stream, type=plan.type)
    body = encoded(request.json)
    began: float = yield Clock()
    try:
        turn = yield from tried(history, plan, request, body, user)
        ended: float = yield Clock()
        turn = _completed(turn, plan, ended - began)
        _check_whole(turn, plan)
    except BaseException as error:
        history.settle(_reason(error))
        raise
    shown = history.delivered
    history.commit(user, turn)
    if not shown:
        for content in turn.contents:
            if isinstance(content, ContentText | ContentThinking):
                yield Emit(content)
    yield Emit(turn)
    return turn


def tried(history: History, plan: Plan, request: Request, body: bytes, user: UserTurn) -> Loop[AssistantTurn]:
    """The answer to a request, tried again where that may help and nothing of an answer was shown."""
    for tries in count(1):
        answer = Answer(0)
        history.begin(user)
        plan.controller.check()
        try:
            answer = yield Send(request, body)
            return (yield from read(history, plan, request, answer))
        except (ProviderError, ConnectError) as error:
            plan.controller.check()
            wait = _retry.wait(error, answer.headers, answer.at, tries)
            if history.delivered or wait is None or tries >= plan.max_tries:
                raise
        yield Wait(*wait)
    raise AssertionError("unreachable: the last try returns or raises")


def read(history: History, plan: Plan, request: Request, answer: Answer) -> Loop[AssistantTurn]:
    """The turn that an answer holds, streamed or not; or its error."""
    if not 200 <= answer.status < 300:
        body = yield from _whatever_body()
        raise plan.wire.error(answer.status, answer.headers, body)
    if _is_stream(request, answer):
        return (yield from streamed(history, plan))
    try:
        body = yield ReadBody()
    except TimeoutError:
        raise
    except ConnectError as error:
        raise IncompleteResponseError(f"The answer broke off: {error}") from error
    return _understood(plan.wire, partial(_whole, plan.wire), _decoded(body, answer.media_type))


def _whole(wire: Wire, response: Any) -> AssistantTurn:
    """The turn of a body that came at once; a list is the events of a stream (Gemini without `alt=sse`)."""
    match response:
        case dict():
            return wire.turn(response)
        case list():
            merger = wire.merger()
            for event in response:
                merger.add(event)
            return wire.turn(_finished(merger))
    raise ResponseError(f"The answer is neither a JSON object nor a list: {str(response)[:200]!r}")


def _finished(merger: Merger, why: Exception | None = None) -> dict[str, Any]:
    """The answer that a stream adds up to; an error, if it has no end."""
    if merger.complete:
        return merger.response()
    how = f": {why}" if why else ": no end mark came."
    raise IncompleteResponseError(f"The answer stopped before its end{how}") from why


def _is_stream(request: Request, answer: Answer) -> bool:
    """Whether events follow. Some servers stream unasked, some answer whole when asked to stream."""
    if answer.media_type == "text/event-stream":
        return True
    whole = {"text/html"} if request.framing == "ndjson" else {"text/html", "application/json"}
    return request.stream and answer.media_type not in whole


def _whatever_body() -> Loop[bytes]:
    """The body of an error; nothing, if it cannot be read: the status alone is an answer."""
    try:
        body: bytes = yield ReadBody()
    except ConnectError:
        return b""
    return body


def streamed(history: History, plan: Plan) -> Loop[AssistantTurn]:
    """Shows an answer while it comes. An end without the format's end mark is no end."""
    merger = plan.wire.merger()
    why: Exception | None = None
    done = False
    while not done:
        try:
            events: list[Any] | None = yield ReadEvents()
        except TimeoutError:
            raise
        except ConnectError as error:
            events, why = None, error
        plan.controller.check()
        if events is None:
            break
        for event in events:
            for piece in filter(_says_something, _understood(plan.wire, merger.add, event)):
                history.receive(piece)
                yield Emit(piece)
                plan.controller.check()
            done = done or event == "[DONE]" or merger.done
    yield Finish()
    return _understood(plan.wire, plan.wire.turn, _finished(merger, why))


def _understood(wire: Wire, read: Callable[[Any], T], said: Any) -> T:
    """An answer of a shape that the wire format does not expect is the provider's error, not a crash."""
    try:
        return read(said)
    except EllmerError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ResponseError(f"The answer makes no sense as {wire.name}: {error!r}") from error


def _says_something(piece: Content) -> bool:
    match piece:
        case ContentText(text) | ContentThinking(text):
            return bool(text)
    return True


def _completed(turn: AssistantTurn, plan: Plan, duration: float) -> AssistantTurn:
    """The turn with what the wire format cannot know: the tools that are asked for, the cost, the duration."""
    contents = tuple(
        replaced(c, tool=plan.tools.get(c.name)) if isinstance(c, ContentToolRequest) else c
        for c in turn.contents
    )
    return AssistantTurn(
        contents,
        tokens=turn.tokens,
        finish_reason=turn.finish_reason,
        json=turn.json,
        cost=plan.price(plan.wire, turn.tokens) if turn.cost is None else turn.cost,
        duration=duration,
    )


def _check_whole(turn: AssistantTurn, plan: Plan) -> None:
    """Structured data that was cut short is no data (in a chat, a short text is text all the same)."""
    if plan.type is not None and (cut := cut_short(turn)):
        raise IncompleteResponseError(f"No structured data: {cut}")


def cut_short(turn: AssistantTurn) -> str | None:
    """Why the turn is not all the model had to say; `None` if it is, as far as it says."""
    match turn.finish_reason:
        case "max_tokens":
            return 'the answer was cut at the `max_tokens` limit; raise it with params={"max_tokens": …}.'
        case "context_window":
            return "the answer was cut because the conversation fills the model's context window."
        case "content_filter":
            return "the answer was held back by the provider's content filter."
    return None


def encoded(body: Mapping[str, Any]) -> bytes:
    """A request's body: compact JSON in UTF-8. Half a surrogate pair, which has no UTF-8, becomes U+FFFD."""
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The request cannot be written as JSON: {error}.") from error
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _decoded(body: bytes, media_type: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        start = body[:200].decode("utf-8", "replace").strip()
        if media_type == "text/html" or start[:1] not in {"", "{", "["}:
            raise ResponseError(f"The answer is not JSON ({media_type or 'no type'}): {start!r}") from error
        raise IncompleteResponseError(f"The answer stopped before its end: {error}") from error


def _reason(error: BaseException) -> str:
    """Why a partial turn is one, in the word that is printed with it."""
    match error:
        case Cancelled():
            return str(error)
        case TimeoutError():
            return "timeout"
        case IncompleteResponseError():
            return "incomplete"
        case ProviderError() | ResponseError():
            return "error"
    return "interrupted"


# Tools ------------------------------------------------------------------------------------------------------


def called(history: History, plan: Plan, requests: Sequence[ContentToolRequest]) -> Loop[None]:
    """Runs the tools, one by one or all at once. Each result is in the history the moment it exists."""
    places = range(len(requests))
    for batch in [list(places)] if plan.concurrent else [[place] for place in places]:
        ready = {}
        for place in batch:
            plan.controller.check()
            yield Emit(requests[place])
            refusal = yield from refused(plan, requests[place])
            if refusal:
                history.results[place] = refusal
            else:
                ready[place] = requests[place]
        if ready:
            yield CallTools(ready, history.results.__setitem__)
        for place in batch:
            yield Notify(tuple(plan.on_result), history.results[place])
            yield Emit(history.results[place])


def refused(plan: Plan, request: ContentToolRequest) -> Loop[ContentToolResult | None]:
    """The result of a request that must not be run: it makes no sense, or a callback rejected it."""
    if request.problem:
        return ContentToolResult(error=f"The call was not run: {request.problem}.", request=request)
    try:
        yield Notify(tuple(plan.on_request), request)
    except ToolReject as rejection:
        return ContentToolResult(error=rejection, request=request)
    return None
