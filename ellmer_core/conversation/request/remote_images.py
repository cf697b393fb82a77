"""Images by URL, for an API that downloads none: finds the images to fetch, and inserts their bytes into the turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...contents.content import (
    Content,
    ContentImageInline,
    ContentImageRemote,
    ContentToolResult,
    replaced,
    result_items,
)
from ...contents.turns import Turn, UserTurn
from ...wire.base import Wire

__all__ = ["inlined", "unfetched"]

Fetched = Mapping[str, ContentImageInline | str]


def unfetched(wire: Wire, turns: Sequence[Turn]) -> list[str]:
    """Returns the URLs of images, from users and in results, that the API does not download."""
    remote = (image for turn in turns if isinstance(turn, UserTurn) for image in _images(turn.contents))
    return list(dict.fromkeys(image.url for image in remote if not wire.fetches_from(image.url)))


def inlined(turn: Turn, fetched: Fetched) -> Turn:
    """Returns the turn with the bytes of the images that were fetched."""
    if not isinstance(turn, UserTurn) or not any(image.url in fetched for image in _images(turn.contents)):
        return turn
    return UserTurn([_inlined(content, fetched) for content in turn.contents])


def _images(contents: Sequence[Content]) -> Iterator[ContentImageRemote]:
    for content in contents:
        for item in result_items(content) if isinstance(content, ContentToolResult) else [content]:
            if isinstance(item, ContentImageRemote):
                yield item


def _inlined(value: Any, fetched: Fetched) -> Any:
    match value:
        case ContentImageRemote(url=url) if isinstance(image := fetched.get(url), ContentImageInline):
            return image
        case ContentToolResult(value=inner):
            return replaced(value, value=_inlined(inner, fetched))
        case dict():
            return {name: _inlined(item, fetched) for name, item in value.items()}
        case list() | tuple():
            return [_inlined(item, fetched) for item in value]
    return value
