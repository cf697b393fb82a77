"""The values that a wire format works with: a request that is ready to send, the features of a provider, a merger of
stream events."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ..contents.content import Content
from ..values import Value

__all__ = ["Json", "Merger", "Request", "Supports"]

Json = dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Request(Value):
    """An HTTP request, ready to send. `framing` says how the answer of a stream is split into events.

    `raw` is the body where it is not JSON. `sign`, where a provider has signatures, makes further headers from the
    body's bytes and the Unix time; they are made anew for every try.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    json: Json
    stream: bool = False
    framing: Literal["sse", "ndjson", "aws"] = "sse"
    method: str = "POST"
    raw: bytes | None = field(default=None, repr=False)
    sign: Callable[[bytes, float], Mapping[str, str]] | None = field(default=None, repr=False)


class Supports(NamedTuple):
    """The features of a provider's API, whatever the model.

    `native_tool_media`: it takes images inside tool results. `structured`: it holds an answer to a schema (else
    the prompt asks for one). `usage_in_stream`: it counts the tokens of a streamed answer, too.
    """

    tools: bool = True
    images: bool = True
    pdfs: bool = True
    native_tool_media: bool = True
    structured: bool = True
    thinking: bool = True
    usage_in_stream: bool = True


class Merger(ABC):
    """Folds the events of one streamed answer; owned by one request, not shared."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether the format's terminal marker was seen. Without it the answer is not an answer."""

    @property
    def done(self) -> bool:
        """Whether nothing can follow, so that the rest of the stream need not be waited for."""
        return False

    @abstractmethod
    def add(self, event: Any) -> Sequence[Content]:
        """Takes one decoded event (a JSON object, or the string `"[DONE]"`); returns what it adds to show:
        `ContentText` and `ContentThinking` pieces. Unknown events and fields are kept or ignored, never an
        error. Raises the typed `ProviderError` for an error event."""

    @abstractmethod
    def response(self) -> Json:
        """The answer so far, in the shape of the format's non-streamed answer (for `Wire.turn`)."""
