"""Cohere Chat v2, ours → theirs, one content at a time: the parts of Chat Completions, fewer of them."""

from __future__ import annotations

from ...contents.content import Content, ContentFile, ContentImageRemote, ContentPDF, ContentUploaded
from ..openai_chat.content import OpenAIChatContent
from ..shared import content_parts
from ..values import Json

__all__ = ["CohereContent"]


class CohereContent(OpenAIChatContent):
    """Writes single contents."""

    def file(self, file: ContentFile) -> Json | None:  # noqa: ARG002 - whatever it is
        """No audio in this form, nor documents; their text is sent."""
        return None

    def call_id(self, id: str) -> str:
        """Any; citations refer to results by it."""
        return id

    def content(self, content: Content) -> Json:
        match content:
            case ContentImageRemote(url=url, detail=detail):
                return {"type": "image_url", "image_url": {"url": url, "detail": detail or "auto"}}
            case ContentPDF() | ContentUploaded():
                raise content_parts.refused(content, self.name)
            case _:
                return super().content(content)
