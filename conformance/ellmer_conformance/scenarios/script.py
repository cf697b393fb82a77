"""The model's side of a case, in neutral terms. The dialect of each wire format renders it as JSON or as a stream.

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
    """A text of the answer.

    Args:
        text: The words.
        pieces: The parts in which a stream sends it, in order. Default: a few words at a time.
        sources: The sources of the text.

    Examples:
        >>> Say("Hello!", pieces=("Hel", "lo!")).text
        'Hello!'
    """

    text: str
    pieces: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Think:
    """Reasoning of the model. In the formats that sign it, the server signs it and checks the signature that comes back.

    Args:
        text: The words.

    Examples:
        >>> Think("The user greets me.").text
        'The user greets me.'
    """

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call.

    Args:
        name: Name of the tool.
        arguments: The arguments by name.
        id: Identifier of the call. Default: the server makes one, which depends on the case and the position.
        text: Text that is sent instead of the arguments' JSON, where the format has text there. It is for arguments that are
            malformed or cut.

    Examples:
        >>> Call("get_weather", {"city": "Paris"}).arguments
        {'city': 'Paris'}
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    text: str | None = None


@dataclass(frozen=True)
class Search:
    """A web search that the provider runs itself.

    Args:
        query: The query.
        found: The pages that were found.
        ran: The part of the search that is in this answer: `"whole"` (default), `"pending"` (only the request, before a pause) or
            `"rest"` (only the results, after a pause).

    Examples:
        >>> Search("weather in Paris").ran
        'whole'
    """

    query: str
    found: tuple[Source, ...] = ()
    ran: Literal["whole", "pending", "rest"] = "whole"


@dataclass(frozen=True)
class Usage:
    """Token counts of an answer.

    Args:
        input: Tokens of the request, including `cached`.
        output: Tokens of the answer, including `reasoning`.
        cached: Tokens of the request that were read from a cache.
        reasoning: Tokens of the reasoning.

    Examples:
        >>> Usage(input=9, output=7).cached
        0
    """

    input: int = 10
    output: int = 5
    cached: int = 0
    reasoning: int = 0


#: What an answer consists of.
Said = Say | Think | Call | Search


@dataclass(frozen=True)
class Answer:
    """An answer of the model.

    Args:
        parts: What it consists of: `Say`, `Think`, `Call`, `Search`.
        stop: The stop reason. Default: `"tool"` if the answer calls tools, else `"stop"`.
        usage: The token counts.

    Examples:
        >>> Answer((Say("Hello"), Say("!"))).text
        'Hello!'
        >>> Answer((Call("get_weather"),)).reason
        'tool'
    """

    parts: tuple[Said, ...]
    stop: Stop | None = None
    usage: Usage = Usage()

    @cached_property
    def text(self) -> str:
        """All text of the answer."""
        return "".join(part.text for part in self.parts if isinstance(part, Say))

    @cached_property
    def thinking(self) -> str:
        """All reasoning of the answer."""
        return "".join(part.text for part in self.parts if isinstance(part, Think))

    @cached_property
    def calls(self) -> Sequence[Call]:
        """The tool calls of the answer."""
        return tuple(part for part in self.parts if isinstance(part, Call))

    @cached_property
    def reason(self) -> Stop:
        """The stop reason."""
        return self.stop or ("tool" if self.calls else "stop")


@dataclass(frozen=True)
class Cut:
    """An answer that stops early, while the connection ends as usual.

    In a stream, `"before-end"` sends the whole content without a finish reason and without the end marker, and
    `"inside-arguments"` stops in the middle of the arguments of the first call. (Gemini sends arguments whole, so its stream
    stops in the middle of their bytes.) Without a stream, the body stops before its last byte, or in the middle of the arguments.

    Args:
        answer: The whole answer.
        at: Where it stops: `"before-end"` (default) or `"inside-arguments"`.

    Examples:
        >>> Cut(Answer((Say("Hello!"),))).at
        'before-end'
    """

    answer: Answer
    at: Literal["before-end", "inside-arguments"] = "before-end"


@dataclass(frozen=True)
class Failure:
    """An error of the provider: an error event within a stream, or an error status.

    Args:
        kind: The kind of failure; each dialect has the provider's own status and words for it. `"overloaded"` (default) is 529 at
            Anthropic and 503 at Gemini. `"context-length"` is never inside a stream.
        after: The answer whose text a stream sends before the error; `None` (default) for an error status.

    Raises:
        ValueError: There is no such kind.

    Examples:
        >>> Failure("rate-limit").kind
        'rate-limit'
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
    """An answer that depends on the media that the model can see.

    Args:
        media: Sha256 hex digests of the media, in order.
        then: The answer if the last user turn of the request carries exactly these media.
        otherwise: The answer if it does not.

    Examples:
        >>> Sees(("ab12",), then=Answer((Say("A cat."),))).otherwise.text
        'no image received'
    """

    media: tuple[str, ...]
    then: Answer
    otherwise: Answer = Answer((Say("no image received"),))


@dataclass(frozen=True)
class Fills:
    """A value for the schema of the request: as JSON text, or as a call of the one tool that the request demands.

    Args:
        value: The value.
        usage: The token counts.

    Examples:
        >>> Fills({"city": "Paris"}).value
        {'city': 'Paris'}
    """

    value: Any
    usage: Usage = Usage()


@dataclass(frozen=True)
class Hears:
    """An answer that depends on the last words of the user. It is for conversations that are held at the same time.

    Args:
        answers: The answers by the user's words.

    Examples:
        >>> Hears({"Hi": Answer((Say("Hello!"),))}).answers["Hi"].text
        'Hello!'
    """

    answers: Mapping[str, Answer]


@dataclass(frozen=True)
class Delivery:
    """The way in which the bytes of a step are sent.

    Args:
        step: The step.
        slices: Sizes of the writes in bytes; the last size repeats. Default: one event per write in a stream, else one write.
        delay: Seconds before each write after the first.
        after: Number of bytes of the body after which `ending` comes; `None` (default) for all of them.
        ending: How the connection goes on: `"end"` (default), `"reset"`, `"half-close"` or `"stall"`.
        variation: Name of a variation from `scenarios/variations/`; empty (default) for none.

    Examples:
        >>> Delivery(Answer((Say("Hello!"),)), slices=(1,)).ending
        'end'
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
    """The model's side of a case.

    Args:
        steps: The steps in order.

    Examples:
        >>> len(Script((Answer((Say("Hello!"),)),)).steps)
        1
    """

    steps: Sequence[Step]


def answers_of(step: Step) -> list[Answer]:
    """Returns the whole answers that a step may give.

    Args:
        step: A step of a script.

    Examples:
        >>> [answer.text for answer in answers_of(Answer((Say("Hello!"),)))]
        ['Hello!']
    """
    if isinstance(step, Sees):
        return [step.then, step.otherwise]
    if isinstance(step, Hears):
        return list(step.answers.values())
    return [step] if isinstance(step, Answer) else []
