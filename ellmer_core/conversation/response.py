"""Reads one answer, streamed or not: the result is a turn or an error. Values get the right types, and text can be written
anywhere. It does no I/O.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import partial
from operator import is_
from typing import Any, TypeVar

from ..base.argument_checks import misfit
from ..contents.content import (
    Content,
    ContentImageInline,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ToolCallDelta,
    replaced,
)
from ..contents.turns import AssistantPartialTurn, AssistantTurn, Tokens, legal_name
from ..errors import (
    ConnectError,
    EllmerError,
    IncompleteResponseError,
    RequestTimeoutError,
    ResponseError,
    chained,
)
from ..wire.base import Wire
from ..wire.interfaces import CallPiece, Merger, Piece, Request
from ..wire.shared.json_objects import read_json
from ..wire.shared.tool_calls import STRUCTURED
from .history import History
from .io_operations import Answer, Finish, Loop, ReadBody, ReadEvents
from .settings import Settings

T = TypeVar("T")


def read(history: History, settings: Settings, request: Request, answer: Answer) -> Loop[AssistantTurn]:
    """Returns the turn of an answer, streamed or not. Raises its error. Some servers stream without being asked, and some
    ignore the request for a stream.
    """
    if not 200 <= answer.status < 300:
        body = yield from _whatever_body()
        raise settings.wire.error(answer.status, answer.headers, body)
    try:
        return (yield from _of_success(history, settings, request, answer))
    except EllmerError as error:
        answer.without_keys(error)
        _forget_answer(error)
        raise


def _of_success(
    history: History, settings: Settings, request: Request, answer: Answer
) -> Loop[AssistantTurn]:
    """Returns the turn of an answer with a status of success."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    whole = {"text/html"} if request.framing == "ndjson" else {"text/html", "application/json"}
    if kind == "text/event-stream" or (request.stream and kind not in whole):
        return (yield from streamed(history, settings))
    try:
        body = yield ReadBody()
    except RequestTimeoutError:
        raise
    except ConnectError as error:
        raise IncompleteResponseError(f"The answer broke off: {error}") from error
    try:
        response = read_json(body)
    except ValueError as error:
        raise _no_json(body, kind, error) from error
    turn_of_body = turn_of if isinstance(response, dict) else _turn_of_events
    return _understood(settings.wire, partial(turn_of_body, settings.wire), response)


def _forget_answer(error: EllmerError) -> None:
    """Clears the variables of these functions, which have the answer and have ended: a tracker of errors would show what it quotes."""
    for each in chained(error):
        trace = each.__traceback__
        while trace is not None:
            frame, trace = trace.tb_frame, trace.tb_next
            if frame.f_globals is globals():
                with suppress(RuntimeError):  # the one that reads still runs
                    frame.clear()


def _turn_of_events(wire: Wire, response: Any) -> AssistantTurn:
    """Returns the turn of a complete body that is a list: the events of a stream (Gemini without `alt=sse`)."""
    if not isinstance(response, list):
        raise ResponseError(f"The answer is neither a JSON object nor a list: {str(response)[:200]!r}")
    merger = wire.merger()
    for event in response:
        merger.add(event)
    return turn_of(wire, _finished(merger))


def _finished(merger: Merger, why: Exception | None = None) -> dict[str, Any]:
    """Returns the answer of a complete stream. Raises an error if the stream has no end."""
    if merger.complete:
        return merger.response()
    how = f": {why}" if why else ": the end marker did not arrive."
    raise IncompleteResponseError(f"The answer stopped before its end{how}") from why


def _whatever_body() -> Loop[bytes]:
    """Returns the body of an error, or nothing if it cannot be read, because the status is enough."""
    try:
        body: bytes = yield ReadBody()
    except ConnectError:
        return b""
    return body


def streamed(history: History, settings: Settings) -> Loop[AssistantTurn]:
    """Shows an answer while it arrives. A stream is complete only with the format's end marker, and nothing after it
    counts. All that was decoded before an error counts.
    """
    merger = settings.wire.merger()
    pieces = Pieces(settings.wire, merger, CallDeltas() if settings.deltas else None)
    called, read_events, controller = CalledData(settings), ReadEvents(), settings.controller
    received = history.received
    failure: Exception | None = None
    ended = False
    while not ended:
        try:
            events: list[Any] | None = yield read_events
        except RequestTimeoutError:
            raise
        except ConnectError as error:
            events, failure = None, error
        controller.check()
        ended = events is None
        try:
            for event in events or ():
                for piece in pieces.of(event):
                    if not isinstance(piece, ToolCallDelta):
                        received.append(piece)
                    yield piece
                    controller.check()
                if ended := event == "[DONE]" or merger.done:
                    break
        except EllmerError:
            yield from _show(history, called.more(merger))
            raise
        if called.arrive:
            yield from _show(history, called.more(merger))
    yield Finish()
    return _understood(
        settings.wire, lambda merger: turn_of(settings.wire, _finished(merger, failure)), merger
    )


def _show(history: History, piece: Content | None) -> Loop[None]:
    if piece is not None:
        history.received.append(piece)
        yield piece


def _understood(wire: Wire, read: Callable[[Any], T], answer: Any) -> T:
    """Turns an answer of an unexpected shape into the provider's error instead of a crash."""
    try:
        return read(answer)
    except EllmerError:
        raise
    except UNREADABLE as error:
        raise _unreadable(wire, error) from error


UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def _unreadable(wire: Wire, error: Exception) -> ResponseError:
    return ResponseError(f"Cannot parse this response as {wire.name}: {error!r:.200}")


def _no_json(body: bytes, media_type: str, error: ValueError) -> ResponseError:
    """Returns the error for a body that is not JSON, or that is only the beginning of a JSON text."""
    start = body[:200].decode("utf-8", "replace").strip()
    if media_type == "text/html" or start[:1] not in {"", "{", "["}:
        return ResponseError(f"The answer is not JSON ({media_type or 'no type'}): {start!r}")
    return IncompleteResponseError(f"The answer stopped before its end: {error}")


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


# --- Values with the right types, and text that can be written -------------------------------------------


MOST = 2**53  # tokens; a larger number is not a count


def turn_of(wire: Wire, response: dict[str, Any]) -> AssistantTurn:
    """Returns the turn of a response. An answer without content, stop reason and token counts comes from a gateway, not from the model. An invalid token count does not invalidate the answer."""
    turn = wire.turn(response)
    if not turn.contents and turn.finish_reason is None and turn.tokens == Tokens():
        raise ResponseError(f"Cannot parse this response as {wire.name}: {json.dumps(response):.200}")
    if wrong := next(filter(None, map(misfit, turn.contents)), ""):
        raise ResponseError(f"Cannot parse this response as {wire.name}: {wrong}")
    if not isinstance(turn.finish_reason, (str, type(None))):
        raise ResponseError(
            f"Cannot parse this response as {wire.name}: its finish reason is {turn.finish_reason!r}"
        )
    contents, counts = tuple(map(_legible, turn.contents)), vars(turn.tokens)
    valid = all(count is None or (type(count) is int and 0 <= count <= MOST) for count in counts.values())
    if valid and all(map(is_, contents, turn.contents)):
        return turn
    tokens = turn.tokens if valid else Tokens(**{name: _whole(count) for name, count in counts.items()})
    return turn.but_with(contents=contents, tokens=tokens)


def _whole(count: object) -> int | None:
    whole = type(count) is int or (isinstance(count, float) and count.is_integer())
    return int(count) if whole and isinstance(count, int | float) and 0 <= count <= MOST else None


def _legible(content: Content) -> Content:
    match content:
        case ContentText(text=text) if (better := _paired(text)) is not text:
            return replaced(content, text=better)
        case ContentThinking(thinking=text) if (better := _paired(text)) is not text:
            return replaced(content, thinking=better)
        case ContentToolRequest(raw=raw, arguments=arguments):
            changed = {"raw": _paired(raw), "arguments": _paired(arguments)}
            return (
                content if changed == {"raw": raw, "arguments": arguments} else replaced(content, **changed)
            )
        case ContentImageInline():
            return _real(content)
    return content


def _real(image: ContentImageInline) -> Content:
    """Returns an image with the media type of its bytes, or a description if its bytes are not an accepted image."""
    from ..contents.media_bytes import media_type  # noqa: PLC0415 - few answers have images

    found = media_type(image.data)
    if found == image.type:
        return image
    if found is not None and found.startswith("image/"):
        return replaced(image, type=found)
    return ContentText(f"[{image.type} that cannot be shown]")


def _paired(value: Any) -> Any:
    """Returns a JSON value in which every surrogate is half of a pair. A text without others is the same object."""
    match value:
        case str() if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_paired(item) for item in value]
        case dict():
            return {_paired(name): _paired(item) for name, item in value.items()}
    return value


class Pieces:
    """The pieces of a stream in a form that can be shown: none is empty, and none has half a character. Pieces of calls are
    shown by `calls`, or not at all.
    """

    def __init__(self, wire: Wire, merger: Merger, calls: CallDeltas | None = None) -> None:
        self._wire = wire
        self._merger = merger
        self._calls = calls
        self._half: dict[Any, str] = {}  # by the kind of content, or the place of a call

    def of(self, event: Any) -> Sequence[Content | ToolCallDelta]:
        """Returns the new content of an event. Raises an event that is an error."""
        if isinstance(event, EllmerError):
            raise event
        try:
            pieces = self._merger.add(event)
            if len(pieces) == 1 and type(piece := pieces[0]) is ContentText and not self._half:
                text = piece.text
                if text and text.isascii():
                    return (piece,)  # as nearly all events
            return [shown for piece in pieces if (shown := self._shown(piece)) is not None]
        except EllmerError:
            raise
        except UNREADABLE as error:
            raise _unreadable(self._wire, error) from error

    def _shown(self, piece: Piece) -> Content | ToolCallDelta | None:
        match piece:
            case CallPiece():
                if self._calls is None:
                    return None
                return self._calls.delta(piece._replace(text=self._whole(piece.place, piece.text)))
            case ContentText(text=text):
                name = "text"
            case ContentThinking(thinking=text):
                name = "thinking"
            case _:
                return piece
        if not isinstance(text, str):
            raise TypeError(f"{name} is {type(text).__name__}, not str")
        whole = text if text.isascii() and not self._half else self._whole(type(piece), text)
        if whole == text:
            return piece if text else None
        return replaced(piece, **{name: whole}) if whole else None

    def _whole(self, kind: Any, text: str) -> str:
        """Returns the text with the previous half of a pair. A half at its end waits for the next piece."""
        text = self._half.pop(kind, "") + text
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._half[kind] = text[:-1], text[-1]
        paired: str = _paired(text)
        return paired


# --- Arguments of calls while they arrive, and structured data in them -----------------------------------


#: The first piece of servers that begin with empty arguments and then send the real ones.
_PLACEHOLDERS = (["{}"], ["null"], [""])


class CallDeltas:
    """The calls of one answer, in pieces. A call that has no id of its own is left out, because it comes whole."""

    def __init__(self) -> None:
        self._ids: dict[Hashable, str] = {}  # by the place of the call
        self._places: dict[str, Hashable] = {}

    def delta(self, piece: CallPiece) -> ToolCallDelta | None:
        """Returns a piece in the form that is shown, or `None` if it cannot be shown."""
        if piece.place not in self._ids and [piece.text] in _PLACEHOLDERS:
            return None
        id = self._ids.setdefault(piece.place, piece.id)
        if not id or not piece.name or self._places.setdefault(id, piece.place) != piece.place:
            return None
        return None if piece.name == STRUCTURED else ToolCallDelta(id, legal_name(piece.name), piece.text)


class CalledData:
    """The received data of one answer. It is empty if the data arrive as text, which is shown directly."""

    def __init__(self, settings: Settings) -> None:
        self._wire = settings.wire
        self._type = settings.type
        tools = list(settings.tools.values())
        self.arrive = (
            settings.type is not None
            and settings.wire.structured_mode(settings.type, tools, settings.mode) == "tool"
        )
        self._read = 0  # pieces of the arguments

    def more(self, merger: Merger) -> ContentText | None:
        """Returns the piece that was not shown yet."""
        pieces = merger.call_arguments(STRUCTURED) if self.arrive else ()
        if len(pieces) <= max(self._read, pieces[:1] in _PLACEHOLDERS):
            return None
        start = self._read or int(pieces[:1] in _PLACEHOLDERS)
        self._read = len(pieces)
        return ContentText("".join(pieces[start:]))
