"""The model's side of a case, in neutral terms. The strict server renders it as JSON or as a stream.

A script is a list of steps. Each legal request of a conversation takes the next one; a request after the
last step gets the last step again. A request that is refused takes none. The parts of an answer are in `answer.py`; their
names can be imported from here, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from .answer import Answer, Call, Refuse, Run, Said, Say, Search, Show, Stop, Think, Usage

__all__ = [
    "REDACTED",
    "Answer",
    "AnswerByMedia",
    "AnswerByText",
    "AskModel",
    "Call",
    "Cut",
    "Delivery",
    "Ending",
    "Failure",
    "FailureKind",
    "Refuse",
    "Run",
    "Said",
    "Say",
    "Script",
    "ScriptError",
    "Search",
    "Show",
    "Step",
    "Stop",
    "StructuredAnswer",
    "Think",
    "Usage",
    "answers_of",
]

#: The state of the connection after the last byte: normal HTTP; broken by a TCP reset; closed by the server
#: before the body was announced to end; open and silent until the client leaves.
Ending = Literal["end", "reset", "half-close", "stall"]

#: Errors of a provider. Every provider has its own status and text for each.
FailureKind = Literal["overloaded", "server-error", "rate-limit", "context-length"]

#: The data of a redacted thought (Anthropic).
REDACTED = "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpP"

_NOTHING_SEEN = Answer((Say("no image received"),))
_USUAL_USAGE = Usage()


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
        kind: The kind of failure; each chat API has the provider's own status and words for it. `"overloaded"` (default) is 529 at
            Anthropic and 503 at Gemini. `"context-length"` is never inside a stream.
        after: The answer whose text a stream sends before the error; `None` (default) for an error status.
        final: Whether the answer says in `x-should-retry` that a retry does not help. Default: `False`.

    Raises:
        ValueError: There is no such kind.

    Examples:
        >>> Failure("rate-limit").kind
        'rate-limit'
    """

    kind: FailureKind = "overloaded"
    after: Answer | None = None
    final: bool = False

    def __post_init__(self) -> None:
        if self.kind not in get_args(FailureKind):
            raise ValueError(
                f"there is no failure {self.kind!r}; there are {', '.join(get_args(FailureKind))}"
            )


@dataclass(frozen=True)
class AnswerByMedia:
    """An answer that depends on the media that the model can see.

    Args:
        media: Sha256 hex digests of the media, in order.
        then: The answer if the last user turn of the request carries exactly these media.
        otherwise: The answer if it does not. Default: the text `no image received`.

    Examples:
        >>> AnswerByMedia(("ab12",), then=Answer((Say("A cat."),))).otherwise.text
        'no image received'
    """

    media: tuple[str, ...]
    then: Answer
    otherwise: Answer = _NOTHING_SEEN


@dataclass(frozen=True)
class StructuredAnswer:
    """A value for the schema of the request: as JSON text, or as a call of the tool that the request forces.

    Args:
        value: The value.
        usage: The token counts. Default: `Usage()`.

    Examples:
        >>> StructuredAnswer({"city": "Paris"}).value
        {'city': 'Paris'}
    """

    value: Any
    usage: Usage = _USUAL_USAGE


@dataclass(frozen=True)
class AnswerByText:
    """An answer that depends on the last words of the user. It is for conversations that are held at the same time.

    Args:
        answers: The answers by the user's words.

    Examples:
        >>> AnswerByText({"Hi": Answer((Say("Hello!"),))}).answers["Hi"].text
        'Hello!'
    """

    answers: Mapping[str, Answer]


@dataclass(frozen=True)
class AskModel:
    """The answer of the server's own model. It follows fixed rules: it calls tools, describes images and fills schemas.

    Examples:
        >>> Script((AskModel(), Answer((Say("Bye!"),)))).steps[0]
        AskModel()
    """


@dataclass(frozen=True)
class Delivery:
    """The way in which the bytes of a step are sent.

    Args:
        step: The step.
        slices: Sizes of the writes in bytes; the last size repeats. Default: one event per write in a stream, else one write.
        delay: Seconds before each write after the first. Default: 0.
        after: Number of bytes of the body after which `ending` comes; `None` (default) for all of them.
        ending: How the connection goes on: `"end"` (default), `"reset"`, `"half-close"` or `"stall"`.
        variation: Name of a variation from `scenarios/variations/`; empty (default) for none.

    Examples:
        >>> Delivery(Answer((Say("Hello!"),)), slices=(1,)).ending
        'end'
    """

    step: Answer | Cut | Failure | StructuredAnswer | AnswerByText | AnswerByMedia | AskModel
    slices: tuple[int, ...] = ()
    delay: float = 0.0
    after: int | None = None
    ending: Ending = "end"
    variation: str = ""


Step = Answer | Cut | Failure | StructuredAnswer | AnswerByText | AnswerByMedia | AskModel | Delivery


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


class ScriptError(ValueError):
    """The script of a server is not valid. The message has the place and the reason.

    Examples:
        >>> try:
        ...     StrictServer(script=[{"answer": 5}])
        ... except ScriptError:
        ...     print("The script is not valid.")
        The script is not valid.
    """


def answers_of(step: Step) -> list[Answer]:
    """Returns the whole answers that a step may give.

    Args:
        step: A step of a script.

    Examples:
        >>> [answer.text for answer in answers_of(Answer((Say("Hello!"),)))]
        ['Hello!']
    """
    if isinstance(step, AnswerByMedia):
        return [step.then, step.otherwise]
    if isinstance(step, AnswerByText):
        return list(step.answers.values())
    return [step] if isinstance(step, Answer) else []
