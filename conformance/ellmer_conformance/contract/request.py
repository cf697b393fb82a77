"""Plain values for a request to a model and its content.

A `Request` keeps the body as the provider got it. `Item`s are its meaning in neutral terms, each with the
JSON pointer of the place it was read from; `readers/<wire>.py` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from typing import Any, Literal, NamedTuple

Json = dict[str, Any]


@dataclass(frozen=True, eq=False)  # equal to itself only: what rules work out about it can be kept
class Request:
    """A request to a model.

    Args:
        wire: Name of the wire format.
        provider: Name of the provider that answers (`openai`, `groq`, `vertex`, …). It selects the provider's rules.
        body: The JSON body, parsed.
        url: The URL. Default: `""`.
        method: The HTTP method. Default: `"POST"`.
        headers: The headers by lower-case name. Default: empty.
        model: Name of the model. Default: `""`.
        stream: Whether the request asks for a stream. Default: `False`.
        when: The day on which it was sent; `None` (default) if it is not known.

    Examples:
        >>> Request("openai-chat", "openai", {"model": "gpt-4.1", "messages": []}, model="gpt-4.1").method
        'POST'
    """

    wire: str
    provider: str
    body: Json
    url: str = ""
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    stream: bool = False
    when: date | None = None


@dataclass(frozen=True)
class Media:
    """An image or a document: decoded bytes, or a URL or file id that stands for them.

    Args:
        type: Media type.
        data: The bytes. Default: `b""`.
        url: The URL or file id. Default: `""`.
        filename: Name of the file. Default: `""`.

    Examples:
        >>> Media("image/png", b"abc").sha256[:8]
        'ba7816bf'
    """

    type: str
    data: bytes = field(default=b"", repr=False)
    url: str = ""
    filename: str = ""

    @property
    def sha256(self) -> str:
        """The hex digest of the bytes, or of the URL if there are no bytes."""
        return sha256(self.data or self.url.encode()).hexdigest()


class Item(NamedTuple):
    """One item of a request's content, with its place in the body.

    Args:
        kind: What it is: `"text"`, `"call"`, `"result"` and so on. `"other"` is anything else; its `name` is the provider's type.
        role: The role of the message that contains it.
        pointer: JSON pointer of its place in the body.
        turn: Index of the provider's message, from 0; -1 for a system prompt outside the messages.
        text: The words. A result has all of its text here, and if its content is a list, the parts follow as items.
            Default: `""`.
        media: The image or document. Default: `None`, if it is neither.
        id: The id of a tool call or of its result; empty if the format has none. Default: `""`.
        name: The name of the tool that is called. Default: `""`.
        arguments: The parsed arguments of a call. Default: `None`, if it is no call.
        error: Whether the format marks the result as failed. Default: `False`.
        within: The id of the tool result that carries this text or image; `None` (default) if it stands by itself.

    Examples:
        >>> Item("text", "user", "/messages/0/content", 0, "Hi").text
        'Hi'
    """

    kind: Literal["system", "text", "image", "document", "call", "result", "thinking", "other"]
    role: Literal["system", "user", "assistant", "tool"]
    pointer: str
    turn: int
    text: str = ""
    media: Media | None = None
    id: str = ""
    name: str = ""
    arguments: Any = None
    error: bool = False
    within: str | None = None
