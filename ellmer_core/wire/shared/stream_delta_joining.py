"""Joins fragments of JSON by the kind of their field: text to text, list to list."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from ..request_and_stream_merger import Json

__all__ = ["concatenate", "folded"]

_NAMES = frozenset({"type", "id", "format", "index", "expires_at"})


def folded(pieces: list[str | Json]) -> str | list[Json] | None:
    """Returns the content of the message: one string, or a list if the deltas were chunks."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(map(str, pieces)) or None
    chunks: list[Json] = []
    _concatenate_lists(chunks, [{"type": "text", "text": p} if isinstance(p, str) else p for p in pieces])
    return chunks


def concatenate(whole: Json, more: Json) -> None:
    """Adds a fragment in place: text to text, list to list. Names are not joined."""
    for name, value in more.items():
        before = whole.get(name)
        if isinstance(before, str) and isinstance(value, str) and name not in _NAMES:
            whole[name] = before + value
        elif isinstance(before, list) and isinstance(value, list):
            _concatenate_lists(before, value)
        elif value is not None or name not in whole:
            whole[name] = deepcopy(value)


def _concatenate_lists(before: list[Any], more: list[Any]) -> None:
    """Appends chunks. A chunk of text (or thinking) after one of the same type is joined with it."""
    for chunk in more:
        if before and _type(chunk) in {"text", "thinking"} and _type(before[-1]) == _type(chunk):
            concatenate(before[-1], chunk)
        else:
            before.append(deepcopy(chunk))


def _type(chunk: Any) -> Any:
    return chunk.get("type") if isinstance(chunk, dict) else None
