"""Reads one answer, streamed or not: the result is a turn or an error. These steps of the conversation do no I/O."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from ...contents.turns import AssistantPartialTurn, AssistantTurn
from ...errors import ConnectError, EllmerError, IncompleteResponseError, ResponseError, TimeoutError
from ...wire.base import Wire
from ...wire.interfaces import Merger, Request
from ...wire.shared.json_objects import read_json
from ..history import History
from ..io_operations import Answer, Emit, Finish, Loop, ReadBody, ReadEvents
from ..settings import Settings
from .answer_sanitizing import Pieces, turn_of
from .structured_data_in_calls import CalledData

__all__ = ["cut_short", "read"]

T = TypeVar("T")


def read(history: History, settings: Settings, request: Request, answer: Answer) -> Loop[AssistantTurn]:
    """Returns the turn of an answer, streamed or not. Raises its error."""
    if not 200 <= answer.status < 300:
        body = yield from _whatever_body()
        raise settings.wire.error(answer.status, answer.headers, body)
    if _is_stream(request, answer):
        return (yield from streamed(history, settings))
    try:
        body = yield ReadBody()
    except TimeoutError:
        raise
    except ConnectError as error:
        raise IncompleteResponseError(f"The answer broke off: {error}") from error
    return _understood(settings.wire, partial(_whole, settings.wire), _decoded(body, answer.media_type))


def _whole(wire: Wire, response: Any) -> AssistantTurn:
    """Returns the turn of a complete body. A list is the events of a stream (Gemini without `alt=sse`)."""
    match response:
        case dict():
            return turn_of(wire, response)
        case list():
            merger = wire.merger()
            for event in response:
                merger.add(event)
            return turn_of(wire, _finished(merger))
    raise ResponseError(f"The answer is neither a JSON object nor a list: {str(response)[:200]!r}")


def _finished(merger: Merger, why: Exception | None = None) -> dict[str, Any]:
    """Returns the answer of a complete stream. Raises an error if the stream has no end."""
    if merger.complete:
        return merger.response()
    how = f": {why}" if why else ": the end marker did not arrive."
    raise IncompleteResponseError(f"The answer stopped before its end{how}") from why


def _is_stream(request: Request, answer: Answer) -> bool:
    """Tells whether the answer is a stream. Some servers stream without being asked, and some ignore the request for
    a stream.
    """
    if answer.media_type == "text/event-stream":
        return True
    whole = {"text/html"} if request.framing == "ndjson" else {"text/html", "application/json"}
    return request.stream and answer.media_type not in whole


def _whatever_body() -> Loop[bytes]:
    """Returns the body of an error, or nothing if it cannot be read, because the status is enough."""
    try:
        body: bytes = yield ReadBody()
    except ConnectError:
        return b""
    return body


def streamed(history: History, settings: Settings) -> Loop[AssistantTurn]:
    """Shows an answer while it arrives. A stream is complete only with the format's end marker."""
    merger = settings.wire.merger()
    pieces = Pieces(merger)
    called = CalledData(settings)
    why: Exception | None = None
    done = False
    while not done:
        try:
            events: list[Any] | None = yield ReadEvents()
        except TimeoutError:
            raise
        except ConnectError as error:
            events, why = None, error
        settings.controller.check()
        if events is None:
            break
        for event in events:
            for piece in _understood(settings.wire, pieces.of, event):
                history.receive(piece)
                yield Emit(piece)
                settings.controller.check()
            done = done or event == "[DONE]" or merger.done
        if data := called.more(merger):
            history.receive(data)
            yield Emit(data)
    yield Finish()
    return _understood(settings.wire, lambda merger: turn_of(settings.wire, _finished(merger, why)), merger)


def _understood(wire: Wire, read: Callable[[Any], T], said: Any) -> T:
    """Turns an answer of an unexpected shape into the provider's error instead of a crash."""
    try:
        return read(said)
    except EllmerError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise ResponseError(f"Cannot parse this response as {wire.name}: {error!r}") from error


def _decoded(body: bytes, media_type: str) -> Any:
    try:
        return read_json(body)
    except ValueError as error:
        start = body[:200].decode("utf-8", "replace").strip()
        if media_type == "text/html" or start[:1] not in {"", "{", "["}:
            raise ResponseError(f"The answer is not JSON ({media_type or 'no type'}): {start!r}") from error
        raise IncompleteResponseError(f"The answer stopped before its end: {error}") from error


def cut_short(turn: AssistantTurn) -> str | None:
    """Returns the reason why the model had more to say, or `None` if the answer is complete."""
    match turn.finish_reason:
        case "max_tokens":
            return 'the answer was cut at the `max_tokens` limit; raise it with params={"max_tokens": …}.'
        case "context_window":
            return "the answer was cut because the conversation fills the model's context window."
        case "content_filter":
            return "the answer was held back by the provider's content filter."
    if not isinstance(turn, AssistantPartialTurn):
        return None
    why = (
        f"its finish reason is {turn.finish_reason!r:.80}"
        if turn.finish_reason
        else "it gave no finish reason"
    )
    return f"the provider did not mark the answer as complete: {why}."
