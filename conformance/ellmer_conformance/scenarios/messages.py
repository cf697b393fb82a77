"""A conversation in neutral terms: what a case says to an adapter, and what an adapter gives back."""

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

#: What somebody says about a tool call, by its name and arguments: the arguments to run it with, or None for a no.
Approve = Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Text:
    """Text."""

    text: str


@dataclass(frozen=True)
class Image:
    """An image: its bytes, or a URL."""

    data: bytes = field(default=b"", repr=False)
    type: str = "image/png"
    url: str = ""


@dataclass(frozen=True)
class PDF:
    """A PDF's bytes."""

    data: bytes = field(repr=False)
    filename: str = "document.pdf"


@dataclass(frozen=True)
class Audio:
    """The bytes of a sound."""

    data: bytes = field(repr=False)
    type: str = "audio/wav"


@dataclass(frozen=True)
class ToolCall:
    """A tool call the model made."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolResult:
    """A result the caller supplies for an earlier call."""

    id: str
    value: Any


@dataclass(frozen=True)
class Upload:
    """A PDF that is uploaded to the provider first; the turn names it."""

    file: PDF


@dataclass(frozen=True)
class Source:
    """Where a text of the model comes from. `cited`: the words that it is the source of; all of the text where there
    are none."""

    url: str
    title: str = ""
    quote: str = ""
    cited: str = ""


Part = Text | Image | PDF | Audio | Upload | ToolCall | ToolResult


@dataclass(frozen=True)
class Turn:
    """One turn of a history that a session starts from."""

    role: Literal["user", "assistant"]
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Tool:
    """A tool the adapter registers. `run(**arguments)` returns a string, None, JSON, `Image`, `PDF`, or a list
    of those, or raises; `parameters` is the JSON Schema of its arguments. `needs_approval`: somebody is asked before
    it runs (`Case.approve`)."""

    name: str
    description: str
    run: Callable[..., Any]
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}, "required": []}
    )
    needs_approval: bool = False


@dataclass(frozen=True)
class Reply:
    """What the adapter gave its caller for one `send`.

    `complete` is False when the adapter says that the answer stopped short; `stop` is the stop reason it
    reports in the neutral words `stop`, `tool`, `length`, `filter`, the provider's own, or None for none.
    `error` is the exception it raised instead. `pieces` are the texts a stream handed over, in order;
    `value` is the value that was asked for, where one was. `sources` are those of the answer.
    """

    text: str = ""
    stop: str | None = None
    complete: bool = True
    usage: Mapping[str, int | None] = field(default_factory=dict)
    error: BaseException | None = None
    pieces: Sequence[str] = ()
    value: Any = None
    sources: Sequence[Source] = ()
