"""Verdicts: the result of a rule for a request or for a whole run, with each place at which the rule is broken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .request import Request
from .rule import Finding, Level, Refusal, Rule

__all__ = ["Verdict", "Violation", "objection", "verdict"]


@dataclass(frozen=True)
class Violation:
    """A broken rule, at a place.

    Args:
        rule: The rule.
        pointer: JSON pointer of the place.
        message: What is wrong there.
        facts: Values that fill the provider's error text.

    Examples:
        >>> rule = Rule("REQ-900", Level.MUST, Kind.REJECT, "anthropic", "The body has content.", print, ("…",))
        >>> Violation(rule, "/content", "it is missing").refusal is None
        True
    """

    rule: Rule
    pointer: str
    message: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def refusal(self) -> Refusal | None:
        """The provider's answer with the facts filled in; `None` if it does not answer with an error."""
        return self.rule.refusal and self.rule.refusal.filled(self.facts)


@dataclass(frozen=True)
class Verdict:
    """The result of one rule for one subject.

    Args:
        rule: The rule.
        checked: At how many places the rule had something to check.
        violations: The places at which it is broken.

    Examples:
        >>> rule = Rule("REQ-900", Level.MUST, Kind.REJECT, "anthropic", "The body has content.", print, ("…",))
        >>> Verdict(rule, 0, ()).outcome
        'not-applicable'
    """

    rule: Rule
    checked: int
    violations: tuple[Violation, ...]

    @property
    def outcome(self) -> str:
        """`pass`, `fail`, `warn` (for a SHOULD or a preview) or `not-applicable`."""
        if not self.checked:
            return "not-applicable"
        if not self.violations:
            return "pass"
        return "warn" if self.rule.level is Level.SHOULD or self.rule.preview else "fail"


def objection(verdicts: Iterable[Verdict]) -> Violation | None:
    """Returns the violation that the provider would have refused the request for, or `None`.

    Args:
        verdicts: The verdicts in the order in which the provider checks.

    Examples:
        >>> objection([]) is None
        True
    """
    found = (violation for verdict in verdicts for violation in verdict.violations)
    return next((violation for violation in found if violation.rule.refuses), None)


def verdict(rule: Rule, subject: object) -> Verdict:
    """Returns one rule's verdict on one subject.

    A request may have a list where its format has a string. A rule that raises a `TypeError` there keeps its earlier
    findings, and the rules about types report the rest.

    Args:
        rule: The rule.
        subject: A `Request`, or a run of a case.

    Examples:
        >>> def content_is_there(request):
        ...     yield met("/content") if "content" in request.body else broken("/content", "it is missing")
        >>> rule = Rule("REQ-900", Level.MUST, Kind.REJECT, "anthropic", "The body has content.", content_is_there, ("…",))
        >>> verdict(rule, Request("anthropic", "anthropic", {})).outcome
        'fail'
    """
    findings: list[Finding] = []
    try:
        findings.extend(rule.check(subject))
    except TypeError:
        if not isinstance(subject, Request):
            raise
    if not findings:
        return _not_applicable(rule)
    violations = [Violation(rule, f.pointer, f.problem, f.facts) for f in findings if f.problem is not None]
    return Verdict(rule, len(findings), tuple(violations))


@cache
def _not_applicable(rule: Rule) -> Verdict:
    """Returns the verdict on a subject that has nothing for the rule to check."""
    return Verdict(rule, 0, ())
