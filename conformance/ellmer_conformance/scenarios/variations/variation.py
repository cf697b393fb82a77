"""A variation changes the transport of an answer, but not its meaning. A variation and a varied answer are plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ..script import Ending


@dataclass(frozen=True)
class VariedAnswer:
    """An answer in transport. Each element of `writes` reaches the client separately; then the connection ends.

    `pause` is the time in seconds before the last write. A `status` of 0 means that no answer arrives.
    """

    wire: str
    status: int
    headers: Mapping[str, str]
    writes: tuple[bytes, ...]
    ending: Ending = "end"
    pause: float = 0.0

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(self.writes)

    @property
    def content_type(self) -> str:
        """The content type in lower case, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def streams(self) -> bool:
        """Whether it is a stream of events."""
        return "event" in self.content_type or "ndjson" in self.content_type

    def cut(self, *sizes: int) -> VariedAnswer:
        """Returns the body in writes of these sizes. The last size repeats."""
        body, writes, start, turn = self.body, list[bytes](), 0, 0
        while start < len(body):
            size = sizes[min(turn, len(sizes) - 1)]
            writes.append(body[start : start + size])
            start, turn = start + size, turn + 1
        return replace(self, writes=tuple(writes))


Change = Callable[[VariedAnswer], VariedAnswer]


@dataclass(frozen=True)
class Variation:
    """A variation of an answer's transport.

    `rule` is the rule that a client with problems breaks. `outcome`: the conversation is unchanged (`same`), the
    answer is an error or incomplete (`broken`), the stop reason is not `stop` (`other-stop`), or the counts are
    missing (`uncounted`). It applies to every answer of the conversation, or to the `first` alone. `wires` are the
    formats with the changed part (empty: all). `streamed`: only streams, only whole bodies, or both (`None`). `timed`
    needs a clock that can be advanced. `on_server`: later requests have other ids than a cassette, so that only the server can answer.
    `description` says what is unusual about the answer, in a few words without parentheses.
    """

    name: str
    rule: str
    change: Change
    outcome: Literal["same", "broken", "other-stop", "uncounted"] = "same"
    first: bool = False
    wires: frozenset[str] = frozenset()
    streamed: bool | None = True
    timed: bool = False
    on_server: bool = False
    description: str = ""

    @property
    def told(self) -> str:
        """The name for messages, with the description: `cr (lines end in CR alone)`."""
        return f"{self.name} ({self.description})" if self.description else self.name

    def befalls(self, wire: str, *, streamed: bool) -> bool:
        """Tells whether the variation changes this answer."""
        fits = self.streamed is None or self.streamed == streamed
        return fits and (not self.wires or wire in self.wires)
