"""Replays a part of a cassette and sends the rest: `use_cassette(path, replay="model")` replays the model, and runs the tools.

A replayed request contains what the other part returned: the results of tools. Where only they differ from the recording, the
recorded answer is replayed nevertheless, and the difference is a `Divergence`. Any other difference is a miss.

The harness does not know what a model is. A `Part` says which requests are replayed, and where the results are. It is found by its
name among the entry points `ellmer_harness.replay` of the installed packages.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import CassetteError, Diverged
from ..exchange.messages import Sent
from ..exchange.reply import Reply
from ..format.compression import undo
from .miss_explanation import command, differences
from .request_key import Likeness, RequestKey

if TYPE_CHECKING:
    from .cassette_index import CassetteIndex

_GROUP = "ellmer_harness.replay"
_SHOWN = 5
LEVELS = ("ignore", "warn", "error")

# --- The part that is played -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """A value in a request that something returned which runs for real.

    Args:
        pointer: JSON pointer of its place in the body.
        id: The id that distinguishes it from the other results of the request, for example that of a tool call.
        call: The call that returned it, as text for people: `read_file(path="a.txt")`.
        added: Whether the item at this place exists only because of the result, and may be missing. Default: False.

    Examples:
        >>> Result("/messages/3/content", "call_1", 'read_file(path="a.txt")').id
        'call_1'
    """

    pointer: str
    id: str
    call: str
    added: bool = False


class Part(Protocol):
    """Says which requests of a cassette are replayed. All others are sent."""

    def replays(self, sent: Sent) -> bool:
        """Tells whether a request is replayed."""
        ...

    def results(self, sent: Sent) -> Sequence[Result]:
        """Returns what a replayed request contains of the results of the other part."""
        ...

    def answer(self, sent: Sent, body: bytes) -> str:
        """Returns what a recorded answer says and asks for, as text."""
        ...


def part_of(named: str | Part) -> Part:
    """Returns the part that is replayed.

    Args:
        named: The name of a part, or a `Part`.

    Raises:
        CassetteError: If no installed package has a part of this name.
    """
    if not isinstance(named, str):
        return named
    found = {point.name: point for point in entry_points(group=_GROUP)}
    if named not in found:
        raise CassetteError(
            f"replay={named!r} is not a part of a cassette that an installed package defines. The parts are {', '.join(['all', *found])}"
        )
    try:
        return found[named].load()()  # type: ignore[no-any-return]  # what the package promises by its entry point
    except ModuleNotFoundError as error:
        raise CassetteError(
            f'replay={named!r} needs a package that is not installed ({error}): pip install "ellmer-core[conformance]"'
        ) from error


def as_sent(request: Any) -> Sent:
    """Returns vcrpy's request as a `Sent`. It is from a cassette, or was scrubbed like one."""
    return Sent(request.method, request.uri, request.headers, request.body or b"")


# --- Where a run left its recording ------------------------------------------------------------------------


@dataclass
class Divergence:
    """A result that is not the recorded one, in a replayed request.

    Args:
        number: The number of the request among the replayed ones of this run, from 1.
        recorded: The number of the interaction in the cassette, from 1.
        call: What returned the result.
        id: Its id.
        changes: The differences, a line each.
        answer: The recorded answer that no longer fits, or the one that was replayed.
        stale: The words of the recorded answers that were in the recorded result, and that the request has no more.

    Examples:
        >>> Divergence(2, 5, 'now(zone="UTC")', "call_1", ["~ /messages/3/content: [-9-]{+10+}"], "It is 9.", ["9"]).fits
        False
    """

    number: int
    recorded: int
    call: str
    id: str
    changes: list[str]
    answer: str = ""
    stale: list[str] = field(default_factory=list)
    gone: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def fits(self) -> bool:
        """Whether the recorded answers say nothing that only the recorded result said."""
        return not self.stale

    @property
    def judgement(self) -> str:
        """A sentence that says whether the recorded answer still fits."""
        if self.fits:
            return (
                "The model's recorded answer still fits: it says nothing that only the recorded result said."
            )
        words = ", ".join(self.stale[:_SHOWN])
        return f"The model's recorded answer no longer fits: it says {words}, which was only in the recorded result."

    def __str__(self) -> str:
        shown = [f"\n  {line}" for line in self.changes[:_SHOWN]] + ["\n  …"] * (len(self.changes) > _SHOWN)
        answer = " ".join(self.answer.split())
        return (
            f"request {self.number} (recorded as #{self.recorded}) has another result of {self.call}.\n"
            f"Recorded [-so-], now {{+so+}}:{''.join(shown)}\n{self.judgement}\n  {answer[:200]}{'…' * (len(answer) > 200)}"
        )


class DivergenceWarning(UserWarning):
    """A tool returned something else than it did when the cassette was recorded."""


class PartialReplay:
    """The replayed part of one run, and what differs in it."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.divergences: list[Divergence] = []
        self._played = 0
        self._seen: set[str] = set()
        self._digests: dict[int, bytes | None] = {}

    def replays(self, request: Any) -> bool:
        """Tells whether a request is replayed; one that is not is sent."""
        return self.part.replays(as_sent(request))

    def hold(self, cassette: Any) -> None:
        """Warns of the first divergence. Raises `Diverged` if the option says so and a recorded answer no longer fits.

        Args:
            cassette: The cassette in use.
        """
        level = cassette.diverged or os.environ.get("CASSETTE_DIVERGED") or "warn"
        if level not in LEVELS:
            raise CassetteError(f"CASSETTE_DIVERGED is {level!r}; it must be one of {', '.join(LEVELS)}")
        if not self.divergences or level == "ignore":
            return
        text = f"the run left cassette {cassette.name}: {self.told()}\n{command(cassette.rerecord, 'update')}"
        if level == "error" and not all(each.fits for each in self.divergences):
            raise Diverged(text)
        if cassette.warns:
            warnings.warn(text, DivergenceWarning, stacklevel=5)

    def told(self) -> str:
        """Returns the first divergence as text, the first whose answer no longer fits, and the names of the others."""
        if not self.divergences:
            return ""
        first, *others = self.divergences
        unfit = next((each for each in others if not each.fits), None) if first.fits else None
        calls = [each.call for each in others if each is not unfit][:_SHOWN]
        more = f"\nOther results differ, too: {', '.join(calls)}." if calls else ""
        return f"{first}{more}" + (f"\nAnd {unfit}" if unfit else "")

    def find(self, ask: RequestKey, index: CassetteIndex) -> int | None:
        """Returns the place of the first unused recording that differs from the request only in results."""
        wanted = self._digest(ask)
        for place in range(index.loaded) if wanted else ():
            if index.play_counts[place] or index.keys[place].likeness(ask) is Likeness.OTHER:
                continue
            if place not in self._digests:
                self._digests[place] = self._digest(index.keys[place])
            if self._digests[place] == wanted:
                return place
        return None

    def _digest(self, key: RequestKey) -> bytes | None:
        """Returns the key of a request without its results, or None if it is not replayed or has none."""
        sent = as_sent(key.request)
        results = self.part.results(sent) if self.part.replays(sent) else ()
        return key.digest_of(_without(sent.json, results)) if results else None

    def note(self, ask: RequestKey, recorded: RequestKey, place: int, reply: Reply) -> None:
        """Notes what differs in a request that got the answer at a place."""
        self._played += 1
        sent = as_sent(ask.request)
        encoding = next((value for name, value in reply.headers if name == "content-encoding"), "")
        answer = self.part.answer(sent, undo(reply.body, encoding))
        self.divergences += self._differing(sent, as_sent(recorded.request), place, answer)
        said = _words([answer])
        for each in self.divergences:
            stale = [word for word in said if word in each.gone and word not in each.stale]
            each.answer = answer if stale and each.fits else each.answer
            each.stale += stale

    def _differing(self, sent: Sent, recorded: Sent, place: int, answer: str) -> Iterator[Divergence]:
        if sent.body == recorded.body:
            return
        then = _numbered(self.part.results(recorded))
        whole = {*_words(_leaves(sent.json))}
        for key, now in _numbered(self.part.results(sent)).items():
            old = then.get(key)
            before, after = old and _value_at(recorded.json, old.pointer), _value_at(sent.json, now.pointer)
            if before != after and now.id not in self._seen:
                self._seen.add(now.id)
                changes = [*islice(differences(before, after, now.pointer), _SHOWN + 1)]
                gone = frozenset(word for word in _words(_leaves(before)) if word not in whole)
                yield Divergence(self._played, place + 1, now.call, now.id, changes, answer, gone=gone)


def _numbered(results: Iterable[Result]) -> dict[tuple[str, bool, int], Result]:
    """Returns results by their ids; an id may have several places."""
    counts = Counter[tuple[str, bool]]()
    found = {}
    for each in results:
        found[each.id, each.added, counts[each.id, each.added]] = each
        counts[each.id, each.added] += 1
    return found


# --- Values at pointers, and their words --------------------------------------------------------------------


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _value_at(value: Any, pointer: str) -> Any:
    for step in _steps(pointer):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def _without(value: Any, results: Iterable[Result]) -> Any:
    """Returns a body with the id of each result in its place, and without what was added for it."""
    body = deepcopy(value)
    for result in sorted(
        results, key=lambda each: [_order(step) for step in _steps(each.pointer)], reverse=True
    ):
        *path, last = _steps(result.pointer)
        owner = _value_at(body, "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in path))
        key: Any = int(last) if isinstance(owner, list) else last
        if result.added:
            del owner[key]
        else:
            owner[key] = {"result of": result.id}
    return body


def _order(step: str) -> tuple[int, str]:
    return (int(step), "") if step.isdigit() else (-1, step)


def _leaves(value: Any) -> Iterator[str]:
    match value:
        case Mapping():
            for each in value.values():
                yield from _leaves(each)
        case list():
            for each in value:
                yield from _leaves(each)
        case None | bool():
            return
        case _:
            yield str(value)


_WORD = re.compile(r"(?<!\w)[-−]?\d+(?:\.\d+)?(?![\w.]*\w)|\w+(?:[._-]\w+)*")
_SHORT = 3  # letters of a word that says something
_COMMON = frozenset(
    [
        *(
            "the",
            "and",
            "for",
            "with",
            "that",
            "this",
            "from",
            "are",
            "was",
            "were",
            "has",
            "have",
            "had",
            "not",
        ),
        *(
            "but",
            "you",
            "your",
            "its",
            "all",
            "any",
            "can",
            "will",
            "one",
            "out",
            "into",
            "than",
            "then",
            "there",
        ),
        *(
            "they",
            "their",
            "what",
            "when",
            "which",
            "who",
            "been",
            "also",
            "over",
            "more",
            "some",
            "only",
            "about",
        ),
    ]
)


def _words(texts: Iterable[str]) -> list[str]:
    """Returns the words that say something, in their order: names, numbers (`21.0` is `21`), and no `the`."""
    found = (word.casefold() for text in texts for word in _WORD.findall(text))
    return [*dict.fromkeys(filter(None, map(_telling, found)))]


def _telling(word: str) -> str:
    try:
        return f"{float(word.replace('−', '-')):g}"
    except ValueError:
        return "" if len(word) < _SHORT or word in _COMMON else word
