"""Bedrock Converse, requests: converts one content at a time to blocks with bytes and valid names."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
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
from ..shared import content_parts, json_bodies, tool_arguments_and_ids
from ..shared.sent_back_block_shapes import WORD, fits, legal
from .model_families import family_of

__all__ = ["BedrockContent"]

_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_TEXTS = [{"text?": str}]
#: A block of the model that goes back as it came (ContentBlock).
_BLOCK = {
    "text?": str,
    "toolUse?": {"toolUseId": _ID, "name": re.compile(r"[a-zA-Z0-9_-]{1,64}"), "input": dict, "type?": WORD},
    "toolResult?": {"toolUseId": _ID, "content": [dict], "status?": re.compile("success|error")},
    "reasoningContent?": {
        "reasoningText?": {"text": str, "signature?": str},
        "redactedContent?": str,
    },
    "citationsContent?": {
        "content?": _TEXTS,
        "citations?": [{"title?": str, "source?": str, "sourceContent?": _TEXTS, "location?": dict}],
    },
}


class BedrockContent(Wire):
    """Converts contents to blocks."""

    def assistant_part(self, content: Content) -> Json | None:
        """Returns a block of an assistant message, or `None` for content that only another provider or family
        understands.
        """
        block: Json | None = None
        match content_parts.known(content, self.name):
            case ContentText(text=text, extra=extra):
                own = (self.issued(extra) or {}).get("block")
                block = own if own and fits(own, _BLOCK) else {"text": text} if text else None
            case ContentThinking(extra=extra):
                block = self.thought((self.issued(extra) or {}).get("block"))
            case ContentToolRequest(id=id, name=name, arguments=arguments):
                block = {"toolUse": {"toolUseId": self.call_id(id), "name": name, "input": dict(arguments)}}
            case ContentUnknown(data=data):
                block = legal(data, _BLOCK, self.name)
            case ContentJson():
                block = self.content(content)
            case ContentImageInline() | ContentImageRemote() | ContentPDF() | ContentUploaded():
                block = {"text": content_parts.placeholder(content)}  # the role takes no media
            case ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case never:
                assert_never(never)
        return block

    def call_id(self, id: str) -> str:
        """Returns a valid id: `[a-zA-Z0-9_.:-]{1,64}`. Until 2026, the dot and the colon were not allowed, and some
        models still refuse them.
        """
        return tool_arguments_and_ids.legal_id(id, r"[a-zA-Z0-9_-]{1,64}")

    def content(self, content: Content) -> Json:
        match content_parts.known(content, self.name):
            case ContentText(text=text):
                block: Json = {"text": text}
            case ContentJson(value=value):
                block = {"text": json_bodies.json_text(value)}
            case ContentImageInline(type=type, data=data):
                block = self.image(content, type, {"bytes": data})
            case ContentImageRemote(url=url):
                block = self.remote(content, url)
            case ContentPDF(data=data, filename=filename):
                block = self.document(filename, "pdf", {"bytes": data})
            case ContentUploaded(uri=uri, type=type, wire=self.name):
                kind, source = uri.rpartition(".")[2], {"s3Location": {"uri": uri}}
                picture = type.startswith("image/")
                block = self.image(content, type, source) if picture else self.document(uri, kind, source)
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

    def file(self, file: ContentFile) -> Json | None:
        """Returns documents and videos of the formats that Converse supports (DocumentFormat, VideoFormat).

        Among the known families, only Amazon's own takes videos.
        """
        kind = PurePosixPath(file.filename).suffix.lower().removeprefix(".")
        if kind in {"csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"}:
            return self.document(file.filename, kind, {"bytes": file.data})
        sees = family_of(self.model).name in {"", "nova"}
        if sees and kind in {"mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv"}:
            return {"video": {"format": kind, "source": {"bytes": file.data}}}
        return None

    def thought(self, block: Json | None) -> Json | None:
        """Returns a thought unchanged, or `None` if its required signature is missing."""
        if not fits(block, _BLOCK):
            return None
        said = (block or {}).get("reasoningContent") or {}
        unsigned = "reasoningText" in said and not said["reasoningText"].get("signature")
        return None if unsigned and family_of(self.model).signed_thoughts else block

    def remote(self, content: Content, url: str) -> Json:
        """Returns an image by URL. Only images in S3 are downloaded."""
        if url.startswith("s3://"):
            return self.image(content, url.rpartition(".")[2], {"s3Location": {"uri": url}})
        raise content_parts.refused(
            content, self.name, f"Bedrock does not fetch URLs; send the bytes of {url} instead"
        )

    def image(self, content: Content, type: str, source: Json) -> Json:
        """Returns an image block."""
        kind = type.lower().removeprefix("image/").replace("jpg", "jpeg")
        if kind not in {"png", "jpeg", "gif", "webp"}:
            raise content_parts.refused(content, self.name, f"{type} is not one of png, jpeg, gif and webp")
        return {"image": {"format": kind, "source": source}}

    def document(self, filename: str, kind: str, source: Json) -> Json:
        """Returns a document block. Its name may have letters, digits, single spaces and `-()[]`."""
        stem = PurePosixPath(filename).stem
        name = " ".join(re.sub(r"[^a-zA-Z0-9\s()\[\]-]+", "-", stem).split())[:190]
        return {"document": {"name": name or "document", "format": kind, "source": source}}
