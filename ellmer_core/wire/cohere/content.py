"""Cohere Chat v2, ours → theirs, one content at a time: the parts of Chat Completions, fewer of them."""

from __future__ import annotations

from collections.abc import Mapping

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

    def fields(self, content: Content) -> Json:
        """As Chat Completions; of the citations those that the API takes back."""
        kept = super().fields(content)
        said = kept.pop("citations", None)
        if cited := [one for one in said if _is_citation(one)] if isinstance(said, (list, tuple)) else []:
            kept["citations"] = cited
        return kept

    def content(self, content: Content) -> Json:
        match content:
            case ContentImageRemote(url=url, detail=detail):
                return {"type": "image_url", "image_url": {"url": url, "detail": detail or "auto"}}
            case ContentPDF() | ContentUploaded():
                raise content_parts.refused(content, self.name)
            case _:
                return super().content(content)


def _is_citation(value: object) -> bool:
    """A span of the text with its sources (cohere.types.Citation). Every field may be missing; none may have another type."""
    if not isinstance(value, Mapping):
        return False
    sources = value.get("sources", [])
    return (
        isinstance(value.get("start", 0), int)
        and isinstance(value.get("end", 0), int)
        and isinstance(value.get("text", ""), str)
        and isinstance(sources, (list, tuple))
        and all(isinstance(one, Mapping) and isinstance(one.get("type"), str) for one in sources)
    )
