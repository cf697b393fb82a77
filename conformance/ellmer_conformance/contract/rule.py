"""Rules and verdicts. A rule is one sentence of a provider's contract that can be checked, and a verdict is the result of the check.

A rule does not depend on its use. The strict server refuses requests with it, a client's requests are judged with it,
recordings are linted with it, and it is a row of the report. A rule is a generator over a `Request` (or over a whole
`Run` of a case, see `observed_run.py`). It yields a `Finding` for each place that it checks, with a problem or
without one. If it checks no place, the result is not applicable, which is not a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from functools import cache, cached_property
from typing import Any, NamedTuple

from ellmer_core.base.budget import VIOLATIONS

from .request import Json, Request
from .scope import Scope

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
    "page_of",
    "verdict",
]


class Level(StrEnum):
    """How much a rule matters, in the words of the specifications.

    Examples:
        >>> [level.value for level in Level]
        ['MUST', 'SHOULD']
    """

    MUST = "MUST"
    SHOULD = "SHOULD"


class Kind(StrEnum):
    """What happens if a rule is broken: the API refuses the request, or it answers and data is lost.

    Examples:
        >>> [kind.value for kind in Kind]
        ['reject', 'loss']
    """

    REJECT = "reject"
    LOSS = "loss"


class Finding(NamedTuple):
    """One place at which a rule checked its subject.

    Args:
        pointer: JSON pointer of the place.
        problem: What is wrong there; `None` (default) if all is well.
        facts: Values that fill the provider's error text. Default: none.

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

    Returns:
        The finding.

    Examples:
        >>> met("/messages/0")
        Finding(pointer='/messages/0', problem=None, facts={})
    """
    return Finding(pointer)


def broken(pointer: str, problem: str, **facts: Any) -> Finding:
    """Makes a finding with a problem.

    Args:
        pointer: JSON pointer of the place.
        problem: What is wrong there, as a sentence in this project's words.
        **facts: Values that fill the provider's error text.

    Returns:
        The finding.

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
        type: The error's type, as the provider has it. Default: `None`, the error has none.
        code: The error's code. Default: `None`, the error has none.
        param: The parameter that the error names. Default: `None`, the error names none.

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

        Examples:
            >>> Refusal("messages.{index}: content is missing").filled({"index": 3}).message
            'messages.3: content is missing'
        """

        code = _filled(self.code, facts) if isinstance(self.code, str) else self.code
        param = _filled(self.param, facts)
        return replace(self, message=self.message.format_map(facts), code=code, param=param)


def _filled(template: str | None, facts: Mapping[str, Any]) -> str | None:
    """Returns a template with its values. One that is only a field with the value `None` is `None`."""
    if template is None or (template[1:-1] in facts and facts[template[1:-1]] is None):
        return None
    return template.format_map(facts)


Check = Callable[[Any], Iterator[Finding]]


_SITE = "https://ellmer-core.github.io/ellmer-core/dev"
_OF_SERVERS = "SRV"


def page_of(full_id: str) -> str:
    """Returns the permanent address of a rule's page. The rules that only one provider has are on their wire format's page, and
    those about servers on the page of the probe.

    Args:
        full_id: The full ID of the rule.

    Examples:
        >>> page_of("openai-chat/PAIR-001")
        'https://ellmer-core.github.io/ellmer-core/dev/rules/openai-chat/pair-001/'
        >>> page_of("TXT-005")
        'https://ellmer-core.github.io/ellmer-core/dev/rules/behaviour/txt-005/'
        >>> page_of("openai-chat/groq/REQ-007")
        'https://ellmer-core.github.io/ellmer-core/dev/rules/openai-chat/'
    """
    *where, id = full_id.split("/")
    if id.partition("-")[0] == _OF_SERVERS:
        return f"{_SITE}/conformance/probe/"
    own = "" if len(where) > 1 else f"{id.lower()}/"
    return f"{_SITE}/rules/{where[0] if where else 'behaviour'}/{own}"


@dataclass(frozen=True, eq=False)  # equal to itself only: verdicts are cached by rule
class Rule:
    """One sentence of a provider's contract. `RuleBook.rule()` makes a rule from a check.

    Args:
        id: The short ID, for example `ORD-002`. Rules of other wire formats may have it, too.
        level: `Level.MUST` or `Level.SHOULD`.
        kind: `Kind.REJECT` or `Kind.LOSS`.
        wire: Name of the wire format.
        sentence: The rule in one sentence: the first paragraph of the check's docstring.
        check: The function that yields a `Finding` for each place that it checks.
        source: Links and recordings that prove the rule.
        refusal: The provider's answer to a violation; `None` (default) if it does not refuse.
        formerly: The provider's answers in older recordings, or to what only a whole conversation shows. Default: none.
        explain: The other paragraphs of the docstring. Default: `""`.
        models: The models that the rule holds for, as `Scope` has them. Default: all models.
        providers: The providers that it holds for. Default: all that have the rule.
        versions: The API versions that it holds for. Default: all versions.
        betas: The beta features that it holds with; `"!name"`: without. Default: with and without.
        since: The first day on which it holds; `None` (default) for always.
        until: The first day on which it no longer holds; `None` (default) if it still does.
        preview: Whether a violation is reported but does not fail a run, because no refusal of a provider proves the
            rule yet. Default: `False`.
        examples: Bodies that conform. Default: none.
        counterexamples: Bodies that the rule must catch. Default: none.
        author: The provider whose own book has the rule, if it is not the one whose wire format it is. Default: `""`.

    Examples:
        >>> def content_is_there(request):
        ...     yield met("/content") if "content" in request.body else broken("/content", "it is missing")
        >>> rule = Rule("REQ-900", Level.MUST, Kind.REJECT, "anthropic", "The body has content.", content_is_there, ("…",))
        >>> rule.group, rule.refuses, rule.full_id
        ('REQ', True, 'anthropic/REQ-900')
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
    models: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    betas: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    preview: bool = False  # a reject rule without evidence from the provider: reported, but not a failure
    examples: tuple[Json, ...] = field(default=(), repr=False)  # bodies that conform
    counterexamples: tuple[Json, ...] = field(default=(), repr=False)  # bodies it must catch
    author: str = ""

    @property
    def full_id(self) -> str:
        """The ID that no other sentence has: `openai-chat/PAIR-001`, or `openai-chat/groq/REQ-007` for a provider's own
        rule. A rule about whole conversations holds for every wire format, and its short ID is unique.
        """
        return self.id if self.wire == "*" else "/".join(filter(None, (self.wire, self.author, self.id)))

    @property
    def page(self) -> str:
        """The permanent address of the rule's page."""
        return page_of(self.full_id)

    @property
    def group(self) -> str:
        """The group of the rule: `ORD` for `ORD-002`."""
        return self.id.partition("-")[0]

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The provider's answers to a violation, now and formerly."""
        return (*([self.refusal] if self.refusal else ()), *self.formerly)

    @property
    def refuses(self) -> bool:
        """Whether the provider is known to refuse a request that breaks the rule."""
        return self.kind is Kind.REJECT and self.level is Level.MUST and not self.preview

    @cached_property
    def scope(self) -> Scope:
        """Where and when the rule holds."""
        return Scope(self.models, self.providers, self.versions, self.betas, self.since, self.until)

    def holds_for(self, request: Request) -> bool:
        """Tells whether the rule is in force for a request on its day.

        Args:
            request: The request.

        Examples:
            >>> rule = Rule("REQ-900", Level.MUST, Kind.REJECT, "anthropic", "The body has content.", print, ("…",), models=("small-*",))
            >>> [rule.holds_for(Request("anthropic", "anthropic", {}, model=model)) for model in ("small-1", "large-1")]
            [True, False]
        """
        return self.scope.holds(request)


# --- Verdicts --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Violation:
    """A broken rule, at a place.

    Args:
        rule: The rule.
        pointer: JSON pointer of the place.
        message: What is wrong there.
        facts: Values that fill the provider's error text. Default: empty.

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
    findings, and the rules about types report the rest. After a thousand violations, a subject is not looked at any further.

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
    violations: list[Violation] = []
    count = 0
    try:
        for count, found in enumerate(rule.check(subject), 1):  # noqa: B007 - the verdict has it
            if found.problem is not None:
                violations.append(Violation(rule, found.pointer, found.problem, found.facts))
            if len(violations) >= VIOLATIONS.events:
                break
    except TypeError:
        if not isinstance(subject, Request):
            raise
    return Verdict(rule, count, tuple(violations)) if count else _not_applicable(rule)


@cache
def _not_applicable(rule: Rule) -> Verdict:
    """Returns the verdict on a subject that has nothing for the rule to check."""
    return Verdict(rule, 0, ())
