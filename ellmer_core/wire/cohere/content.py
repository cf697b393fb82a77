"""Cohere Chat v2, requests: converts one content at a time to parts of Chat Completions, of which it has fewer."""

from __future__ import annotations

from typing import ClassVar

from ...contents.content import Content, ContentFile, ContentImageRemote, ContentPDF, ContentUploaded
from ..openai_chat.content import OpenAIChatContent
from ..request_and_stream_merger import Json
from ..shared import content_parts
from ..shared.sent_back_block_shapes import Shape, Tagged, fits

__all__ = ["CohereContent"]

#: A span of the text with its sources (cohere.types.Citation); all of it may be left out.
_CITATION = {
    "start?": int,
    "end?": int,
    "text?": str,
    "type?": str,
    "content_index?": int,
    "sources?": [
        Tagged(
            {
                "tool": {"id?": str, "tool_output?": dict, "document?": None},
                "document": {"id?": str, "document?": dict, "tool_output?": None},
            }
        )
    ],
}


class CohereContent(OpenAIChatContent):
    """Converts single contents."""

    returned: ClassVar[Shape] = Tagged({"text": {"text": str}, "thinking": {"thinking": str}})

    def file(self, file: ContentFile) -> Json | None:  # noqa: ARG002 - whatever it is
        """Returns the text of documents. This format has neither audio nor documents."""
        return None

    def call_id(self, id: str) -> str:
        """Returns the id unchanged. Any id is valid, and citations refer to results by it."""
        return id

    def fields(self, content: Content) -> Json:
        """Returns the fields of Chat Completions, with the citations that the API accepts back."""
        kept = super().fields(content)
        said = kept.pop("citations", None)
        if cited := [one for one in said if fits(one, _CITATION)] if isinstance(said, (list, tuple)) else []:
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
