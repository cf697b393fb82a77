"""A `RuleBook` holds the rules of one wire format in the order in which the provider checks them, so that the first
violation is what the API would have said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from inspect import cleandoc
from typing import Any

from .exchange import Json, Request
from .readers.read_cache import reading_once
from .rule import Check, Kind, Level, Refusal, Rule, Verdict, Violation, verdict

__all__ = ["Envelope", "RuleBook"]

Envelope = Callable[[Refusal], tuple[Mapping[str, str], bytes]]


def _plain(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    return {"content-type": "text/plain; charset=utf-8"}, refusal.message.encode("utf-8", "backslashreplace")


@dataclass
class RuleBook:
    """The rules of one wire format at one provider, in the provider's order of checks.

    `envelope(refusal)` gives the headers and the body that the provider puts around its own sentence.
    """

    wire: str
    vendor: str = ""
    envelope: Envelope = field(default=_plain, repr=False)
    rules: dict[str, Rule] = field(default_factory=dict)
    _in_force: dict[tuple[str, date | None, int], list[Rule]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def rule(
        self,
        id: str,
        level: Level,
        kind: Kind,
        *,
        source: str | Sequence[str],
        refusal: Refusal | None = None,
        formerly: Iterable[Refusal] = (),
        models: Iterable[str] = (),
        since: date | None = None,
        until: date | None = None,
        preview: bool = False,
        examples: Iterable[Json] = (),
        counterexamples: Iterable[Json] = (),
    ) -> Callable[[Check], Check]:
        """Enters the decorated check in the book. The first paragraph of its docstring is the sentence."""

        def enter(check: Check) -> Check:
            if id in self.rules:
                raise ValueError(
                    f"the book of {self.wire} has a rule {id} already: {self.rules[id].sentence}"
                )
            sentence, _, explain = cleandoc(check.__doc__ or "").partition("\n\n")
            self.rules[id] = Rule(
                id=id,
                level=level,
                kind=kind,
                wire=self.wire,
                sentence=" ".join(sentence.split()),
                check=check,
                source=(source,) if isinstance(source, str) else tuple(source),
                refusal=refusal,
                formerly=tuple(formerly),
                explain=explain,
                models=tuple(models),
                since=since,
                until=until,
                preview=preview,
                examples=tuple(examples),
                counterexamples=tuple(counterexamples),
            )
            return check

        return enter

    def extend(
        self,
        vendor: str,
        *,
        only: Sequence[str] | None = None,
        without: Sequence[str] = (),
        envelope: Envelope | None = None,
        wire: str = "",
        **changed: Mapping[str, Any],
    ) -> RuleBook:
        """A provider's dialect: a copy without some rules, with some reworded (`ORD_002={"refusal": …}`).

        `only` names the reject rules that are known to hold there: the others become previews. Rules of the
        provider's own are entered in the copy with `rule()`. `wire` is for a format that is a dialect of this one.
        """
        wire = wire or self.wire
        rules = {id: replace(rule, wire=wire) for id, rule in self.rules.items() if id not in without}
        for name, change in changed.items():
            id = name.replace("_", "-")
            rules[id] = replace(rules[id], **change)
        if only is not None:
            doubted = {id for id, rule in rules.items() if rule.kind is Kind.REJECT} - set(only)
            rules |= {id: replace(rules[id], preview=True) for id in doubted}
        return RuleBook(wire, vendor, envelope or self.envelope, rules)

    def request(self, body: Json) -> Request:
        """A request with a body as the examples are: the model is the one it names, whatever the format."""
        return Request(
            self.wire, self.vendor, body, model=str(body.get("model") or "").removeprefix("models/")
        )

    def judge(self, request: Request) -> list[Verdict]:
        """Every rule's verdict on one request, in the order of the book."""
        with reading_once():
            return [verdict(rule, request) for rule in self.in_force(request)]

    def in_force(self, request: Request) -> list[Rule]:
        """The rules that hold for the request's model on its day."""
        key = (request.model, request.when, len(self.rules))
        if key not in self._in_force:
            if len(self._in_force) >= 256:  # anybody can ask for any model
                self._in_force.clear()
            self._in_force[key] = [r for r in self.rules.values() if r.holds_for(request.model, request.when)]
        return self._in_force[key]

    def refuse(
        self, violation: Violation, refusal: Refusal | None = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        """The provider's answer to a violation: status, headers, body. `refusal` is another wording of it.

        Raises ValueError where the rule has no refusal: the provider would not have noticed.
        """
        refusal = refusal.filled(violation.facts) if refusal else violation.refusal
        if refusal is None:
            raise ValueError(
                f"the API does not refuse a violation of {violation.rule.id}: it answers 200 although data is lost"
            )
        headers, body = self.envelope(refusal)
        return refusal.status, headers, body
