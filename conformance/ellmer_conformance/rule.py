"""Rules: the contract of a provider, one sentence each, in a form that can be checked.

A rule does not know who is asking. The strict server refuses with it, a client's requests are judged with
it, recordings are linted with it, and it is a row of the report. A rule is a generator over a `Request` (or
over a whole `Run` of a case, see `run.py`) that yields a `Finding` each time it meets its subject: with a
problem, or without one. A rule that never met its subject says nothing: not applicable, not passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from .exchange import Json, Request

__all__ = ["Finding", "Kind", "Level", "Refusal", "Rule", "RuleBook", "Verdict", "Violation", "broken", "met"]


class Level(StrEnum):
    """How much it matters, in the words of the specifications."""

    MUST = "MUST"
    SHOULD = "SHOULD"


class Kind(StrEnum):
    """What happens when it is broken: the API refuses, or it answers 200 and something is lost."""

    REJECT = "reject"
    LOSS = "loss"


@dataclass(frozen=True)
class Finding:
    """One meeting of a rule with its subject, at a JSON pointer; `facts` fill the provider's error text."""

    pointer: str
    problem: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


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
    code: str | None = None
    param: str | None = None


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
    explain: str = ""
    models: tuple[str, ...] = ()  # glob patterns of model names it holds for; empty: all
    since: date | None = None
    until: date | None = None
    preview: bool = False  # a reject rule that no provider evidence backs: reported, fails nobody
    examples: tuple[Json, ...] = field(default=(), repr=False)  # bodies that conform
    counterexamples: tuple[Json, ...] = field(default=(), repr=False)  # bodies it must catch

    @property
    def group(self) -> str:
        """`ORD` of `ORD-002`."""
        return self.id.partition("-")[0]

    def holds_for(self, model: str, when: date | None) -> bool:
        """Whether the rule is in force for this model on that day (an unknown day counts as today's rules)."""
        if self.models and not any(fnmatchcase(model, pattern) for pattern in self.models):
            return False
        if when is None:
            return self.until is None
        return (self.since is None or when >= self.since) and (self.until is None or when < self.until)


@dataclass(frozen=True)
class Violation:
    """A broken rule, at a place."""

    rule: Rule
    pointer: str
    message: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def provider_text(self) -> str:
        """The sentence the provider answers with; `""` where it answers 200."""
        return self.rule.refusal.message.format(**self.facts) if self.rule.refusal else ""


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


def _bare(refusal: Refusal) -> bytes:
    return refusal.message.encode()


@dataclass
class RuleBook:
    """The rules of one wire format at one vendor.

    `envelope(violation, message)` is the provider's error body around its own sentence.
    """

    wire: str
    vendor: str = ""
    envelope: Callable[[Refusal], bytes] = field(default=_bare, repr=False)
    rules: dict[str, Rule] = field(default_factory=dict)

    def rule(
        self,
        id: str,
        level: Level,
        kind: Kind,
        *,
        source: str | Sequence[str],
        refusal: Refusal | None = None,
        **rest: Any,
    ) -> Callable[[Check], Check]:
        """Enters the decorated check in the book. The first paragraph of its docstring is the sentence."""

        def enter(check: Check) -> Check:
            sentence, _, explain = (check.__doc__ or "").strip().partition("\n\n")
            self.rules[id] = Rule(
                id=id,
                level=level,
                kind=kind,
                wire=self.wire,
                sentence=" ".join(sentence.split()),
                check=check,
                source=(source,) if isinstance(source, str) else tuple(source),
                refusal=refusal,
                explain=explain.strip(),
                **{name: tuple(v) if isinstance(v, list) else v for name, v in rest.items()},
            )
            return check

        return enter

    def extend(self, vendor: str, *, without: Sequence[str] = (), **changed: Mapping[str, Any]) -> RuleBook:
        """A vendor's dialect: a copy without some rules and with some reworded (`ORD_002={"refusal": …}`)."""
        rules = {id: rule for id, rule in self.rules.items() if id not in without}
        for name, change in changed.items():
            id = name.replace("_", "-")
            rules[id] = replace(rules[id], **change)
        return RuleBook(self.wire, vendor, self.envelope, rules)

    def judge(self, request: Request) -> list[Verdict]:
        """Every rule's verdict on one request, in the order of the book."""
        return [
            verdict(rule, request)
            for rule in self.rules.values()
            if rule.holds_for(request.model, request.when)
        ]


def verdict(rule: Rule, subject: object) -> Verdict:
    """One rule's verdict on one subject."""
    findings = list(rule.check(subject))
    violations = tuple(
        Violation(rule, f.pointer, f.problem, f.facts) for f in findings if f.problem is not None
    )
    return Verdict(rule, len(findings), violations)
