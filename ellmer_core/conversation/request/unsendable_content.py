"""Replaces content that a model cannot receive by a description.

The history keeps the original, so a chat can continue after a change of provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...contents.content import (
    Content,
    ContentFile,
    ContentImageRemote,
    ContentPDF,
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    ContentUploaded,
    ToolDef,
    is_media,
    result_items,
)
from ...contents.turns import AssistantTurn, SystemTurn, Turn, UserTurn
from ...errors import ContentError, UsageError
from ...tools.result_serialization import described, result_text
from ...wire.base import Wire
from ...wire.shared.json_objects import json_text

__all__ = ["Sendable", "sendable_to"]


class Sendable(NamedTuple):
    """The turns to send, and the descriptions that replace content in them."""

    turns: list[Turn]
    replaced: list[str]


def sendable_to(
    wire: Wire, turns: Sequence[Turn], special: Iterable[int], new: Turn | None, tools: Sequence[ToolDef]
) -> Sendable:
    """Returns a conversation that this model accepts. Only the `special` turns, by place, may need a replacement. The
    user's `new` content stays the same, and the wire refuses it.

    Raises `UsageError` for tools if the model cannot call them.
    """
    if tools and not wire.profile.tools:
        names = ", ".join(tool.name for tool in tools)
        raise UsageError(
            f"{wire.provider}'s {wire.model} does not support tools: do not register {names} here."
        )
    replaced: list[str] = []
    sent = list(turns)
    for place in special:
        sent[place] = _turn(wire, turns[place], replaced)
    if new is not None:
        _name_results(wire, new, replaced)
        sent.append(new)
    if not wire.profile.tools:
        sent = list(map(_without_calls, sent))
    if not wire.profile.system:
        sent = _without_system(sent)
    return Sendable(sent, replaced)


def _turn(wire: Wire, turn: Turn, replaced: list[str]) -> Turn:
    """Returns the turn, or a copy with descriptions of the content that the model does not accept."""
    if isinstance(turn, SystemTurn | AssistantTurn):
        return turn
    _name_results(wire, turn, replaced)
    said = [_content(wire, content, replaced) for content in turn.contents]
    same = all(new is old for new, old in zip(said, turn.contents, strict=True))
    return turn if same else UserTurn(said)


def _content(wire: Wire, content: Content, replaced: list[str]) -> Content:
    why = "" if isinstance(content, ContentText | ContentToolResult) else _objection(wire, content)
    if not why:
        return content
    replaced.append(f"{_name(content)} of the user ({why})")
    return ContentText(f"[The user gave {_name(content)} here, which this model cannot be shown.]")


def _objection(wire: Wire, content: Content) -> str:
    if why := wire.objection(content):
        return why
    if isinstance(content, ContentToolRequest):
        return "only an answer holds calls"
    try:
        if wire.refuses(content):
            return "the model does not accept it"
        wire.content(wire.as_sent(content))
    except ContentError as error:
        return str(error)
    return ""


def _name_results(wire: Wire, turn: Turn, replaced: list[str]) -> None:
    """Names the content of results that the model does not accept, for the warning. The results describe it
    themselves.
    """
    for result in turn.contents:
        if isinstance(result, ContentToolResult) and result.error is None:
            media = [item for item in result_items(result) if is_media(item) and wire.refuses(item)]
            replaced += [f"{_name(m)} of a tool ({wire.objection(m) or 'not taken'})" for m in media]


def _without_calls(turn: Turn) -> Turn:
    """Describes calls and results of another model as text, for a model without tools."""
    if not any(isinstance(content, ContentToolRequest | ContentToolResult) for content in turn.contents):
        return turn
    contents = [_told(content) for content in turn.contents]
    return UserTurn(contents) if isinstance(turn, UserTurn) else AssistantTurn(contents)


def _told(content: Content) -> Content:
    match content:
        case ContentToolRequest(name=name, arguments=arguments):
            return ContentText(f"[The tool {name} was called with {json_text(dict(arguments))}.]")
        case ContentToolResult() as result:
            [named] = described([result])
            assert isinstance(named, ContentToolResult)
            return ContentText(f"[The tool returned:] {result_text(named)}")
    return content


def _name(content: Content) -> str:
    match content:
        case ContentPDF():
            return "a PDF document"
        case ContentImageRemote(url=url):
            return f"an image at {url}"
        case ContentUploaded():
            return "an uploaded file"
        case ContentFile() as file:
            return f"a file ({file.type})"
        case _:
            return "an image" if is_media(content) else f"a {type(content).__name__}"


def _without_system(turns: Sequence[Turn]) -> list[Turn]:
    """Returns the turns with the system prompt at the beginning of the first user message, for a model without system
    prompts.
    """
    system = [content for turn in turns if isinstance(turn, SystemTurn) for content in turn.contents]
    rest = [turn for turn in turns if not isinstance(turn, SystemTurn)]
    first = next((n for n, turn in enumerate(rest) if isinstance(turn, UserTurn)), None)
    if not system or first is None:
        return rest
    return [*rest[:first], UserTurn((*system, *rest[first].contents)), *rest[first + 1 :]]
