"""Converts a recorded request to the input of an adapter: a system prompt, a history, the user's message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from ...contract.exchange import Item
from ...scenarios.messages import PDF, Image, Part, Text, ToolCall, ToolResult, Turn

__all__ = ["CannotBeGiven", "history", "parts", "split", "system", "value_of"]


class CannotBeGiven(Exception):
    """An input that the adapter protocol does not support. The message gives the reason."""


def system(items: Sequence[Item]) -> str | None:
    """Returns the system prompt, which comes before the conversation."""
    first = next((n for n, item in enumerate(items) if item.kind != "system"), len(items))
    if any(item.kind == "system" for item in items[first:]):
        raise CannotBeGiven("a system prompt is in the middle of the conversation")
    return "\n".join(item.text for item in items[:first] if item.text) or None


def split(items: Iterable[Item]) -> tuple[list[Item], list[Item]]:
    """Returns the earlier conversation and the user's new message."""
    told = [item for item in items if item.kind != "system"]
    last = max((n for n, item in enumerate(told) if item.role == "assistant"), default=-1)
    if last == len(told) - 1:
        raise CannotBeGiven("the request prefills the answer" if told else "the request is empty")
    return told[: last + 1], told[last + 1 :]


def history(items: Iterable[Item]) -> list[Turn]:
    """Returns the turns. Calls without an id, and their results, are named by their number."""
    named = list(_named(items))
    ids = [item.id for item in named if item.kind == "call"]
    if len(set(ids)) < len(ids):
        raise CannotBeGiven("calls share an id")
    turns = []
    for is_model, group in groupby(named, lambda item: item.role == "assistant"):
        found = tuple(parts(item for item in group if item.kind != "thinking"))
        if found:
            turns.append(Turn("assistant" if is_model else "user", found))
    return turns


def parts(items: Iterable[Item]) -> Iterator[Part]:
    """Yields the parts of a turn. Each result has its content."""
    known = list(items)
    within = {id(item) for item in known if item.within is not None}
    for item in known:
        if item.kind == "result":
            inside = [one for one in known if one.within is not None and one.within == item.id]
            yield ToolResult(item.id, value_of(item, inside))
        elif id(item) not in within:
            yield _part(item)


def value_of(result: Item, inside: Sequence[Item]) -> Any:
    """Returns the tool's value: its text, or a list with its media."""
    if not any(item.media for item in inside):
        return result.text
    found = [_part(item) for item in inside]
    value = [part.text if isinstance(part, Text) else part for part in found]
    return value[0] if len(value) == 1 else value


def _named(items: Iterable[Item]) -> Iterator[Item]:
    """Yields the items. Each call and each result has an id."""
    open_: list[Item] = []
    for number, item in enumerate(items):
        if item.kind == "call":
            open_.append(replace(item, id=item.id or f"call_{number}"))
            yield open_[-1]
        elif item.kind == "result":
            own = next((call for call in open_ if _answers(item, call)), None)
            open_ = [call for call in open_ if call is not own]
            yield replace(item, id=item.id or (own.id if own else ""))
        else:
            yield item


def _answers(result: Item, call: Item) -> bool:
    return result.id == call.id if result.id else result.name in {"", call.name}


def _part(item: Item) -> Part:
    match item.kind:
        case "text":
            return Text(item.text)
        case "call":
            if not isinstance(item.arguments, dict):
                raise CannotBeGiven("the arguments of a call in the history are not an object")
            return ToolCall(item.id, item.name, item.arguments)
        case "image" if item.media and item.media.data:
            return Image(item.media.data, item.media.type)
        case "image" if item.media and item.media.url.startswith(("http:", "https:")):
            return Image(url=item.media.url)
        case "document" if item.media and item.media.data.startswith(b"%PDF"):
            return PDF(item.media.data, item.media.filename or "document.pdf")
    raise CannotBeGiven(_why(item))


def _why(item: Item) -> str:
    if item.media and not item.media.data:
        return (
            f"{_article(item.kind)} is named by a URL or a file's id"
            if item.kind != "other"
            else "a file is named by its id"
        )
    kind = (item.media.type if item.media else item.name) or item.kind
    return f"a part of the type {kind} has no neutral form"


def _article(kind: str) -> str:
    return f"an {kind}" if kind[:1] in "aeio" else f"a {kind}"
