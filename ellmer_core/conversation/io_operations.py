"""The operations that a conversation asks its driver to carry out; see `loop.py`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..base.values import Value
from ..contents.content import Content, ContentToolRequest, ContentToolResult, ToolCallDelta
from ..contents.turns import Turn
from ..wire.interfaces import Request

if TYPE_CHECKING:
    from ..tools.definition import CallScope

T = TypeVar("T")
Callback = Callable[[Any], Any]


@dataclass(frozen=True, eq=False, repr=False)
class Send(Value):
    """Posts `body`; the outcome is an `Answer`. An answer that is still open is dropped first. `provider` is the
    index of the provider whose connections are used.
    """

    request: Request
    body: bytes = field(repr=False)
    provider: int = 0


class Answer(NamedTuple):
    """The beginning of an answer. Header names are in lower case. `without_keys` replaces the keys of the request in an error that
    quotes the answer.
    """

    status: int
    headers: Mapping[str, str] = MappingProxyType({})
    without_keys: Callable[[Exception], object] = bool


class ReadBody:
    """Reads the open answer to its end; the outcome is its bytes."""


class ReadEvents:
    """Reads more of the open stream; the outcome is a list of events, or `None` at its end. An error may be the last
    event of the list.
    """


class Finish:
    """Ends the stream after its last event. Its connection is freed and, if possible, reused."""


class Fetch(NamedTuple):
    """Downloads the image at this URL; the outcome is a `ContentImageInline`."""

    url: str


class CallTools(NamedTuple):
    """Runs the tools of these requests, concurrently if there are several. Each result is handed over when it exists."""

    requests: Mapping[int, ContentToolRequest]
    keep: Callable[[int, ContentToolResult], None]
    scope: CallScope


class Decide(NamedTuple):
    """Asks whether this call may run, with `approve` if it is set; the outcome is the answer."""

    request: ContentToolRequest
    approve: Callable[[ContentToolRequest], Any] | None = None


class Notify(NamedTuple):
    """Calls these functions with the content, one after the other."""

    callbacks: Sequence[Callback]
    content: Content


class Wait(NamedTuple):
    """Waits for a time between the two limits, in seconds."""

    at_least: float
    at_most: float


class Clock(NamedTuple):
    """Reads the clock: seconds from any origin, or, for wall time, since 1970."""

    wall: bool = False


#: What is shown is yielded itself: a content, a whole turn, or a piece of a call.
Shown = Content | Turn | ToolCallDelta
SHOWN = (Content, Turn, ToolCallDelta)  # `isinstance()` takes a third of the time of a union
Effect = Shown | Send | ReadBody | ReadEvents | Finish | Fetch | CallTools | Decide | Notify | Wait | Clock
Loop = Generator[Effect, Any, T]
