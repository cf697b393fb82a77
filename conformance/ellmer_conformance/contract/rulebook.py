"""The rules of one wire format, in the order in which the provider checks them.

The first violation is therefore the one that the API would have refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from inspect import cleandoc
from typing import Any, NamedTuple

from .observed.exchange import Json, Request
from .readers.json_access import reading_once
from .rule import Check, Finding, Kind, Level, Refusal, Rule, Verdict, Violation, broken, met, verdict
from .scope import api_version, named_betas

__all__ = ["ErrorBody", "RuleBook", "UnsupportedFeature", "add_feature_rules"]

ErrorBody = Callable[[Refusal], tuple[Mapping[str, str], bytes]]


def _plain(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    return {"content-type": "text/plain; charset=utf-8"}, refusal.message.encode("utf-8", "backslashreplace")


_LONGEST_NAME = 1000  # of a model whose rules are kept; anybody can ask for a model of any name


@dataclass
class RuleBook:
    """The rules of one wire format at one provider, in the provider's order of checks.

    Args:
        wire: Name of the wire format.
        provider: Name of the provider; empty (default) for the one whose own format it is.
        error_body: Function that makes the headers and the body of an error from a `Refusal`. Default: plain text.
        rules: The rules by short ID. Default: empty.
        author: The provider, if it only varies the format of another one; its own rules have its name in their full ID.
            Default: `""`, the format is its own.

    Examples:
        >>> book = RuleBook("my-format")
        >>> @book.rule("REQ-001", Level.MUST, Kind.REJECT, source="https://example.com", refusal=Refusal("no model"))
        ... def a_model_is_named(request):
        ...     "The request names a model."
        ...     yield met("/model") if "model" in request.body else broken("/model", "there is no model")
        >>> [verdict.outcome for verdict in book.judge(book.request({}))]
        ['fail']
    """

    wire: str
    provider: str = ""
    error_body: ErrorBody = field(default=_plain, repr=False)
    rules: dict[str, Rule] = field(default_factory=dict)
    author: str = ""
    _in_force: dict[tuple[object, ...], list[Rule]] = field(
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
        providers: Iterable[str] = (),
        versions: Iterable[str] = (),
        betas: Iterable[str] = (),
        since: date | None = None,
        until: date | None = None,
        preview: bool = False,
        examples: Iterable[Json] = (),
        counterexamples: Iterable[Json] = (),
    ) -> Callable[[Check], Check]:
        """Adds the decorated check to the book. The first paragraph of its docstring is the sentence of the rule.

        Args:
            id: The ID, for example `ORD-002`.
            level: `Level.MUST` or `Level.SHOULD`.
            kind: `Kind.REJECT` or `Kind.LOSS`.
            source: Links and recordings that prove the rule.
            refusal: The provider's answer to a violation; `None` (default) if it does not refuse.
            formerly: The provider's answers in older recordings, or to what only a whole conversation shows. Default:
                none.
            models: The models that the rule holds for, as `Scope` has them. Default: all models.
            providers: The providers that it holds for. Default: all that have the rule.
            versions: The API versions that it holds for. Default: all versions.
            betas: The beta features that it holds with; `"!name"`: without. Default: with and without.
            since: The first day on which it holds; `None` (default) for always.
            until: The first day on which it no longer holds; `None` (default) if it still does.
            preview: Whether a violation is reported but does not fail a run. Default: `False`.
            examples: Bodies that conform. Default: none.
            counterexamples: Bodies that the rule must catch. Default: none.

        Returns:
            A decorator, which returns the check unchanged.

        Raises:
            ValueError: The book has a rule with this ID already.

        Examples:
            >>> book = RuleBook("my-format")
            >>> @book.rule("REQ-001", Level.MUST, Kind.REJECT, source="https://example.com", refusal=Refusal("no model"))
            ... def a_model_is_named(request):
            ...     "The request names a model."
            ...     yield met("/model") if "model" in request.body else broken("/model", "there is no model")
            >>> book.rules["REQ-001"].sentence
            'The request names a model.'
        """

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
                providers=tuple(providers),
                versions=tuple(versions),
                betas=tuple(betas),
                since=since,
                until=until,
                preview=preview,
                examples=tuple(examples),
                counterexamples=tuple(counterexamples),
                author=self.author,
            )
            return check

        return enter

    def extend(
        self,
        provider: str,
        *,
        only: Sequence[str] | None = None,
        without: Sequence[str] = (),
        error_body: ErrorBody | None = None,
        wire: str = "",
        **changed: Mapping[str, Any],
    ) -> RuleBook:
        """Returns a provider's book: a copy without some rules, or with other wordings.

        Rules of the provider's own are added to the copy with `rule()`.

        Args:
            provider: Name of the provider.
            only: IDs of the reject rules that are known to hold there; the other reject rules become previews. Default: all hold.
            without: IDs of the rules that do not hold there. Default: none.
            error_body: The provider's error body. Default: the one of this book.
            wire: Name of a wire format that varies this one. Default: the same format.
            **changed: Fields of rules to change, by ID with an underscore: `ORD_002={"refusal": …}`.

        Examples:
            >>> RuleBook("my-format", "my-provider").extend("other-provider").provider
            'other-provider'
        """
        wire = wire or self.wire
        rules = {id: replace(rule, wire=wire) for id, rule in self.rules.items() if id not in without}
        for name, change in changed.items():
            id = name.replace("_", "-")
            rules[id] = replace(rules[id], **change)
        if only is not None:
            doubted = {id for id, rule in rules.items() if rule.kind is Kind.REJECT} - set(only)
            rules |= {id: replace(rules[id], preview=True) for id in doubted}
        return RuleBook(wire, provider, error_body or self.error_body, rules, author=provider)

    def request(self, body: Json) -> Request:
        """Makes a request with a body such as those of the examples.

        Args:
            body: The JSON body.

        Returns:
            The request. Its model is the one that the body names.

        Examples:
            >>> RuleBook("my-format").request({"model": "small-1"}).model
            'small-1'
        """
        return Request(
            self.wire, self.provider, body, model=str(body.get("model") or "").removeprefix("models/")
        )

    def judge(self, request: Request) -> list[Verdict]:
        """Returns the verdict of every rule on a request, in the order of the book.

        Args:
            request: The request.

        Examples:
            >>> book = RuleBook("my-format")
            >>> book.judge(book.request({}))
            []
        """
        with reading_once():
            return [verdict(rule, request) for rule in self.in_force(request)]

    def in_force(self, request: Request) -> list[Rule]:
        """Returns the rules that hold for a request. They depend on its model, its day, and the API version and the betas that it names.

        Args:
            request: The request.

        Examples:
            >>> book = RuleBook("my-format")
            >>> book.in_force(book.request({"model": "small-1"}))
            []
        """
        if len(request.model) > _LONGEST_NAME:
            return self._holding(request)
        when = request.when or date.today()  # noqa: DTZ011 - a provider's day has no time zone here
        key = (
            *(request.model, request.provider, when),
            *(api_version(request), named_betas(request), len(self.rules)),
        )
        if key not in self._in_force:
            if len(self._in_force) >= 256:  # anybody can ask for any model and any beta
                self._in_force.clear()
            self._in_force[key] = self._holding(request)
        return self._in_force[key]

    def _holding(self, request: Request) -> list[Rule]:
        return [rule for rule in self.rules.values() if rule.holds_for(request)]

    def refuse(
        self, violation: Violation, refusal: Refusal | None = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Returns the provider's answer to a violation: status, headers and body.

        Args:
            violation: The violation.
            refusal: Another wording of the answer. Default: the one of the rule.

        Raises:
            ValueError: The rule has no refusal, since the provider would not have noticed.

        Examples:
            >>> rule = Rule("REQ-900", Level.MUST, Kind.REJECT, "my-format", "The body has content.", print, ("…",))
            >>> RuleBook("my-format").refuse(Violation(rule, "/content", "it is missing"), Refusal("content is missing"))[0]
            400
        """
        refusal = refusal.filled(violation.facts) if refusal else violation.refusal
        if refusal is None:
            raise ValueError(
                f"the API does not refuse a violation of {violation.rule.id}: it answers 200 although data is lost"
            )
        headers, body = self.error_body(refusal)
        return refusal.status, headers, body


# --- Features that some models refuse: one line of data for each recorded refusal ------------------------


#: What to do about images and about tools that a model does not accept.
NO_IMAGES = "raise an error that names the model, or write a text in the image's place."
NO_TOOLS = "leave the tools out, or raise an error that names the model."


class UnsupportedFeature(NamedTuple):
    """A feature that some models refuse.

    Args:
        id: Short ID of its rule.
        sentence: The sentence of the rule.
        models: Patterns of the models that refuse it.
        refusal: The provider's answer. Its facts are `model`, the model's name, and `value`, the value at the pointer.
        source: One link or several, or what was recorded.
        found: A function that returns the pointer of the feature in a request, or `None`.
        taken: A body that is accepted.
        refused: A body that is refused.
        formerly: Earlier answers of the provider. Default: none.
        preview: Whether the rule only warns. Default: `False`.
        since: The first day of the refusal. Default: any.
        until: The first day without it. Default: none.
        versions: The API versions in which it holds. Default: all.
        fix: What to do, which the explanation has after `Fix:`. Default: `""`, nothing is said.

    Examples:
        >>> def logprobs(request):
        ...     return "/logprobs" if request.body.get("logprobs") else None
        >>> refusal = Refusal("logprobs is not supported with this model")
        >>> bodies = {"model": "small-1"}, {"model": "small-1", "logprobs": True}
        >>> source = "https://example.com"
        >>> feature = UnsupportedFeature("REQ-001", "No logprobs.", ("small-*",), refusal, source, logprobs, *bodies)
        >>> feature.found(RuleBook("my-format").request(feature.refused))
        '/logprobs'
    """

    id: str
    sentence: str
    models: tuple[str, ...]
    refusal: Refusal
    source: str | tuple[str, ...]
    found: Callable[[Request], str | None]
    taken: Json
    refused: Json
    formerly: tuple[Refusal, ...] = ()
    preview: bool = False
    since: date | None = None
    until: date | None = None
    versions: tuple[str, ...] = ()
    fix: str = ""


def add_feature_rules(book: RuleBook, features: Iterable[UnsupportedFeature]) -> None:
    """Adds a rule for each feature.

    Args:
        book: The rules of the provider.
        features: The features.

    Examples:
        >>> def logprobs(request):
        ...     return "/logprobs" if request.body.get("logprobs") else None
        >>> refusal = Refusal("logprobs is not supported with this model")
        >>> bodies = {"model": "small-1"}, {"model": "small-1", "logprobs": True}
        >>> source = "https://example.com"
        >>> feature = UnsupportedFeature("REQ-001", "No logprobs.", ("small-*",), refusal, source, logprobs, *bodies)
        >>> book = RuleBook("my-format")
        >>> add_feature_rules(book, [feature])
        >>> [verdict.outcome for verdict in book.judge(book.request(feature.refused))]
        ['fail']
    """
    for feature in features:
        book.rule(
            feature.id,
            Level.MUST,
            Kind.REJECT,
            source=feature.source,
            refusal=feature.refusal,
            formerly=feature.formerly,
            models=feature.models,
            preview=feature.preview,
            since=feature.since,
            until=feature.until,
            versions=feature.versions,
            examples=[feature.taken],
            counterexamples=[feature.refused],
        )(_check(feature))


def _check(feature: UnsupportedFeature) -> Check:
    def check(request: Request) -> Iterator[Finding]:
        place = feature.found(request)
        if place is None:
            yield met("/model")
        else:
            yield broken(
                place,
                "this model does not accept it",
                model=request.model,
                value=_value_at(request.body, place),
            )

    check.__doc__ = f"{feature.sentence}\n\nFix: {feature.fix}" if feature.fix else feature.sentence
    return check


def _value_at(value: Any, pointer: str) -> Any:
    """Returns the value at a JSON pointer."""
    for name in pointer.split("/")[1:]:
        value = value[int(name)] if isinstance(value, list) else value.get(name)
    return value
