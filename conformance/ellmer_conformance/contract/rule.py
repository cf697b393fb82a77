"""Rules: the contract of a provider, one sentence each, in a form that can be checked.

A rule does not depend on its use. The strict server refuses requests with it, a client's requests are judged with it,
recordings are linted with it, and it is a row of the report. A rule is a generator over a `Request` (or over a whole
`Run` of a case, see `observed_run.py`). It yields a `Finding` for each place that it checks, with a problem or
without one. If it checks no place, the result is not applicable, which is not a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from .request import Json

__all__ = [
    "Check",
    "Finding",
    "Kind",
    "Level",
    "Refusal",
    "Rule",
    "broken",
    "met",
]


class Level(StrEnum):
    """How much a rule matters, in the words of the specifications."""

    MUST = "MUST"
    SHOULD = "SHOULD"


class Kind(StrEnum):
    """What happens if a rule is broken: the API refuses the request, or it answers and data is lost."""

    REJECT = "reject"
    LOSS = "loss"


class Finding(NamedTuple):
    """One place at which a rule checked its subject.

    Args:
        pointer: JSON pointer of the place.
        problem: What is wrong there; `None` (default) if all is well.
        facts: Values that fill the provider's error text.

    Examples:
        >>> Finding("/messages/0", "it has no content").problem
        'it has no content'
    """

    pointer: str
    problem: str | None = None
    facts: Mapping[str, Any] = {}


def met(pointer: str) -> Finding:
    """Makes a finding without a problem: the rule checked a place, and the place is right.

    Args:
        pointer: JSON pointer of the place.

    Examples:
        >>> met("/messages/0")
        Finding(pointer='/messages/0', problem=None, facts={})
    """
    return Finding(pointer)


def broken(pointer: str, problem: str, **facts: Any) -> Finding:
    """Makes a finding with a problem.

    Args:
        pointer: JSON pointer of the place.
        problem: What is wrong there, as a sentence of ours.
        **facts: Values that fill the provider's error text.

    Examples:
        >>> broken("/messages/0", "it has no content", index=0).facts
        {'index': 0}
    """
    return Finding(pointer, problem, facts)


@dataclass(frozen=True)
class Refusal:
    """The provider's answer to a request that breaks a rule. Its texts are templates for `str.format`.

    Args:
        message: The sentence of the error.
        status: The HTTP status. Default: 400.
        type: The error's type, as the provider has it.
        code: The error's code.
        param: The parameter that the error names.

    Examples:
        >>> Refusal("messages.{index}: content is missing").filled({"index": 3}).message
        'messages.3: content is missing'
    """

    message: str
    status: int = 400
    type: str | None = None
    code: str | int | None = None
    param: str | None = None

    def filled(self, facts: Mapping[str, Any]) -> Refusal:
        """Returns the refusal with the values of a violation in its texts.

        Args:
            facts: The values by name.
        """

        code = self.code.format_map(facts) if isinstance(self.code, str) else self.code
        param = self.param and self.param.format_map(facts)
        return replace(self, message=self.message.format_map(facts), code=code, param=param)


Check = Callable[[Any], Iterator[Finding]]


@dataclass(frozen=True, eq=False)  # equal to itself only: verdicts are cached by rule
class Rule:
    """One sentence of a provider's contract. `RuleBook.rule()` makes a rule from a check.

    Args:
        id: The ID, for example `ORD-002`.
        level: `Level.MUST` or `Level.SHOULD`.
        kind: `Kind.REJECT` or `Kind.LOSS`.
        wire: Name of the wire format.
        sentence: The rule in one sentence: the first paragraph of the check's docstring.
        check: The function that yields a `Finding` for each place that it checks.
        source: Links and recordings that prove the rule.
        refusal: The provider's answer to a violation; `None` (default) if it does not refuse.
        formerly: The provider's answers in older recordings.
        explain: The other paragraphs of the docstring.
        models: Patterns of the models that the rule holds for; `"!pattern"` excludes models. Default: all models.
        since: The first day on which it holds; `None` (default) for always.
        until: The first day on which it no longer holds; `None` (default) if it still does.
        preview: Whether it is reported without failing anybody, because no refusal of a provider proves it yet.
        examples: Bodies that conform.
        counterexamples: Bodies that the rule must catch.

    Examples:
        >>> def content_is_there(request):
        ...     yield met("/content") if "content" in request.body else broken("/content", "it is missing")
        >>> rule = Rule("REQ-900", Level.MUST, Kind.REJECT, "anthropic", "The body has content.", content_is_there, ("…",))
        >>> rule.group, rule.refuses
        ('REQ', True)
    """

    id: str
    level: Level
    kind: Kind
    wire: str
    sentence: str
    check: Check = field(repr=False)
    source: tuple[str, ...]
    refusal: Refusal | None = None
    formerly: tuple[Refusal, ...] = ()  # how the provider put it in older recordings
    explain: str = ""
    models: tuple[str, ...] = ()  # glob patterns of model names it holds for; "!pattern": not for those
    since: date | None = None
    until: date | None = None
    preview: bool = False  # a reject rule without evidence from the provider: reported, but not a failure
    examples: tuple[Json, ...] = field(default=(), repr=False)  # bodies that conform
    counterexamples: tuple[Json, ...] = field(default=(), repr=False)  # bodies it must catch

    @property
    def group(self) -> str:
        """The group of the rule: `ORD` for `ORD-002`."""
        return self.id.partition("-")[0]

    @property
    def refuses(self) -> bool:
        """Whether the provider is known to refuse a request that breaks the rule."""
        return self.kind is Kind.REJECT and self.level is Level.MUST and not self.preview

    def chosen(self, model: str) -> bool:
        """Tells whether the rule is about a model, on any day.

        Args:
            model: Name of the model.
        """
        return _chosen(model, self.models)

    def holds_for(self, model: str, when: date | None) -> bool:
        """Tells whether the rule is in force for a model on a day.

        Args:
            model: Name of the model.
            when: The day; `None` means today.
        """
        if not self.chosen(model):
            return False
        if when is None:
            return self.until is None
        return (self.since is None or when >= self.since) and (self.until is None or when < self.until)


def _chosen(model: str, patterns: Sequence[str]) -> bool:
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    return (not wanted or any(fnmatchcase(model, pattern) for pattern in wanted)) and not any(
        fnmatchcase(model, pattern) for pattern in unwanted
    )
