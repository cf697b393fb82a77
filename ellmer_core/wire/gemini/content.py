"""Gemini, requests: converts one content at a time to parts, with their signatures and ids."""

from __future__ import annotations

from typing import assert_never

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
from ..shared import content_parts, json_bodies
from ..shared.sent_back_block_shapes import fits, legal

__all__ = ["GeminiContent"]

_WORD = (str, int)  # of an enumeration, or its number
#: A part that goes back as it came (google.ai.generativelanguage.v1beta.Part).
_PART = {
    "text?": str,
    "thought?": bool,
    "thoughtSignature?": str,
    "inlineData?": {"mimeType?": str, "data?": str},
    "fileData?": {"mimeType?": str, "fileUri?": str},
    "functionCall?": {"name": str, "args?": dict, "id?": str},
    "executableCode?": {"code?": str, "language?": _WORD, "id?": str},
    "codeExecutionResult?": {"outcome?": _WORD, "output?": str, "id?": str},
    "toolCall?": {"toolType?": _WORD, "args?": dict, "id?": str},
    "toolResponse?": {"toolType?": _WORD, "response?": dict, "id?": str},
    "videoMetadata?": dict,
    "partMetadata?": dict,
    "mediaResolution?": dict,
}


class GeminiContent(Wire):
    """Converts contents to parts."""

    def server_id(self, request: ContentToolRequest) -> Json:
        """Returns the server's id of a call, which is sent back. An id that was generated here is left out."""
        id = (self.issued(request.extra) or {}).get("id")
        return {"id": id} if id and isinstance(id, str) else {}

    def signature(self, content: Content) -> Json:
        """Returns the signature of a part."""
        fields = (self.issued(getattr(content, "extra", {})) or {}).get("fields", {})
        return dict(fields) if fits(fields, {"thoughtSignature": str}) else {}

    def file(self, file: ContentFile) -> Json | None:
        """Returns text, audio and video unchanged."""
        if not file.type.startswith(("text/", "audio/", "video/")):
            return None
        return {"inlineData": {"mimeType": file.type, "data": file.data}}

    def signed_part(self, thinking: ContentThinking) -> Json | None:
        """Returns a thought that has a signature. Others are not needed. A thought without text arrived as empty
        text.
        """
        signature = self.signature(thinking)
        if not signature:
            return None
        thought = {"thought": True} if thinking.thinking else {}
        return {"text": thinking.thinking, **thought, **signature}

    def assistant_part(self, content: Content) -> Json | None:
        """Returns a part of the model's content, or `None` for content that only another provider understands."""
        part: Json | None = None
        signature = self.signature(content)
        match content_parts.known(content, self.name):
            case ContentText(text=text) if text:
                part = {"text": text, **signature}
            case ContentThinking() as thinking:
                part = self.signed_part(thinking)
            case ContentToolRequest(name=name, arguments=arguments) as call:
                part = {
                    "functionCall": {**self.server_id(call), "name": name, "args": dict(arguments)},
                    **signature,
                }
            case ContentUnknown(wire=wire, data=data) if wire == self.name:
                part = legal(data, _PART, self.name) if data else None
            case ContentUploaded(wire=wire) if wire != self.name:
                part = {"text": content_parts.placeholder(content)}
            case ContentImageInline() | ContentPDF() | ContentUploaded() | ContentJson():
                part = {**self.content(content), **signature}
            case ContentImageRemote():
                part = {"text": content_parts.placeholder(content)}
            case ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case ContentText() | ContentUnknown():
                pass
            case never:
                assert_never(never)
        return part

    def content(self, content: Content) -> Json:
        match content_parts.known(content, self.name):
            case ContentText(text=text):
                part: Json = {"text": text}
            case ContentJson(value=value):
                part = {"text": json_bodies.json_text(value)}
            case ContentImageInline(type=type, data=data) | ContentPDF(type=type, data=data):
                part = {"inlineData": {"mimeType": type, "data": data}}
            case ContentImageRemote(url=url):
                part = self.remote(content, url)
            case ContentUploaded(uri=uri, type=type, wire=self.name):
                part = {"fileData": {"mimeType": type, "fileUri": uri}}
            case ContentUnknown(wire=self.name, data=data):
                part = dict(data)
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
        return part

    def remote(self, content: Content, url: str) -> Json:
        """Returns an image by URL. Only Vertex downloads one."""
        raise content_parts.refused(
            content, self.name, f"Gemini does not fetch URLs; send the bytes of {url} instead"
        )
