"""Ollama, requests: converts one content at a time to text, or to images beside it."""

from __future__ import annotations

from typing import assert_never

from ...contents.content import (
    Content,
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
from ..shared import content_parts, json_bodies

__all__ = ["OllamaContent"]


class OllamaContent(Wire):
    """Converts contents to fields of a message."""

    def assistant_part(self, content: Content) -> str:
        """Returns the text that a content adds to an assistant message."""
        match content_parts.known(content, self.name):
            case ContentText(text=text):
                return text
            case ContentJson(value=value):
                return json_bodies.json_text(value)
            case ContentImageInline() | ContentImageRemote() | ContentPDF() | ContentUploaded():
                return content_parts.placeholder(content)  # the role takes text only
            case ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case ContentThinking() | ContentToolRequest() | ContentUnknown():
                return ""
            case never:
                assert_never(never)

    def call(self, request: ContentToolRequest) -> Json:
        """Returns a tool call."""
        function = {"name": request.name, "arguments": dict(request.arguments)}
        return {"id": self.call_id(request.id), "function": function}

    def content(self, content: Content) -> Json:
        """Returns fields of a message: its `content`, or its `images`."""
        match content_parts.known(content, self.name):
            case ContentText(text=text):
                return {"content": text}
            case ContentJson(value=value):
                return {"content": json_bodies.json_text(value)}
            case ContentImageInline(data=data):
                return {"images": [data]}
            case ContentImageRemote(url=url):
                raise content_parts.refused(
                    content, self.name, f"Ollama does not fetch URLs; send the bytes of {url} instead"
                )
            case (
                ContentPDF()
                | ContentUploaded()
                | ContentUnknown()
                | ContentThinking()
                | ContentToolRequest()
                | ContentToolResult()
            ):
                raise content_parts.refused(content, self.name)
            case never:
                assert_never(never)
