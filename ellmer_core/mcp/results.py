"""Converts tool results between MCP and this library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..contents.content import (
    Content,
    ContentImageInline,
    ContentImageRemote,
    ContentPDF,
    ContentText,
    ContentToolResult,
    is_media,
    replaced,
)
from ..contents.media_types import media_type
from ..tools.result_serialization import result_text

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock

__all__ = ["blocks_of", "result_of"]


def result_of(result: CallToolResult) -> ContentToolResult:
    """Converts MCP's result: text, images and PDFs; other content is named. An MCP error becomes an error."""
    values = [_value(block) for block in result.content]
    if result.is_error:
        return ContentToolResult(error="\n".join(map(str, values)) or "The tool failed and did not say why.")
    if not values:
        return ContentToolResult(result.structured_content)
    return ContentToolResult(values[0] if len(values) == 1 else values)


def _value(block: Any) -> str | Content:
    match block.type:
        case "text":
            return str(block.text)
        case "image":
            return _image(block.mime_type, block.data)
        case "resource":
            return _resource(block.resource)
        case "resource_link":
            return f"{block.title or block.name}: {block.uri}"
    return f"[{getattr(block, 'mime_type', None) or block.type}, which this model cannot be shown]"


def _image(kind: str, data: str) -> str | Content:
    """Returns an image with the media type of its bytes. Other bytes are left out, because the provider would refuse
    each further request.
    """
    found = media_type(data)
    if found is not None and found.startswith("image/"):
        return ContentImageInline(found, data)
    return f"[{kind}, which this model cannot be shown]"


def _resource(resource: Any) -> str | Content:
    kind = resource.mime_type or ""
    if (text := getattr(resource, "text", None)) is not None:
        return str(text)
    if kind.startswith("image/"):
        return _image(kind, resource.blob)
    if kind == "application/pdf" and media_type(resource.blob) == kind:
        return ContentPDF(kind, resource.blob, str(resource.uri).rpartition("/")[2] or "document.pdf")
    return f"[{kind or 'a file'} at {resource.uri}, which this model cannot be shown]"


def blocks_of(result: ContentToolResult) -> list[ContentBlock]:
    """Converts our result to MCP's blocks, in order."""
    items = result.value if isinstance(result.value, list | tuple) else [result.value]
    if result.error is not None or not any(map(is_media, items)):
        return [_text(result_text(result))]
    return [_block(replaced(result, value=item)) for item in items]


def _block(result: ContentToolResult) -> ContentBlock:
    from mcp import types  # noqa: PLC0415 - imported when first needed

    match result.value:
        case ContentImageInline(type=kind, data=data):
            return types.ImageContent(data=data, mime_type=kind)
        case ContentImageRemote(url=url):
            return types.ResourceLink(name="image", uri=url)
        case ContentPDF(type=kind, data=data, filename=name):
            blob = types.BlobResourceContents(uri=f"file:///{name}", mime_type=kind, blob=data)
            return types.EmbeddedResource(resource=blob)
        case Content() as content if not isinstance(content, ContentText):
            return _text(str(content))
    return _text(result_text(result))


def _text(text: str) -> ContentBlock:
    from mcp.types import TextContent  # noqa: PLC0415 - imported when first needed

    return TextContent(text=text)
