"""What went over the wire, as plain values: one request, its answer, and what a request says.

A `Request` keeps the body as the provider got it. `Item`s are its meaning in neutral terms, each with the
JSON pointer of the place it was read from; `readers/<wire>.py` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .rule import Verdict

__all__ = ["Exchange", "Item", "Json", "Media", "Request", "Response"]

Json = dict[str, Any]


@dataclass(frozen=True, eq=False)  # equal to itself only: what rules work out about it can be kept
class Request:
    """One request to a model.

    `vendor` is the service that answers (`openai`, `groq`, `vertex`, …: it selects the dialect of the rules),
    `when` the day it was sent, where known. `body` is the parsed JSON body.
    """

    wire: str
    vendor: str
    body: Json
    url: str = ""
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    stream: bool = False
    when: date | None = None


@dataclass(frozen=True)
class Response:
    """The answer: `body` is the raw bytes, content-decoded; `ended` is False when the connection broke."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    ended: bool = True

    @property
    def size(self) -> int:
        """The bytes of the body."""
        return len(self.body)


@dataclass(frozen=True)
class Exchange:
    """A request and its answer; `None` when none came or none was recorded."""

    request: Request
    response: Response | None = None
    verdicts: Sequence[Verdict] = ()  # what the rules say of the request, where the server has asked them


@dataclass(frozen=True)
class Media:
    """An image or a document: decoded bytes, or a URL or file id that stands for them."""

    type: str
    data: bytes = field(default=b"", repr=False)
    url: str = ""
    filename: str = ""

    @property
    def sha256(self) -> str:
        """Hex digest of the bytes; of the URL, where there are none."""
        return sha256(self.data or self.url.encode()).hexdigest()


@dataclass(frozen=True)
class Item:
    """One thing a request says. `turn` counts the provider's messages from 0; a top-level system prompt is -1.

    `role` is that of the message it is in. `id` is the tool-call id of a call or a result (`""` where the format
    has none), `within` the id of the result that carries this text or media natively: a result's own `text` is
    all of its text, and where its content is a list, the parts follow it as items. `error` is the format's own
    failure flag. A call's `arguments` are parsed; `name` of an `other` is the provider's type.
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
