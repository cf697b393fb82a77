"""Chat Completions, requests: converts one content at a time to parts and fields of messages."""

from __future__ import annotations

from typing import ClassVar, assert_never

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
from ..shared.sent_back_block_shapes import Shape, Tagged, fits, legal

__all__ = ["OpenAIChatContent"]


class OpenAIChatContent(Wire):
    """Converts contents to parts of messages."""

    #: The parts of an answer, with what they need to go back.
    returned: ClassVar[Shape] = Tagged({"text": {"text": str}, "refusal": {"refusal": str}})

    def assistant_part(self, content: Content) -> Json | None:
        """Returns a part of an assistant message's content, or `None` for content that is a field or another
        provider's.
        """
        part: Json | None = None
        match content_parts.known(content, self.name):
            case ContentText(text=text) if text and "refusal" not in self.fields(content):
                part = {"type": "text", "text": text}
            case ContentThinking(extra=extra):
                own = (self.issued(extra) or {}).get("part")
                part = own if own and fits(own, self.returned) else None
            case ContentUnknown(wire=wire, data=data) if wire == self.name:
                part = legal(data, self.returned, self.name) if data else None
            case ContentJson():
                part = self.content(content)
            case ContentImageInline() | ContentImageRemote() | ContentPDF() | ContentUploaded():
                part = {
                    "type": "text",
                    "text": content_parts.placeholder(content),
                }  # the role takes text only
            case ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case ContentText() | ContentUnknown() | ContentToolRequest():
                pass
            case never:
                assert_never(never)
        return part

    def fields(self, content: Content) -> Json:
        """Returns the fields that a content adds to its assistant message: reasoning, a refusal, annotations."""
        if isinstance(content, (ContentThinking, ContentText)):
            return dict((self.issued(content.extra) or {}).get("fields", {}))
        return {}

    def file(self, file: ContentFile) -> Json | None:
        """Returns audio in the two formats that the API accepts, and PDFs. Other documents are not accepted."""
        format = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}.get(
            file.type
        )
        return (
            {"type": "input_audio", "input_audio": {"data": file.data, "format": format}} if format else None
        )

    def call(self, request: ContentToolRequest) -> Json:
        """Returns a tool call with the model's exact arguments."""
        own = self.issued(request.extra) or {}
        kind, key = ("custom", "input") if own.get("type") == "custom" else ("function", "arguments")
        written = request.raw or "" if kind == "custom" else tool_arguments_and_ids.raw(request)
        call = {"id": self.call_id(request.id), "type": kind, kind: {"name": request.name, key: written}}
        return {**call, **own.get("fields", {})}

    def call_id(self, id: str) -> str:
        """Returns an id of at most 40 characters: `Invalid 'messages[2].tool_calls[0].id': string too long`
        (vercel/ai#5171).
        """
        return tool_arguments_and_ids.legal_id(id, r".{1,40}")

    def content(self, content: Content) -> Json:
        match content_parts.known(content, self.name):
            case ContentText(text=text):
                block: Json = {"type": "text", "text": text}
            case ContentJson(value=value):
                block = {"type": "text", "text": json_bodies.json_text(value)}
            case ContentImageInline() as image:
                block = {"type": "image_url", "image_url": {"url": content_parts.data_url(image)}}
            case ContentImageRemote(url=url, detail=detail):
                block = {
                    "type": "image_url",
                    "image_url": {"url": url} | ({"detail": detail} if detail else {}),
                }
            case ContentPDF() as pdf:
                block = {
                    "type": "file",
                    "file": {"filename": pdf.filename, "file_data": content_parts.data_url(pdf)},
                }
            case ContentUploaded(uri=uri, wire=self.name):
                block = {"type": "file", "file": {"file_id": uri}}
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
