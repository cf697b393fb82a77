"""Sanitizes an answer before it enters a history: values get the right types, and text can be written anywhere. It
does no I/O.

A lone surrogate has no UTF-8, so printing or saving it fails. Servers in JavaScript split streamed text inside
surrogate pairs. A half that stays alone becomes U+FFFD.
"""

from __future__ import annotations

import json
from operator import is_
from typing import Any

from ...contents.content import (
    Content,
    ContentImageInline,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    misfit,
    replaced,
)
from ...contents.media_types import media_type
from ...contents.turns import AssistantTurn, Tokens
from ...errors import ResponseError
from ...wire.base import Wire
from ...wire.interfaces import Merger

__all__ = ["Pieces", "turn_of"]

MOST = 2**53  # tokens; a larger number is not a count


def turn_of(wire: Wire, response: dict[str, Any]) -> AssistantTurn:
    """Returns the turn of a response. An answer without content, stop reason and token counts is not the model's (but
    a gateway's).
    """
    turn = wire.turn(response)
    if not turn.contents and turn.finish_reason is None and turn.tokens == Tokens():
        raise ResponseError(f"Cannot parse this response as {wire.name}: {json.dumps(response):.200}")
    if wrong := next(filter(None, map(misfit, turn.contents)), ""):
        raise ResponseError(f"Cannot parse this response as {wire.name}: {wrong}")
    if not isinstance(turn.finish_reason, (str, type(None))):
        raise ResponseError(
            f"Cannot parse this response as {wire.name}: its finish reason is {turn.finish_reason!r}"
        )
    contents, tokens = tuple(map(_legible, turn.contents)), _counts(turn.tokens)
    if tokens is turn.tokens and all(map(is_, contents, turn.contents)):
        return turn
    return turn.but_with(contents=contents, tokens=tokens)


def _counts(tokens: Tokens) -> Tokens:
    """Returns the valid token counts. An invalid one does not invalidate the answer."""
    given = vars(tokens)
    if all(count is None or (type(count) is int and 0 <= count <= MOST) for count in given.values()):
        return tokens
    return Tokens(**{name: _whole(count) for name, count in given.items()})


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
            changed = {"raw": raw and _paired(raw), "arguments": _paired_in(arguments)}
            return (
                content if changed == {"raw": raw, "arguments": arguments} else replaced(content, **changed)
            )
        case ContentImageInline(type=type, data=data) if (found := media_type(data)) != type:
            return _real(content, found)
    return content


def _real(image: ContentImageInline, found: str | None) -> Content:
    """Returns an image with the media type of its bytes, or a description if its bytes are not an accepted image."""
    if found is not None and found.startswith("image/"):
        return replaced(image, type=found)
    return ContentText(f"[{image.type} that cannot be shown]")


def _paired_in(value: Any) -> Any:
    match value:
        case str():
            return _paired(value)
        case list():
            return [_paired_in(item) for item in value]
        case dict():
            return {_paired(name): _paired_in(item) for name, item in value.items()}
    return value


def _paired(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Pieces:
    """The pieces of a stream in a form that can be shown: none is empty, and none has half a character."""

    def __init__(self, merger: Merger) -> None:
        self._merger = merger
        self._half: dict[type[Content], str] = {}

    def of(self, event: Any) -> list[Content]:
        """Returns the new content of an event."""
        return [shown for piece in self._merger.add(event) if (shown := self._shown(piece)) is not None]

    def _shown(self, piece: Content) -> Content | None:
        match piece:
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

    def _whole(self, kind: type[Content], text: str) -> str:
        """Returns the text with the previous half of a pair. A half at its end waits for the next piece."""
        text = self._half.pop(kind, "") + text
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._half[kind] = text[:-1], text[-1]
        return _paired(text)
