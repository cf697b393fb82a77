"""The values of a wire format: a request that is ready to send, the features of a provider, a merger of stream
events.
"""

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

    `raw` is the body if it is not JSON. For providers with signatures, `sign` makes further headers from the body's
    bytes and the Unix time. It is called again for every retry.
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
    """The features of a provider's API for all models.

    `native_tool_media`: it accepts images inside tool results. `structured`: it enforces a schema (otherwise the
    prompt describes it). `usage_in_stream`: it counts the tokens of a streamed answer, too.
    """

    tools: bool = True
    images: bool = True
    pdfs: bool = True
    native_tool_media: bool = True
    structured: bool = True
    thinking: bool = True
    usage_in_stream: bool = True


class Merger(ABC):
    """Merges the events of one streamed answer. Each request has its own merger."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether the format's end marker has arrived. Without it, the answer is incomplete."""

    @property
    def done(self) -> bool:
        """Whether nothing can follow, so that the rest of the stream need not be read."""
        return False

    @abstractmethod
    def add(self, event: Any) -> Sequence[Content]:
        """Adds one decoded event (a JSON object, or the string `"[DONE]"`). Returns its visible parts: `ContentText`
        and `ContentThinking` pieces. Unknown events and fields are kept or ignored, never an error. Raises the typed
        `ProviderError` for an error event.
        """

    @abstractmethod
    def response(self) -> Json:
        """Returns the answer so far, in the shape of an answer without a stream (for `Wire.turn`)."""
