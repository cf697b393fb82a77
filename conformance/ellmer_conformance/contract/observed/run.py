"""A run of a case: a plain value with all observations, which the rules judge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from ...scenarios.case import Case, Mode
from ...scenarios.messages import PDF, Audio, Image, Reply
from ...scenarios.script import Answer, Call, Cut, Step
from ...scenarios.variations import Variation, VariedAnswer, expanded
from ...scenarios.variations.event_rewriting import sizes
from ..provider_answers import continued_requests
from .exchange import Exchange, Item, Media

#: Below this, every whole number is exact as a float.
_EXACT = 2**53
_USUAL = {"image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf"}


@dataclass(frozen=True)
class ToolRun:
    """A call of a tool of the case; `error` is the exception that it raised."""

    name: str
    arguments: Mapping[str, Any]
    value: Any = None
    error: BaseException | None = None


@dataclass(frozen=True)
class Trouble:
    """The reason why a run could not be judged. `ours` says that the harness or the suite is at fault, not the
    adapter. `rule` is the rule that reports it.
    """

    text: str
    ours: bool
    rule: Literal["RUN-001", "RUN-002"] = "RUN-001"


@dataclass(frozen=True)
class Varied:
    """The run of the same case under a variation of its answers."""

    variation: Variation
    run: Run


@dataclass(frozen=True)
class Run:
    """The result of a run: the requests and answers, the tool calls, and the caller's replies (one `Reply` for each
    step).
    """

    case: Case
    wire: str
    provider: str
    mode: Mode
    exchanges: Sequence[Exchange] = ()
    replies: Sequence[Reply] = ()
    tool_runs: Sequence[ToolRun] = ()
    asked: Sequence[tuple[str, Mapping[str, Any]]] = ()  # the calls that somebody was asked about
    transcript: str = ""
    refused: Sequence[str] = ()  # capabilities the case needs and the adapter declares as refused
    replayed: bool = False
    misses: Sequence[str] = ()  # requests without a recording, explained
    unplayed: Sequence[str] = ()  # recordings without a request
    cassette: str = ""  # its path below the folder of the cassettes
    recorded_from: str = ""  # "live" or "strict-server"
    snapshot_diff: str | None = None  # how the transcript differs from the frozen one; None: not compared
    trouble: Trouble | None = None  # nothing else holds, then
    apart: bool = False  # the adapter takes texts and media apart
    model: str = ""  # the one that the session was told to ask; "" where that is not known
    leaks: Sequence[str] | None = None  # where a key was written to; None: not watched
    elsewhere: Sequence[str] | None = None  # other hosts that were called; None: not watched
    altered: Sequence[str] | None = None  # what of the caller's the adapter changed; None: not watched
    waits: Sequence[float] | None = None  # seconds between tries, on a virtual clock; None: not watched
    left: Sequence[bool] | None = None  # whether the server saw each client go that gave up; None: unwatched
    blocking: Sequence[str] | None = None  # what blocked the event loop; None: not watched
    stored: Sequence[str] | None = None  # ids of the files that the server stores; None: not watched
    reloaded: bool = False  # it went on from what was saved
    varied: Sequence[Varied] = ()  # the same, its answers under other variations
    begun: Sequence[int] = ()  # requests that were sent before each step; empty: not known
    way: Literal["cassette", "server", "command", "observe", "proxy", "probe", "recordings"] = (
        "cassette"  # how it was played
    )
    unseen: Mapping[str, str] = field(default_factory=dict)  # rules that this way cannot judge, and why

    @cached_property
    def sent_items(self) -> list[list[Item]]:
        """The content of each request, in neutral items."""
        return continued_requests.sent_items(self.exchanges)

    def step_of(self, exchange: int) -> int | None:
        """Returns the number of the step that an exchange belongs to, or `None` if it is not known.

        It is not known for conversations at the same time, nor for a program that runs its steps by itself.
        """
        if len(self.case.speakers) > 1:
            return None
        if not self.begun:
            return exchange if len(self.exchanges) == len(self.case.steps) else None
        return max((step for step, sent in enumerate(self.begun) if sent <= exchange), default=None)

    def play_at(self, pointer: str) -> Run:
        """Returns the run that a pointer leads into: one under a variation (`/varied/crlf`), or this one."""
        name = pointer.removeprefix("/varied/")
        return next((play.run for play in self.varied if play.variation.name == name), self)

    @property
    def streamed(self) -> bool:
        """Whether the client requested streams. The library decides this in any mode."""
        return any(exchange.request.stream for exchange in self.exchanges)

    @property
    def variations(self) -> list[Variation]:
        """The variations that apply to the run's answers, which are known after the first answer.

        The library may stream in any mode, also for a caller who does not.
        """
        if not self.case.variations or not self.exchanges or self.exchanges[0].response is None:
            return []
        response = self.exchanges[0].response
        first = VariedAnswer(self.wire, response.status, response.headers, (response.body,))
        found = expanded(self.case.variations, len(sizes(first)))
        return [variation for variation in found if variation.befalls(self.wire, streamed=first.streams)]

    def answered(self) -> Iterator[tuple[int, Step]]:
        """Yields each exchange that used a step of the script, with the step. Refused requests use none.

        A recording or an observing server refuses nothing. An answer with a status from 400 to 499 used no step.
        """
        steps = iter(self.case.script)
        for index, exchange in enumerate(self.exchanges):
            if exchange.refused:
                continue
            step = next(steps, None)
            if step is not None:
                yield index, step

    def calls(self) -> Iterator[tuple[int, Sequence[Call]]]:
        """Yields each exchange whose answer has complete tool calls, with the calls."""
        for index, step in self.answered():
            if isinstance(step, Answer):
                found = [part for part in step.parts if isinstance(part, Call) and part.text is None]
                if found and step.stop != "length":
                    yield index, found

    def approved(self, call: Call) -> Mapping[str, Any] | None:
        """Returns the arguments of a call after a decision about it, or `None` for a denied call."""
        needy = {tool.name for tool in self.case.tools if tool.needs_approval}
        if self.case.approve is None or call.name not in needy or "approval" in self.refused:
            return call.arguments
        return self.case.approve(call.name, call.arguments)

    def cut_calls(self) -> list[Call]:
        """Returns the calls of the script that were truncated: cut, or stopped by the token limit."""
        answers = [s.answer for s in self.case.script if isinstance(s, Cut)]
        answers += [s for s in self.case.script if isinstance(s, Answer) and s.stop == "length"]
        return [part for a in answers for part in a.parts if isinstance(part, Call)]

    def tool_media(self) -> list[Media]:
        """Returns the images and PDFs that the tools returned, in the order of the calls, whichever tool finished
        first.
        """
        called = [call_key(call.name, call.arguments) for _, calls in self.calls() for call in calls]
        runs = sorted(self.tool_runs, key=lambda run: _place(called, run))
        return [media for run in runs for media in media_of(run.value)]


def _place(called: Sequence[str], run: ToolRun) -> int:
    """Returns the index of the model's call that a tool was run for. A run without a call comes last."""
    key = call_key(run.name, run.arguments)
    return called.index(key) if key in called else len(called)


def call_key(name: str, arguments: object) -> str:
    """Returns a key for a call. Calls have the same key if they differ only by a number's precision in JSON readers,
    or by a missing field that Python has as `None`.
    """
    if isinstance(arguments, Mapping):
        arguments = {str(key): _rounded(each) for key, each in arguments.items()}
    return f"{name}({json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=repr)})"


def exact_call(name: str, arguments: object) -> str:
    """Returns a key for a call as it is written: every digit counts, and only 2.0 is the same as 2.

    A missing field and one that is null are the same, because Python has `None` for both.
    """
    return f"{name}({json.dumps(_exact(arguments), sort_keys=True, ensure_ascii=False, default=repr)})"


def _exact(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _exact(each) for key, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [_exact(each) for each in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT
    return int(value) if whole else value  # type: ignore[call-overload]  # it is a float


def _rounded(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _rounded(each) for key, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    rounded = float(f"{value:.12g}") + 0.0  # and no sign of nothing
    return int(rounded) if rounded.is_integer() else rounded  # a number: "123" is another argument


def media_of(value: object) -> list[Media]:
    """Returns the images and PDFs in a tool's value, one level deep, that every provider with media accepts."""
    return [media for media in _direct_media_of(value) if _usual(media)]


def unusual_media_of(value: object) -> list[Media]:
    """Returns the images in a tool's value that not every provider accepts: URLs, or other types."""
    return [media for media in _direct_media_of(value) if not _usual(media)]


def _usual(media: Media) -> bool:
    return not media.url and media.type in _USUAL


def all_media_of(value: object) -> list[Media]:
    """Returns the images, PDFs and audio in a value, at any depth, for any provider."""
    if not isinstance(value, list | tuple):
        return _direct_media_of(value)
    return [media for item in value for media in all_media_of(item)]


#: The rule that looks into a refusal that the adapter declared.
PROBE = "TRM-010"


def unrefused(run: Run) -> str:
    """Returns the message about capabilities that are declared as refused, if nothing in the run refused them and `PROBE` did not apply."""
    results = all(name.endswith("_in_tool_result") for name in run.refused)
    without_media = results and not any(all_media_of(each.value) for each in run.tool_runs)
    if without_media or set(run.refused) == {"dangling_call"}:
        return ""
    names = ", ".join(run.refused)
    return f"{names} is declared as refused, and nothing refused it: no error, no text in its place"


def _direct_media_of(value: object) -> list[Media]:
    values = value if isinstance(value, list | tuple) else [value]
    return [_media(item) for item in values if isinstance(item, Audio | Image | PDF)]


def _media(part: Audio | Image | PDF) -> Media:
    if isinstance(part, PDF):
        return Media("application/pdf", part.data, filename=part.filename)
    return Media(part.type, part.data, "" if isinstance(part, Audio) else part.url)
