"""Rules: the contract of a provider, one sentence each, in a form that can be checked.

A rule does not know who is asking. The strict server refuses with it, a client's requests are judged with
it, recordings are linted with it, and it is a row of the report. A rule is a generator over a `Request` (or
over a whole `Run` of a case, see `run.py`) that yields a `Finding` each time it meets its subject: with a
problem, or without one. A rule that never met its subject says nothing: not applicable, not passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, NamedTuple

from .exchange import Json, Request

__all__ = [
    "Check",
    "Finding",
    "Kind",
    "Level",
    "Refusal",
    "Rule",
    "Verdict",
    "Violation",
    "broken",
    "met",
    "objection",
    "verdict",
]


class Level(StrEnum):
    """How much it matters, in the words of the specifications."""

    MUST = "MUST"
    SHOULD = "SHOULD"


class Kind(StrEnum):
    """What happens when it is broken: the API refuses, or it answers 200 and something is lost."""

    REJECT = "reject"
    LOSS = "loss"


class Finding(NamedTuple):
    """One meeting of a rule with its subject, at a JSON pointer; `facts` fill the provider's error text."""

    pointer: str
    problem: str | None = None
    facts: Mapping[str, Any] = {}


def met(pointer: str) -> Finding:
    """The subject was there and as it should be."""
    return Finding(pointer)


def broken(pointer: str, problem: str, **facts: Any) -> Finding:
    """The subject was there and wrong: `problem` is our sentence, `facts` fill the provider's."""
    return Finding(pointer, problem, facts)


@dataclass(frozen=True)
class Refusal:
    """What the provider answers to a request that breaks a rule. Texts are `str.format` templates."""

    message: str
    status: int = 400
    type: str | None = None
    code: str | int | None = None
    param: str | None = None

    def filled(self, facts: Mapping[str, Any]) -> Refusal:
        """With the facts of a violation in place."""

        code = self.code.format_map(facts) if isinstance(self.code, str) else self.code
        param = self.param and self.param.format_map(facts)
        return replace(self, message=self.message.format_map(facts), code=code, param=param)


Check = Callable[[Any], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """One sentence of a provider's contract. `sentence` and `explain` come from the check's docstring."""

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
    preview: bool = False  # a reject rule that no provider evidence backs: reported, fails nobody
    examples: tuple[Json, ...] = field(default=(), repr=False)  # bodies that conform
    counterexamples: tuple[Json, ...] = field(default=(), repr=False)  # bodies it must catch

    @cached_property
    def silence(self) -> Verdict:
        """Its verdict on what it has nothing to say to."""
        return Verdict(self, 0, ())

    @property
    def group(self) -> str:
        """`ORD` of `ORD-002`."""
        return self.id.partition("-")[0]

    @property
    def refuses(self) -> bool:
        """Whether the provider is known to refuse what breaks it."""
        return self.kind is Kind.REJECT and self.level is Level.MUST and not self.preview

    def chosen(self, model: str) -> bool:
        """Whether the rule is about this model, on some day."""
        return _chosen(model, self.models)

    def holds_for(self, model: str, when: date | None) -> bool:
        """Whether the rule is in force for this model on that day (an unknown day counts as today's rules)."""
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


@dataclass(frozen=True)
class Violation:
    """A broken rule, at a place."""

    rule: Rule
    pointer: str
    message: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def refusal(self) -> Refusal | None:
        """What the provider says to it, with its facts filled in; None where it says nothing."""
        return self.rule.refusal and self.rule.refusal.filled(self.facts)


@dataclass(frozen=True)
class Verdict:
    """What one rule says: `checked` counts how often it met its subject."""

    rule: Rule
    checked: int
    violations: tuple[Violation, ...]

    @property
    def outcome(self) -> str:
        """`pass`, `fail`, `warn` (SHOULD or preview) or `not-applicable`."""
        if not self.checked:
            return "not-applicable"
        if not self.violations:
            return "pass"
        return "warn" if self.rule.level is Level.SHOULD or self.rule.preview else "fail"


def objection(verdicts: Iterable[Verdict]) -> Violation | None:
    """What the provider would have refused the request for: of the violations that it refuses, the first."""
    found = (violation for verdict in verdicts for violation in verdict.violations)
    return next((violation for violation in found if violation.rule.refuses), None)


def verdict(rule: Rule, subject: object) -> Verdict:
    """One rule's verdict on one subject.

    A request may have a list where its format has a string: a rule that stumbles over it has said what it had to say,
    and the rules about types say the rest.
    """
    findings: list[Finding] = []
    try:
        findings.extend(rule.check(subject))
    except TypeError:
        if not isinstance(subject, Request):
            raise
    if not findings:
        return rule.silence
    violations = [Violation(rule, f.pointer, f.problem, f.facts) for f in findings if f.problem is not None]
    return Verdict(rule, len(findings), tuple(violations))
