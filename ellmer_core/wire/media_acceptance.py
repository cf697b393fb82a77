"""Decides which media a provider and its model accept, and what replaces the others. It does no I/O."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from ..contents.content import (
    Content,
    ContentFile,
    ContentImage,
    ContentImageInline,
    ContentImageRemote,
    ContentPDF,
    ContentText,
    ContentUnknown,
    ContentUploaded,
)
from ..tools.result_serialization import described, flatten
from .model_profile import IMAGES, Profile
from .request_and_stream_merger import Json, Supports
from .shared import content_parts

if TYPE_CHECKING:
    from ..contents.tool_requests_and_results import ContentToolResult

__all__ = ["MediaAcceptance"]


class MediaAcceptance(ABC):
    """The part of `Wire` for images, PDFs and files in a user turn."""

    name: ClassVar[str]
    provider: ClassVar[str]
    supports: ClassVar[Supports]
    fetches: ClassVar[bool] = True  # whether the API fetches an image from a URL
    tool_media: Literal["pointer", "native"] = "pointer"
    model: str
    profile: Profile

    def flat(self, contents: Sequence[Content]) -> list[Content]:
        """Returns the contents of a user turn with the media of tool results inside or after them, as `tool_media`
        says. Raises `ContentError` for media that the provider does not accept; in a result they are described
        instead.
        """
        if {*map(type, contents)} == {ContentText}:
            return list(contents)
        contents = described([self.as_sent(content) for content in contents], self.refuses)
        if refused := next(filter(self.refuses, contents), None):
            raise content_parts.refused(refused, self.name, self.objection(refused))
        return contents if self.tool_media == "native" else flatten(contents, self.namer(contents))

    def as_sent(self, content: Content) -> Content:
        """Returns the content to send for a content of the user. A file at another provider is sent itself, and an
        unsupported document is sent as its text.
        """
        if isinstance(content, ContentUploaded) and content.source is not None and not self.holds(content):
            content = content.source
        if not isinstance(content, ContentFile):
            return content
        if block := self.file(content):
            return ContentUnknown(self.name, block)
        if not content.text:
            raise content_parts.refused(content, self.name, self.objection(content))
        return _named_text(content)

    def file(self, file: ContentFile) -> Json | None:  # noqa: ARG002 - as where files are not taken
        """Returns a file as a block of the format, or `None` if the API does not accept it."""
        return None

    def holds(self, file: ContentUploaded) -> bool:
        """Tells whether a file is stored at this provider."""
        return file.wire == self.name and file.provider in {"", self.provider}

    def refuses(self, value: object) -> bool:
        """Tells whether this is media of a kind that the provider or the model does not accept."""
        return bool(self.objection(value))

    def objection(self, value: object) -> str:  # noqa: PLR0911 - one return per kind of media
        """Returns the reason why the provider or the model does not accept this medium, or `""`."""
        who, profile = f"{self.provider}'s {self.model}", self.profile
        match value:
            case ContentPDF() if not self.supports.pdfs or profile.pdfs is False:
                return f"{who} does not accept PDFs"
            case ContentImage() if not self.supports.images or profile.images == ():
                return f"{who} does not accept images"
            case ContentImageInline(type=type) if type.lower() not in (profile.images or IMAGES):
                there = ", ".join(profile.images or IMAGES)
                return f"{type} is not one of {there}, which {who} accepts"
            case ContentImageRemote(url=url) if not self.fetches_from(url):
                return f"{self.provider} does not fetch URLs; send the bytes of {url} instead, or set fetch='https'"
            case ContentFile(type=type, text=text) if not text and not self.file(value):
                return f"{who} does not accept {type} over this API"
            case ContentUploaded(source=Content() as source) if not self.holds(value):
                return self.objection(source)
            case ContentUploaded(wire=wire) if (
                wire != self.name or not self.supports.pdfs or profile.pdfs is False
            ):
                return f"{who} cannot read files that were uploaded elsewhere ({wire})"
        return ""

    def fetches_from(self, url: str) -> bool:  # noqa: ARG002 - a provider may fetch from some places only
        """Tells whether the API downloads an image from there."""
        return self.fetches

    @abstractmethod
    def call_id(self, id: str) -> str:
        """Returns a valid id; see `Wire`."""

    def namer(self, contents: Sequence[Content]) -> Callable[[ContentToolResult], str]:  # noqa: ARG002 - for formats without ids
        """Returns the function that names the call of a result in this turn, for the tags around its media."""
        return lambda result: self.call_id(result.id)


def _named_text(file: ContentFile) -> ContentText:
    from html import escape  # noqa: PLC0415 - files are seldom

    return ContentText(f'<file name="{escape(file.filename)}">\n{file.text}\n</file>')
