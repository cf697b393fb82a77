"""Anthropic Messages, requests: converts one content at a time to blocks. The model's blocks are sent back unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

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
)
from ...contents.tool_requests_and_results import ContentToolRequest, ContentToolResult
from ..base import Wire
from ..request_and_stream_merger import Json
from ..shared import content_parts, json_bodies, tool_arguments_and_ids
from ..shared.sent_back_block_shapes import fits, legal
from .blocks_sent_back import BLOCKS, CALLER, CITATION

__all__ = ["AnthropicContent"]


class AnthropicContent(Wire):
    """Converts contents to blocks."""

    def assistant_part(self, content: Content) -> Json | None:
        """Returns a block of an assistant message; `None` for content that only another provider understands."""
        block: Json | None = None
        match content_parts.known(content, self.name):
            case ContentText(text=text, extra=extra):
                block = {"type": "text", "text": text, **_legal((self.issued(extra) or {}).get("fields", {}))}
            case ContentThinking() as thinking:
                block = self.signed_part(thinking)
            case ContentToolRequest() as call:
                block = self.call(call)
            case ContentUnknown(data=data):
                block = legal(data, BLOCKS, self.name)
            case ContentJson():
                block = self.content(content)
            case ContentImageInline() | ContentImageRemote() | ContentPDF() | ContentUploaded():
                block = {
                    "type": "text",
                    "text": content_parts.placeholder(content),
                }  # the role takes no media
            case ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case never:
                assert_never(never)
        return block

    def signed_part(self, thinking: ContentThinking) -> Json | None:
        """Returns a thinking block unchanged. It is left out without its signature (it was cut off, or is another
        provider's) or its text, because the API refuses it. The text may be empty.
        """
        block = (self.issued(thinking.extra) or {}).get("block", {})
        return dict(block) if fits(block, BLOCKS) and (block.get("signature") or block.get("data")) else None

    def file(self, file: ContentFile) -> Json | None:
        """Returns a text document as a document block."""
        if not file.text:
            return None
        source = {"type": "text", "media_type": "text/plain", "data": file.text}
        return {"type": "document", "source": source, "title": file.filename}

    def call(self, request: ContentToolRequest) -> Json:
        """Returns a tool_use block. Its input is always an object."""
        fields = _legal((self.issued(request.extra) or {}).get("fields", {}))
        call = {"type": "tool_use", "id": self.call_id(request.id), "name": request.name}
        return {**call, "input": dict(request.arguments), **fields}

    def call_id(self, id: str) -> str:
        """Returns a valid id: `tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
        (farion1231/cc-switch#1181).
        """
        return tool_arguments_and_ids.legal_id(id, r"[a-zA-Z0-9_-]+")

    def content(self, content: Content) -> Json:
        match content_parts.known(content, self.name):
            case ContentText(text=text):
                block: Json = {"type": "text", "text": text}
            case ContentJson(value=value):
                block = {"type": "text", "text": json_bodies.json_text(value)}
            case ContentImageInline(type=type, data=data):
                block = {"type": "image", "source": {"type": "base64", "media_type": type, "data": data}}
            case ContentImageRemote(url=url):
                block = {"type": "image", "source": {"type": "url", "url": url}}
            case ContentPDF(type=type, data=data, filename=title):
                source = {"type": "base64", "media_type": type, "data": data}
                block = {"type": "document", "source": source, "title": title}
            case ContentUploaded(uri=uri, type=type, wire=self.name):
                kind = "image" if type.startswith("image/") else "document"
                block = {"type": kind, "source": {"type": "file", "file_id": uri}}
            case ContentUnknown(wire=self.name, data=data):
                block = dict(data)
            case (
                ContentUploaded()
                | ContentUnknown()
                | ContentThinking()
                | ContentToolRequest()
                | ContentToolResult()
            ):
                raise content_parts.refused(content, self.name)
            case never:
                assert_never(never)
        return block


def _legal(fields: Mapping[str, Any]) -> Json:
    """Returns the additional fields of a block that the API accepts back."""
    kept = json_bodies.without(fields, "citations")
    said = fields.get("citations")
    if cited := [one for one in said if fits(one, CITATION)] if isinstance(said, (list, tuple)) else []:
        kept["citations"] = cited
    if "caller" in kept and not fits(kept["caller"], CALLER):
        del kept["caller"]
    return kept
