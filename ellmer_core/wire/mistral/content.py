"""Mistral chat, requests: converts one content at a time. PDFs are document URLs, and ids have nine characters."""

from __future__ import annotations

from typing import ClassVar

from ...contents.content import Content, ContentFile, ContentImageRemote, ContentPDF, ContentUploaded
from ...contents.tool_requests_and_results import ContentToolRequest
from ..openai_chat.content import OpenAIChatContent
from ..request_and_stream_merger import Json
from ..shared import content_parts, tool_arguments_and_ids
from ..shared.sent_back_block_shapes import Shape, Tagged

__all__ = ["MistralContent"]

_REFERENCE = {"reference_ids": [(int, str)]}


class MistralContent(OpenAIChatContent):
    """Converts single contents."""

    returned: ClassVar[Shape] = Tagged(
        {
            "text": {"text": str},
            "thinking": {"thinking": [Tagged({"text": {"text": str}, "reference": _REFERENCE})]},
            "reference": _REFERENCE,
            "image_url": {"image_url": (str, {"url": str})},
            "document_url": {"document_url": str},
            "file": {"file_id": str},
        }
    )

    def file(self, file: ContentFile) -> Json | None:  # noqa: ARG002 - whatever it is
        """Returns the text of documents. This format has neither audio nor documents."""
        return None

    def call_id(self, id: str) -> str:
        """Returns a valid id: `Tool call id was turn1_0 but must be a-z, A-Z, 0-9, with a length of 9.`"""
        return tool_arguments_and_ids.legal_id(id, r"[a-zA-Z0-9]{9}", 9)

    def call(self, request: ContentToolRequest) -> Json:
        """Returns a call without unknown fields, which Mistral refuses."""
        call = super().call(request)
        return {key: call[key] for key in ("id", "type", "function", "index") if key in call}

    def content(self, content: Content) -> Json:
        match content:
            case ContentPDF() as pdf:
                url, name = content_parts.data_url(pdf), pdf.filename
                return {"type": "document_url", "document_url": url, "document_name": name}
            case ContentImageRemote(url=url):
                return {"type": "image_url", "image_url": {"url": url}}
            case ContentUploaded(uri=uri, wire=self.name):
                return {"type": "file", "file_id": uri}
            case _:
                return super().content(content)
