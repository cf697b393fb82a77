"""A conversation in neutral terms: a case's input for an adapter, and the adapter's results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "PDF",
    "Approve",
    "Audio",
    "Image",
    "Part",
    "Reply",
    "Source",
    "Text",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Turn",
    "Upload",
]

#: Decides about a tool call by its name and arguments: returns the arguments to run it with, or None to deny it.
Approve = Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Text:
    """Text of the user or the model.

    Args:
        text: The words.

    Examples:
        >>> Text("Hello").text
        'Hello'
    """

    text: str


@dataclass(frozen=True)
class Image:
    """An image: its bytes, or a URL.

    Args:
        data: The bytes; empty if the image is a URL. Default: `b""`.
        type: Media type. Default: `"image/png"`.
        url: Address of the image; empty if the bytes are given. Default: `""`.

    Examples:
        >>> Image(url="https://example.com/cat.png").url
        'https://example.com/cat.png'
    """

    data: bytes = field(default=b"", repr=False)
    type: str = "image/png"
    url: str = ""


@dataclass(frozen=True)
class PDF:
    """A PDF document.

    Args:
        data: The bytes.
        filename: Name that the model may see. Default: `"document.pdf"`.

    Examples:
        >>> PDF(b"%PDF-1.4").filename
        'document.pdf'
    """

    data: bytes = field(repr=False)
    filename: str = "document.pdf"


@dataclass(frozen=True)
class Audio:
    """A sound recording.

    Args:
        data: The bytes.
        type: Media type. Default: `"audio/wav"`.

    Examples:
        >>> Audio(b"RIFF").type
        'audio/wav'
    """

    data: bytes = field(repr=False)
    type: str = "audio/wav"


@dataclass(frozen=True)
class ToolCall:
    """A tool call of the model, in a history.

    Args:
        id: Identifier of the call.
        name: Name of the tool.
        arguments: The arguments by name. Default: empty.

    Examples:
        >>> ToolCall("call_1", "get_weather", {"city": "Paris"}).name
        'get_weather'
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolResult:
    """A result that the caller supplies for an earlier call.

    Args:
        id: Identifier of the call.
        value: The result.

    Examples:
        >>> ToolResult("call_1", "sunny").value
        'sunny'
    """

    id: str
    value: Any


@dataclass(frozen=True)
class Upload:
    """A PDF that is uploaded to the provider first. The turn then refers to it.

    Args:
        file: The PDF.

    Examples:
        >>> Upload(PDF(b"%PDF-1.4")).file.filename
        'document.pdf'
    """

    file: PDF


@dataclass(frozen=True)
class Source:
    """The source of a text of the model.

    Args:
        url: Address of the source; empty where it is the result of a tool.
        title: Title of the source. Default: `""`.
        quote: The words of the source that are cited. Default: `""`.
        cited: The words of the answer that come from the source; empty (default) for the whole text.

    Examples:
        >>> Source("https://example.com", "Example").title
        'Example'
    """

    url: str
    title: str = ""
    quote: str = ""
    cited: str = ""


Part = Text | Image | PDF | Audio | Upload | ToolCall | ToolResult


@dataclass(frozen=True)
class Turn:
    """A turn of the history that a session starts from.

    Args:
        role: `"user"` or `"assistant"`.
        parts: The contents of the turn.

    Examples:
        >>> Turn("user", (Text("Hello"),)).role
        'user'
    """

    role: Literal["user", "assistant"]
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Tool:
    """A tool that the adapter registers with its library.

    Args:
        name: Name of the tool.
        description: Description for the model.
        run: Function that is called as `run(**arguments)`. It returns a string, `None`, JSON, an `Image`, a `PDF` or a list of
            those, or it raises an exception.
        parameters: JSON Schema of the arguments. Default: no arguments.
        needs_approval: Whether `Case.approve` is asked before the tool runs. Default: `False`.
        asynchronous: Whether an adapter registers it as a coroutine function, which calls `run`. Default: `False`.

    Examples:
        >>> Tool("now", "Returns the time.", run=lambda: "12:00").run()
        '12:00'
    """

    name: str
    description: str
    run: Callable[..., Any]
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}, "required": []}
    )
    needs_approval: bool = False
    asynchronous: bool = False


@dataclass(frozen=True)
class Reply:
    """What the library returned to its caller for one `send()`.

    Args:
        text: The text of the answer. Default: `""`.
        stop: The stop reason that the library reports: `"stop"`, `"tool"`, `"length"`, `"filter"` or the provider's own word;
            `None` (default) if it reports none.
        complete: Whether the library says that the answer is complete. Default: `True`.
        usage: Token counts by name: `"input"`, `"output"`. Default: empty.
        error: The exception that the library raised instead; `None` (default) for none.
        pieces: The texts that a stream yielded, in order. Default: none.
        value: The value that was requested with a schema. Default: `None`.
        sources: The sources of the answer. Default: none.

    Examples:
        >>> Reply("Hello!", stop="stop").complete
        True
    """

    text: str = ""
    stop: str | None = None
    complete: bool = True
    usage: Mapping[str, int | None] = field(default_factory=dict)
    error: BaseException | None = None
    pieces: Sequence[str] = ()
    value: Any = None
    sources: Sequence[Source] = ()
