"""Contents for wire formats: the known classes, those that are sent, and replacements for the others."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...contents.content import (
    Content,
    ContentFile,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentUnknown,
    ContentUploaded,
    is_media,
    replaced,
)
from ...contents.tool_requests_and_results import ContentToolRequest, ContentToolResult
from ...errors import ContentError
from ...tools.result_serialization import result_text
from .provider_run_tools import provider_content

__all__ = [
    "Known",
    "answered",
    "data_url",
    "image",
    "known",
    "placeholder",
    "refused",
    "result_parts",
    "sendable",
    "unknown",
]

#: Everything a turn can hold. A `match` over it that ends in `assert_never` names every file to change when a
#: new content joins.
Known = (
    ContentText
    | ContentJson
    | ContentImageInline
    | ContentImageRemote
    | ContentPDF
    | ContentUploaded
    | ContentThinking
    | ContentToolRequest
    | ContentToolResult
    | ContentUnknown
)


def known(content: Content, wire: str) -> Known:
    """Returns the content if wire formats support its class or a base class."""
    if isinstance(content, Known):
        return content
    if isinstance(
        content, ContentFile
    ):  # of the model's side; those of the user are written before (Wire.as_sent)
        return ContentText(f"[{content.type} file]")
    raise refused(content, wire)


def refused(content: Content, wire: str, why: str = "") -> ContentError:
    """Returns the error for a content that a wire format does not support."""
    because = f": {why}" if why else ""
    return ContentError(f"{type(content).__name__} cannot be sent over {wire!r} here{because}")


def sendable(content: Content, wire: str) -> bool:
    """Tells whether a content is sent. Empty texts and blocks of another wire format are not."""
    if isinstance(content, ContentUnknown):
        return content.wire == wire
    return not isinstance(content, ContentText) or bool(content.text)


def unknown(wire: str, block: object) -> ContentUnknown:
    """Returns an unknown block unchanged. It may be a call of the provider's own tool."""
    if not isinstance(block, Mapping):
        raise TypeError(f"a block is an object, not {type(block).__name__}")
    return provider_content(wire, block)


def answered(result: ContentToolResult) -> ContentToolRequest:
    """Returns the request that a result answers."""
    if result.request is None:
        raise ContentError("This ContentToolResult has no request. Set `request` to its ContentToolRequest")
    return result.request


def placeholder(content: Content) -> str:
    """Returns the text for media in an assistant's message if the format supports only text. The model made the media
    itself.
    """
    kind = {
        "ContentPDF": "PDF document",
        "ContentImageInline": "inline image",
        "ContentImageRemote": "remote image",
    }
    return f"[{kind.get(type(content).__name__, 'file')}]"


def image(url: str) -> ContentImageInline | ContentImageRemote:
    """Returns an image from its URL, `data:` or not."""
    found = re.fullmatch(r"data:([^;,]*)[^,]*;base64,(.*)", url, re.DOTALL)
    return ContentImageInline(found[1], found[2]) if found else ContentImageRemote(url)


def data_url(content: ContentImageInline | ContentPDF) -> str:
    """Returns the bytes as a `data:` URL."""
    return f"data:{content.type};base64,{content.data}"


def result_parts(result: ContentToolResult) -> list[Content] | None:
    """Returns a result's text and media one by one, for a format with media in results, or `None` without media."""
    value = result.value
    items = value if isinstance(value, (list, tuple)) else [value]
    if isinstance(value, dict) and any(map(is_media, value.values())):
        items = [part for name, item in value.items() for part in ([f"{name}:", item])]
    if result.error is not None or not any(map(is_media, items)):
        return None
    return [
        item if is_media(item) else ContentText(result_text(replaced(result, value=item))) for item in items
    ]
