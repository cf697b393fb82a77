"""What a turn holds: plain, immutable values that know no provider.

Every class is a frozen dataclass and open to subclasses, in this package and in others: a tool may return
its own kind of `ContentToolResult`, a UI may bring its own `ContentToolRequest`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, TypeVar

from ..errors import ContentFieldError
from .display import Displayed

C = TypeVar("C", bound="Content")

__all__ = [
    "Content",
    "ContentCitation",
    "ContentFile",
    "ContentImage",
    "ContentImageInline",
    "ContentImageRemote",
    "ContentJson",
    "ContentPDF",
    "ContentText",
    "ContentThinking",
    "ContentUnknown",
    "ContentUploaded",
]


@dataclass(frozen=True)
class Content(Displayed):
    """Base class of everything a turn can hold. `str()` is its printed form."""

    def __post_init__(self) -> None:
        if wrong := next(misfits(self), ""):
            raise ContentFieldError(f"{wrong}.")

    def __str__(self) -> str:
        printed: str = self.displayed_as("text")
        return printed


@dataclass(frozen=True)
class ContentCitation(Content):
    """Where a text comes from, among the `citations` of the text it belongs to; a stream of contents has it after the
    text. It says what of the source was said: its `url` and `title`, and the words that are cited, `quote`.

    `start` and `end` are the characters of the text that it is for; `None` is all of the text.
    """

    url: str = ""
    title: str = ""
    quote: str = ""
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class ContentText(Content):
    """Text, often Markdown; the content that is shown while it streams. `citations` say where it comes from.

    `extra` holds what the provider attached to this text and wants back (citations, an item id, a signature),
    under the wire format's name as in `ContentThinking`. Texts are equal when their words are.
    """

    text: str
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    citations: tuple[ContentCitation, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class ContentImage(Content):
    """Base class of the two kinds of image."""


@dataclass(frozen=True)
class ContentImageRemote(ContentImage):
    """An image that the provider fetches from `url`; `detail` is `""`, `"auto"`, `"low"` or `"high"`."""

    url: str
    detail: str = ""


@dataclass(frozen=True)
class ContentImageInline(ContentImage):
    """An image sent along: `type` is its media type, `data` its bytes in standard base64.

    `extra` is what the provider attached to an image it made, as in `ContentText`.
    """

    type: str
    data: str = field(default="", repr=False)
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class ContentPDF(Content):
    """A PDF sent along: `data` is its bytes in standard base64."""

    type: str
    data: str = field(repr=False)
    filename: str = "document.pdf"


@dataclass(frozen=True)
class ContentJson(Content):
    """Structured data, as the model gave it or for the model to read: any JSON value."""

    value: Any


@dataclass(frozen=True)
class ContentFile(Content):
    """A document, audio or video sent along: `type` is its media type, `data` its bytes in standard base64, `text` the
    words in it, where they are known: they are sent where the API does not take the file itself."""

    type: str
    data: str = field(repr=False)
    filename: str = "file"
    text: str = field(default="", repr=False)


@dataclass(frozen=True)
class ContentUploaded(Content):
    """A file that the provider already holds: `uri` is its name there, `type` its media type.

    Only the wire format that issued it (`wire`), at its `vendor`, can refer to it; others are sent its `source`, the
    content itself, where that is known. `expires_at` is in Unix time, `None` where it stays until it is deleted.
    """

    uri: str
    type: str
    wire: str
    vendor: str = ""
    expires_at: float | None = None
    source: Content | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class ContentThinking(Content):
    """The model's reasoning as the provider shows it.

    `extra` holds what must go back unchanged with the next request (a signature, an encrypted blob), under
    the key `wire`: the name of the wire format that issued it. Other wire formats never send it.
    """

    thinking: str
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ContentUnknown(Content):
    """A block that this version does not know: kept as it came and sent back to the wire it came from."""

    wire: str
    data: Mapping[str, Any]


def is_media(value: object) -> bool:
    """Whether `value` is an image, a PDF or an uploaded file: content that cannot be written as JSON text."""
    return isinstance(value, (ContentImage, ContentPDF, ContentUploaded))


def replaced(content: C, **changes: Any) -> C:
    """A copy with other field values; unlike `dataclasses.replace` for every subclass, whatever its `__init__`."""
    changed = copy(content)
    for name, value in changes.items():
        object.__setattr__(changed, name, value)
    return changed


#: What sending a content relies on, by the field's type: text is text, and what has keys has them.
KINDS: dict[str, type] = {"str": str, "Mapping[str, Any]": Mapping}


def misfits(content: Content) -> Iterator[str]:
    """The fields whose value is not of their kind, in words."""
    cls: Any = type(content)
    for name, kind in _kinds(cls):
        if not isinstance(value := getattr(content, name), kind):
            yield f"{type(content).__name__}.{name} is {type(value).__name__}, not {kind.__name__}"


@cache
def _kinds(cls: Any) -> list[tuple[str, type]]:
    return [(f.name, KINDS[str(f.type)]) for f in fields(cls) if str(f.type) in KINDS]
