"""The contents of a turn: plain, immutable values that are independent of providers.

Every class is a frozen dataclass, and other packages can make subclasses: a tool may return its own kind of
`ContentToolResult`, and a UI may use its own `ContentToolRequest`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..errors import ContentFieldError
from ..values import Value
from .display import Displayed
from .field_types import misfit

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


@dataclass(frozen=True, eq=False, repr=False)
class Content(Displayed, Value):
    """Base class of everything that a turn can contain. `str()` gives its printed form.

    Examples:
        >>> isinstance(ContentText("Hello"), Content)
        True
    """

    def __post_init__(self) -> None:
        if wrong := misfit(self):
            raise ContentFieldError(f"{wrong}.")

    def __str__(self) -> str:
        printed: str = self.displayed_as("text")
        return printed


@dataclass(frozen=True, eq=False, repr=False)
class ContentCitation(Content):
    """A citation: the source of a text, or of a part of it.

    Citations are in `ContentText.citations`. `stream(content="all")` yields each after its text.

    Args:
        url: Address of the source; `""` (default) where it has none.
        title: Title of the source.
        quote: The words of the source that are cited.
        start: Index of the first character of the text that the citation is for; `None` (default) means the
            whole text.
        end: Index after the last such character.

    Examples:
        >>> source = ContentCitation("https://example.com", "Example")
        >>> ContentText("It rains.", citations=(source,)).citations[0].title
        'Example'
    """

    url: str = ""
    title: str = ""
    quote: str = ""
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ContentText(Content):
    """Text, often Markdown. It is the content that is shown while it streams.

    Two texts are equal when their words are equal.

    Args:
        text: The words.
        extra: What the provider attached to this text and expects back (an item id, a signature), under the name of
            the wire format as in `ContentThinking`.
        citations: The sources of the text.

    Raises:
        ContentFieldError: A field has another type; `ContentText(5)` raises it.

    Examples:
        >>> ContentText("Hello") == ContentText("Hello", extra={"openai-responses": {"id": "msg_1"}})
        True
    """

    text: str
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    citations: tuple[ContentCitation, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, eq=False, repr=False)
class ContentImage(Content):
    """Base class of images: `ContentImageInline` and `ContentImageRemote`.

    Examples:
        >>> isinstance(content_image_url("https://example.com/cat.png"), ContentImage)
        True
    """


@dataclass(frozen=True, eq=False, repr=False)
class ContentImageRemote(ContentImage):
    """An image by its address: the provider fetches it.

    Args:
        url: Address of the image.
        detail: How closely the model looks: `""` (default, the provider decides), `"auto"`, `"low"` or `"high"`.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentImageRemote("https://example.com/cat.png").url
        'https://example.com/cat.png'
    """

    url: str
    detail: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class ContentImageInline(ContentImage):
    """An image whose bytes are sent with the request. `content_image_file()` makes one from a path.

    Args:
        type: Media type, `"image/png"` for example.
        data: The bytes in standard base64.
        extra: What the provider attached to an image that it made, as in `ContentText`.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentImageInline("image/png", "iVBORw0KGgo=").type
        'image/png'
    """

    type: str
    data: str = field(default="", repr=False)
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, eq=False, repr=False)
class ContentPDF(Content):
    """A PDF whose bytes are sent with the request. `content_pdf_file()` makes one from a path.

    Args:
        type: Media type: `"application/pdf"`.
        data: The bytes in standard base64.
        filename: Name that the model may see. Default: `"document.pdf"`.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentPDF("application/pdf", "JVBERi0xLjQ=").filename
        'document.pdf'
    """

    type: str
    data: str = field(repr=False)
    filename: str = "document.pdf"


@dataclass(frozen=True, eq=False, repr=False)
class ContentJson(Content):
    """Structured data, from the model or for it.

    Args:
        value: Any JSON value.

    Examples:
        >>> ContentJson({"city": "Paris"}).value
        {'city': 'Paris'}
    """

    value: Any


@dataclass(frozen=True, eq=False, repr=False)
class ContentFile(Content):
    """A document, audio or video file that is sent with the request. `content_file()` makes one from a path.

    Args:
        type: Media type, `"text/csv"` for example.
        data: The bytes in standard base64.
        filename: Name that the model may see. Default: `"file"`.
        text: The text of the document, if it is known; it is sent where the API does not accept the file.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentFile("text/plain", "SGVsbG8=", "hello.txt").filename
        'hello.txt'
    """

    type: str
    data: str = field(repr=False)
    filename: str = "file"
    text: str = field(default="", repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class ContentUploaded(Content):
    """A file that the provider already stores. `chat.upload()` makes one.

    Only the wire format and the provider that issued it can refer to it. Others receive its `source`, if that is known.

    Args:
        uri: The provider's name for the file.
        type: Media type.
        wire: Name of the wire format.
        provider: Name of the provider.
        expires_at: Unix time at which the provider deletes it; `None` (default) if it stays until it is deleted.
        source: The content itself, for other providers; `None` (default) if it is not known.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentUploaded("file-1", "application/pdf", "openai-responses", "OpenAI").uri
        'file-1'
    """

    uri: str
    type: str
    wire: str
    provider: str = ""
    expires_at: float | None = None
    source: Content | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False, repr=False)
class ContentThinking(Content):
    """The model's reasoning, as far as the provider shows it.

    Args:
        thinking: The words; `""` where the provider hides them.
        extra: What must be sent back unchanged (a signature, an encrypted block), under the name of the wire format
            that issued it. No other wire format sends it.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentThinking("The user greets me.").thinking
        'The user greets me.'
    """

    thinking: str
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class ContentUnknown(Content):
    """A block that this version of the library does not know. It is kept and sent back to the wire it came from.

    Args:
        wire: Name of the wire format that the block came from.
        data: The block.

    Examples:
        >>> ContentUnknown("anthropic", {"type": "new_block"}).data["type"]
        'new_block'
    """

    wire: str
    data: Mapping[str, Any]


def is_media(value: object) -> bool:
    """Tells whether `value` is an image, a PDF or an uploaded file: content that cannot be written as JSON
    text.
    """
    return isinstance(value, (ContentImage, ContentPDF, ContentUploaded))


def replaced(content: C, **changes: Any) -> C:
    """Returns a copy with other field values. Unlike `dataclasses.replace`, it works for every subclass and
    `__init__`.
    """
    changed = copy(content)
    for name, value in changes.items():
        object.__setattr__(changed, name, value)
    return changed
