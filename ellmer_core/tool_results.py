"""Tool results on their way to the model: two list functions, and the check at the tool's door.

    results, rest = split(flatten(turn.contents))

`flatten()` replaces a rich result by a pointer, followed by the content it points at; it never reorders.
`split()` is a stable partition. The order on the wire is each wire module's own decision, in one line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .content import Content, ContentImage, ContentPDF, ContentText, ContentToolResult

__all__ = ["flatten", "split"]


def flatten(contents: Iterable[Content]) -> list[Content]:
    """Moves images and PDFs out of tool results: `[see below]`, then the content between two tags.

    Looks one level into a list; other items keep their value and their count (`item N`, from 1).
    """
    flat: list[Content] = []
    for content in contents:
        flat += _pointed(content) if isinstance(content, ContentToolResult) else [content]
    return flat


def split(contents: Iterable[Content]) -> tuple[list[ContentToolResult], list[Content]]:
    """Tool results, and everything else; each in the order they came."""
    contents = list(contents)
    results = [c for c in contents if isinstance(c, ContentToolResult)]
    return results, [c for c in contents if not isinstance(c, ContentToolResult)]


def _pointed(result: ContentToolResult) -> list[Content]:
    if _is_media(result.value):
        return [replace(result, value="[see below]"), *_tagged(result.id, result.value)]
    if not isinstance(result.value, (list, tuple)) or not any(map(_is_media, result.value)):
        return [result]
    items: list[object] = []
    media: list[Content] = []
    for number, item in enumerate(result.value, 1):
        items.append(f"[see below: item {number}]" if _is_media(item) else item)
        media += _tagged(result.id, item, number) if _is_media(item) else []
    return [replace(result, value=items), *media]


def _is_media(value: object) -> bool:
    return isinstance(value, (ContentImage, ContentPDF))


def _tagged(call_id: str, content: Content, number: int | None = None) -> list[Content]:
    item = f' item="{number}"' if number else ""
    return [
        ContentText(f'<content tool-call-id="{call_id}"{item}>'),
        content,
        ContentText("</content>"),
    ]
