"""Converts tool results for a request: two list functions, their text, and the check of return values.

    results, rest = split(flatten(turn.contents))

`flatten()` replaces a rich result by a pointer, followed by its content; it never reorders. `split()` is a stable
partition. Each wire module defines its own order, in one line. `result_text()` is the model's view of a result.
`check_tool_result()` runs as soon as a tool returns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from ..contents.content import (
    Content,
    ContentImage,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentToolResult,
    ContentUploaded,
    is_media,
    replaced,
)
from ..errors import error_message

__all__ = ["described", "flatten", "result_text", "split"]


def _id(result: ContentToolResult) -> str:
    return result.id


def flatten(contents: Iterable[Content], named: Callable[[ContentToolResult], str] = _id) -> list[Content]:
    """Moves images and PDFs out of tool results: `[see below]`, then the content between two tags.

    It looks one level into a list. Other items keep their value and their number (`item N`, from 1). Results with
    errors and flat results do not change. The tags name the call as `named` does, because a wire format may have its
    own ids, or none.
    """
    flat: list[Content] = []
    for content in contents:
        flat += _pointed(content, named) if isinstance(content, ContentToolResult) else [content]
    return flat


def described(contents: Iterable[Content], which: Callable[[object], bool] = is_media) -> list[Content]:
    """Replaces media of tool results (all, or `which`) by descriptions, for a model that does not accept them after
    the tool has run.
    """
    return [_described(c, which) if isinstance(c, ContentToolResult) else c for c in contents]


def split(contents: Iterable[Content]) -> tuple[list[ContentToolResult], list[Content]]:
    """Returns the tool results and the other contents, each in order."""
    contents = list(contents)
    results = [c for c in contents if isinstance(c, ContentToolResult)]
    return results, [c for c in contents if not isinstance(c, ContentToolResult)]


def result_text(result: ContentToolResult) -> str:
    """Returns the text of a result for the model: a string unchanged, other values as compact, exact JSON.

    An error is `Tool calling failed with error …`, and a blank string is `(no output)` (several APIs refuse an empty
    one). Media are pointers, as after `flatten()`. Raises `ToolResultError` for a value that is not JSON.
    """
    if result.error is not None:
        return f"Tool calling failed with error {error_message(result.error)}"
    from .result_validation import check_tool_result  # noqa: PLC0415 - many chats have no tools

    pointed, *_ = _pointed(result)
    value = check_tool_result(result.request.name if result.request else "", pointed.value)
    value = value.text if isinstance(value, ContentText) else value
    text = value if isinstance(value, str) else _dumps(value)
    return text if text.strip() else "(no output)"


def _pointed(result: ContentToolResult, named: Callable[[ContentToolResult], str] = _id) -> list[Any]:
    if result.error is not None:
        return [result]
    if is_media(result.value):
        return [replaced(result, value="[see below]"), *_tagged(named(result), result.value)]
    if isinstance(result.value, dict) and any(map(is_media, result.value.values())):
        return _pointed_by_name(result, result.value, named(result))
    if not isinstance(result.value, (list, tuple)) or not any(map(is_media, result.value)):
        return [result]
    items: list[object] = []
    media: list[Content] = []
    for number, item in enumerate(result.value, 1):
        items.append(f"[see below: item {number}]" if is_media(item) else item)
        media += _tagged(named(result), item, number) if is_media(item) else []
    return [replaced(result, value=items), *media]


def _pointed_by_name(result: ContentToolResult, value: dict[str, Any], call: str) -> list[Any]:
    items = {name: f"[see below: {name}]" if is_media(item) else item for name, item in value.items()}
    media = [part for name, item in value.items() if is_media(item) for part in _tagged(call, item, name)]
    return [replaced(result, value=items), *media]


def _described(result: ContentToolResult, which: Callable[[object], bool]) -> ContentToolResult:
    if which(result.value):
        return replaced(result, value=_missing(result.value))
    if isinstance(result.value, dict) and result.error is None and any(map(which, result.value.values())):
        return replaced(result, value={k: _missing(v) if which(v) else v for k, v in result.value.items()})
    if isinstance(result.value, (list, tuple)) and result.error is None:
        return replaced(result, value=[_missing(v) if which(v) else v for v in result.value])
    return result


def _missing(media: Content) -> str:
    kinds = {ContentImage: "an image", ContentPDF: "a PDF document", ContentUploaded: "an uploaded file"}
    kind = next(kind for cls, kind in kinds.items() if isinstance(media, cls))
    where = f" at {media.url}" if isinstance(media, ContentImageRemote) else ""
    return f"[The tool returned {kind}{where} here, which this model cannot be shown.]"


def _tagged(call_id: str, content: Content, number: int | str | None = None) -> list[Content]:
    from html import escape  # noqa: PLC0415 - many chats have no tools

    item = f' item="{escape(str(number))}"' if number else ""
    return [
        ContentText(f'<content tool-call-id="{escape(call_id)}"{item}>'),
        content,
        ContentText("</content>"),
    ]


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(content: ContentText | ContentJson) -> Any:
    return content.text if isinstance(content, ContentText) else content.value
