"""Compares the content of two requests: turns, pairs, ids, order, and the bytes of media."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ...contract.exchange import Item
from ...contract.observed_run import call_key

__all__ = ["difference", "key"]


@dataclass(frozen=True)
class _Turn:
    """The content of one side until the other side speaks. Consecutive texts count as one."""

    side: str
    calls: tuple[tuple[str, str], ...]  # id, name and arguments
    results: tuple[tuple[str, str], ...]  # id, text
    media: tuple[str, ...]  # sha256
    text: str


def difference(ours: Sequence[Item], theirs: Sequence[Item]) -> str:
    """Returns the first difference of our request from the accepted one, or `""`."""
    if (mine := _system(ours)) != (accepted := _system(theirs)):
        return f"the system prompt is {mine[:80]!r}, and it was {accepted[:80]!r}"
    sent, wanted = list(_turns(ours)), list(_turns(theirs))
    for number, (one, other) in enumerate(zip(sent, wanted, strict=False)):
        for part in ("side", "calls", "results", "media", "text"):
            got, was = getattr(one, part), getattr(other, part)
            shown = bool(
                one.results and (one.media or other.media)
            )  # how they are shown is a client's convention
            if not _alike(part, got, was, shown=shown):
                return f"the {part} of turn {number} is {_short(got)}, and it was {_short(was)}"
    return "" if len(sent) == len(wanted) else f"it has {len(sent)} turns, and there were {len(wanted)}"


def key(item: Item) -> object:
    """Returns a key of an item, for comparison with the same client's next request."""
    media = item.media.sha256 if item.media else ""
    arguments = call_key(item.name, item.arguments) if item.kind == "call" else ""
    return item.kind, _side(item), _plain(item.text), media, item.id, arguments


def _system(items: Iterable[Item]) -> str:
    return " ".join(word for item in items if item.kind == "system" for word in item.text.split())


def _side(item: Item) -> str:
    return "assistant" if item.role == "assistant" else "user"


def _turns(items: Iterable[Item]) -> Iterator[_Turn]:
    told = (item for item in items if item.kind not in {"system", "thinking", "other"})
    for side, group in groupby(told, _side):
        some = list(group)
        yield _Turn(
            side,
            tuple((i.id, call_key(i.name, i.arguments)) for i in some if i.kind == "call"),
            tuple((i.id, _plain(i.text)) for i in some if i.kind == "result"),
            tuple(i.media.sha256 for i in some if i.media),
            " ".join(word for i in some if i.kind == "text" and i.within is None for word in i.text.split()),
        )


def _alike(part: str, one: Any, other: Any, *, shown: bool = False) -> bool:
    """Tells whether two turns are equal. Ids count if both have them, because they are optional in some formats. With
    visible media, texts do not count, because they point at the media.
    """
    if part == "text" and shown:
        return True
    if part not in {"calls", "results"} or len(one) != len(other):
        return bool(one == other)
    pairs = list(zip(one, other, strict=True))
    return all((shown or a[1] == b[1]) and (a[0] == b[0] or not (a[0] and b[0])) for a, b in pairs)


def _plain(text: str) -> str:
    """Returns the text. JSON is normalized: its spacing, and an optional key around it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return value.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 160 else f"{text[:157]}…"
