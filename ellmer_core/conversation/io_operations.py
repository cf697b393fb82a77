"""The operations that a conversation asks its driver to carry out; see `loop.py`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..contents.content import Content
from ..contents.tool_requests_and_results import ContentToolRequest, ContentToolResult
from ..contents.turns import Turn
from ..values import Value
from ..wire.request_and_stream_merger import Request

if TYPE_CHECKING:
    from ..tools.context import CallScope

__all__ = [
    "Answer",
    "CallTools",
    "Callback",
    "Clock",
    "Decide",
    "Effect",
    "Emit",
    "Fetch",
    "Finish",
    "Loop",
    "Notify",
    "ReadBody",
    "ReadEvents",
    "Send",
    "Wait",
]

T = TypeVar("T")
Callback = Callable[[Any], Any]


@dataclass(frozen=True, eq=False, repr=False)
class Send(Value):
    """Post `body`; the outcome is an `Answer`. An answer still open is dropped first. `provider` is the place of the
    provider among those of the chat, whose connections are used."""

    request: Request
    body: bytes = field(repr=False)
    provider: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Value):
    """The head of an answer: header names in lower case, `at` in Unix time."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    at: float = 0.0

    @property
    def media_type(self) -> str:
        """The media type without parameters: `application/json` for `application/json; charset=utf-8`; `""` if there
        is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class ReadBody:
    """Read the open answer to its end; the outcome is its bytes."""


class ReadEvents:
    """Read on in the open stream; the outcome is a list of events, or `None` at its end."""


class Finish:
    """The stream has said all it will say: free its connection, for the next request if possible."""


class Fetch(NamedTuple):
    """Download the image at this URL; the outcome is a `ContentImageInline`."""

    url: str


class CallTools(NamedTuple):
    """Run these requests' tools, at once if there are several; hand over each result when it exists."""

    requests: Mapping[int, ContentToolRequest]
    keep: Callable[[int, ContentToolResult], None]
    scope: CallScope


class Decide(NamedTuple):
    """Ask somebody whether this call may run, `approve` if it is there; the outcome is what they said."""

    request: ContentToolRequest
    approve: Callable[[ContentToolRequest], Any] | None = None


class Notify(NamedTuple):
    """Call these one after the other with the content."""

    callbacks: Sequence[Callback]
    content: Content


class Emit(NamedTuple):
    """Show this."""

    content: Content | Turn


class Wait(NamedTuple):
    """Do nothing for some time between the two (seconds)."""

    at_least: float
    at_most: float


class Clock(NamedTuple):
    """Say what time it is: seconds from any origin, or, on the wall, since 1970."""

    wall: bool = False


Effect = Send | ReadBody | ReadEvents | Finish | Fetch | CallTools | Decide | Notify | Emit | Wait | Clock
Loop = Generator[Effect, Any, T]
