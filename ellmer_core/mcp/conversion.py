"""The contents of MCP and ours, each converted to the other: results of tools, and messages to the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..contents import content as ours
from ..contents.media_bytes import AUDIO, audio_type, media_type
from ..contents.turns import AssistantTurn, Turn, UserTurn
from ..errors import error_message
from ..tools.results import flatten, result_text

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock

# --- From a server to a chat -----------------------------------------------------------------------------


def result_of(result: CallToolResult) -> ours.ContentToolResult:
    """Converts MCP's result: text, images, audio and PDFs; other content is named. An MCP error becomes an error."""
    values = [_value(block) for block in result.content]
    if result.is_error:
        return ours.ContentToolResult(
            error="\n".join(map(str, values)) or "The tool failed and did not say why."
        )
    if not values:
        return ours.ContentToolResult(result.structured_content)
    return ours.ContentToolResult(values[0] if len(values) == 1 else values)


def _value(block: Any) -> str | ours.Content:
    match block.type:
        case "text":
            return str(block.text)
        case "image":
            return _image(block.mime_type, block.data)
        case "audio":
            return _audio(block.mime_type, block.data)
        case "resource":
            return _resource(block.resource)
        case "resource_link":
            return f"{block.title or block.name}: {block.uri}"
    return f"[{getattr(block, 'mime_type', None) or block.type}, which this model cannot be shown]"


def _image(kind: str, data: str) -> str | ours.Content:
    """Returns an image with the media type of its bytes. Other bytes are left out, because the provider would refuse
    each further request.
    """
    found = media_type(data)
    if found is not None and found.startswith("image/"):
        return ours.ContentImageInline(found, data)
    return f"[{kind}, which this model cannot be shown]"


def _audio(kind: str, data: str) -> str | ours.Content:
    """Returns audio with the media type of its bytes, like `_image()`."""
    found = audio_type(data)
    audio = ours.ContentFile(found, data, f"audio.{found.rpartition('/')[2].replace('mpeg', 'mp3')}")
    if found in AUDIO and not audio.fault:
        return audio
    return f"[{kind}, which this model cannot be shown]"


def _resource(resource: Any) -> str | ours.Content:
    kind = resource.mime_type or ""
    if (text := getattr(resource, "text", None)) is not None:
        return str(text)
    if kind.startswith("image/"):
        return _image(kind, resource.blob)
    if kind.startswith("audio/"):
        return _audio(kind, resource.blob)
    if kind == "application/pdf" and media_type(resource.blob) == kind:
        return ours.ContentPDF(kind, resource.blob, str(resource.uri).rpartition("/")[2] or "document.pdf")
    return f"[{kind or 'a file'} at {resource.uri}, which this model cannot be shown]"


def content_of_resource(resource: Any) -> ours.Content:
    """Converts what a server sends for a resource that was read."""
    return _content(_resource(resource))


def _content(value: str | ours.Content) -> ours.Content:
    return ours.ContentText(value) if isinstance(value, str) else value


def turns_of(messages: Sequence[Any]) -> list[Turn]:
    """Converts the messages of a prompt, or those that a server wants to send to the model."""
    turns: list[Turn] = []
    for message in messages:
        blocks = message.content if isinstance(message.content, list) else [message.content]
        kind = UserTurn if message.role == "user" else AssistantTurn
        turns.append(kind([_content(_value(block)) for block in blocks]))
    return turns


# --- From a tool of ours to a client ---------------------------------------------------------------------


def blocks_of(result: ours.ContentToolResult) -> list[ContentBlock]:
    """Converts our result to MCP's blocks, in order. An error is its message alone, because the result says that it is an error."""
    if result.error is not None:
        return [_text(error_message(result.error))]
    media = [part for part in ours.contents_in(result.value) if ours.is_media(part)]
    if not media:
        return [_text(result_text(result))]
    items = result.value if isinstance(result.value, list | tuple) else [result.value]
    if sum(map(ours.is_media, items)) < len(media):  # some are deeper
        _, *items = flatten([result])
        return [_text(result_text(result)), *(_block(ours.replaced(result, value=item)) for item in items)]
    return [_block(ours.replaced(result, value=item)) for item in items]


def _block(result: ours.ContentToolResult) -> ContentBlock:
    from mcp import types  # noqa: PLC0415 - imported when first needed

    match result.value:
        case ours.ContentImageInline(type=kind, data=data):
            return types.ImageContent(data=data, mime_type=kind)
        case ours.ContentImageRemote(url=url):
            return types.ResourceLink(name="image", uri=url)
        case ours.ContentFile(type=kind, data=data) if kind.startswith("audio/"):
            return types.AudioContent(data=data, mime_type=kind)
        case (
            ours.ContentPDF(type=kind, data=data, filename=name)
            | ours.ContentFile(type=kind, data=data, filename=name)
        ) if ours.is_media(result.value):
            blob = types.BlobResourceContents(uri=f"file:///{name}", mime_type=kind, blob=data)
            return types.EmbeddedResource(resource=blob)
        case ours.Content() as content if not isinstance(content, ours.ContentText):
            return _text(str(content))
    return _text(result_text(result))


def _text(text: str) -> ContentBlock:
    from mcp.types import TextContent  # noqa: PLC0415 - imported when first needed

    return TextContent(text=text)
