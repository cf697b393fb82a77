"""What the model says in a case, in neutral terms; each wire's dialect renders it as JSON or as a stream.

A script is a list of steps. Each legal request of a conversation takes the next one; a request after the
last step gets the last step again. A request that is refused takes none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from .messages import Source

__all__ = [
    "Answer",
    "Call",
    "Cut",
    "Delivery",
    "Ending",
    "Failure",
    "FailureKind",
    "Fills",
    "Hears",
    "Said",
    "Say",
    "Script",
    "Search",
    "Sees",
    "Step",
    "Stop",
    "Think",
    "Usage",
    "answers_of",
]

Stop = Literal["stop", "tool", "length", "filter", "pause"]

#: How a connection goes on after the last byte: as HTTP has it; broken by a TCP reset; closed by the server
#: before the body was announced to end; open and silent until the client leaves.
Ending = Literal["end", "reset", "half-close", "stall"]


#: What a provider fails with; every dialect has its own status and words for each.
FailureKind = Literal["overloaded", "server-error", "rate-limit", "context-length"]


@dataclass(frozen=True)
class Say:
    """Text. A stream sends it in `pieces`, which are its parts in order (default: a few words at a time).

    `sources` say where it comes from."""

    text: str
    pieces: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Think:
    """Reasoning. The server signs it, in the formats that sign, and checks what comes back."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call. The id is the server's, a function of case and sequence, unless given.

    `text` replaces the arguments' JSON where the format carries text: to send malformed or cut arguments.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    text: str | None = None


@dataclass(frozen=True)
class Search:
    """A web search that the provider runs itself. `ran`: all of it; only that it is wanted, before a pause; only what
    it found, after one."""

    query: str
    found: tuple[Source, ...] = ()
    ran: Literal["whole", "pending", "rest"] = "whole"


@dataclass(frozen=True)
class Usage:
    """Token counts as they are printed: `input` includes `cached`, `output` includes `reasoning`."""

    input: int = 10
    output: int = 5
    cached: int = 0
    reasoning: int = 0


#: What an answer consists of.
Said = Say | Think | Call | Search


@dataclass(frozen=True)
class Answer:
    """One answer of the model. `stop` defaults to `tool` when it calls tools, else `stop`."""

    parts: tuple[Said, ...]
    stop: Stop | None = None
    usage: Usage = Usage()

    @cached_property
    def text(self) -> str:
        """All its text."""
        return "".join(part.text for part in self.parts if isinstance(part, Say))

    @cached_property
    def thinking(self) -> str:
        """All its reasoning."""
        return "".join(part.text for part in self.parts if isinstance(part, Think))

    @cached_property
    def calls(self) -> Sequence[Call]:
        """Its tool calls."""
        return tuple(part for part in self.parts if isinstance(part, Call))

    @cached_property
    def reason(self) -> Stop:
        """Why it stops."""
        return self.stop or ("tool" if self.calls else "stop")


@dataclass(frozen=True)
class Cut:
    """The answer stops short and the connection ends as if all were well.

    A stream: `before-end` sends all content and no terminal marker (no finish reason either);
    `inside-arguments` stops in the middle of the first call's arguments (Gemini sends them whole: there, and
    without a stream, the bytes of the body stop in the middle of them). Not streamed, `before-end` stops the
    body before its last byte.
    """

    answer: Answer
    at: Literal["before-end", "inside-arguments"] = "before-end"


@dataclass(frozen=True)
class Failure:
    """The provider fails: as an error event after the text of `after` in a stream, else as an error status.

    `kind` picks the provider's own status and words for it (`overloaded`: 529 at Anthropic, 503 at Gemini). That
    the prompt is too long is known before there is a stream. Raises ValueError for a kind that there is not.
    """

    kind: FailureKind = "overloaded"
    after: Answer | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(FailureKind):
            raise ValueError(
                f"there is no failure {self.kind!r}; there are {', '.join(get_args(FailureKind))}"
            )


@dataclass(frozen=True)
class Sees:
    """Answers by what the model can see: `then` if the last user side of the request carries, decoded,
    exactly these media (sha256 hex digests, in this order), `otherwise` if not."""

    media: tuple[str, ...]
    then: Answer
    otherwise: Answer = Answer((Say("no image received"),))


@dataclass(frozen=True)
class Fills:
    """Answers with a value for the schema of the request: as JSON text, or as a call of the one tool that the
    request demands."""

    value: Any
    usage: Usage = Usage()


@dataclass(frozen=True)
class Hears:
    """Answers by what the user said last: for conversations that are held at the same time, whose requests come
    in any order."""

    answers: Mapping[str, Answer]


@dataclass(frozen=True)
class Delivery:
    """How the bytes of a step travel, whatever they say.

    `slices` are the sizes in bytes of the writes (the last one repeats; none: an event a write in a stream,
    else all in one). `delay` is the time in seconds before each write after the first. `ending` comes after
    `after` bytes of the body, or after all of them. `variation` names another way to say the same
    (`variations/`).
    """

    step: Answer | Cut | Failure | Fills | Hears | Sees
    slices: tuple[int, ...] = ()
    delay: float = 0.0
    after: int | None = None
    ending: Ending = "end"
    variation: str = ""


Step = Answer | Cut | Failure | Fills | Hears | Sees | Delivery


@dataclass(frozen=True)
class Script:
    """The model's side of a case."""

    steps: Sequence[Step]


def answers_of(step: Step) -> list[Answer]:
    """The whole answers that a step may give."""
    if isinstance(step, Sees):
        return [step.then, step.otherwise]
    if isinstance(step, Hears):
        return list(step.answers.values())
    return [step] if isinstance(step, Answer) else []
