"""Every rule catches its mutants, and no rule refuses a conforming request."""

import copy
import json
import random
from dataclasses import replace
from datetime import date, timedelta

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.error_texts.error_bodies import read_error
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.contract.rule import Kind, Level, Refusal, Rule, Verdict, broken, met, verdict
from ellmer_conformance.contract.rulebook import RuleBook
from ellmer_conformance.contract.rules import behaviour
from ellmer_conformance.live_apis.probe import server_rules

PROVIDERS = {
    "openai-chat": ["", "azure", "deepseek", "groq", "moonshot", "qwen", "perplexity", "ollama"],
    "openai-responses": ["", "azure", "codex", "deepseek", "llamacpp", "perplexity"],
    "gemini": ["", "vertex"],
}
MORE = ["huggingface", "together", "github"]
BOOKS = [rules.book(wire, provider) for wire in rules.WIRES for provider in PROVIDERS.get(wire, [""])]
BOOKS += [rules.book("openai-chat", provider) for provider in MORE]


def new(book, rule):
    """Whether a provider's rule is more than its wire format's, doubted."""
    own = rules.book(book.wire)
    base = own.rules.get(rule.id)
    return book is own or base is None or (base.check, base.refusal) != (rule.check, rule.refusal)


RULES = [(book, rule) for book in BOOKS for rule in book.rules.values() if new(book, rule)]
#: Rules that no request of their wire format can break: an image of Ollama has no declared type.
OUT_OF_REACH = {"ollama/TRM-009"}


def name(value):
    if isinstance(value, RuleBook):
        return f"{value.wire}-{value.provider}"
    return value.id if isinstance(value, Rule) else None


def judged(book, rule, body):
    return verdict(rule, requested(book, rule, body))


def requested(book, rule, body):
    """Returns the request of an example, on a day on which the rule held."""
    day = rule.until - timedelta(days=1) if rule.until else rule.since
    return replace(book.request(body), when=day)


@pytest.mark.parametrize(("book", "rule"), RULES, ids=name)
def test_a_counterexample_is_caught_and_refused_as_the_api_would(book, rule):
    for body in rule.counterexamples:
        found = judged(book, rule, body).violations
        assert found, f"{rule.id} lets this pass: {json.dumps(body)}"
        for violation in found:
            assert violation.message
            assert violation.pointer == "" or violation.pointer.startswith("/")
            assert all(wording.filled(violation.facts).message for wording in rule.formerly)
        if rule.refusal:
            status, headers, answer = book.refuse(found[0])
            assert 400 <= status < 600
            assert read_error(status, answer).message, "the refusal says nothing"
            assert b"{" + rule.refusal.message.encode() + b"}" not in answer
            assert headers["content-type"]


@pytest.mark.parametrize(("book", "rule"), RULES, ids=name)
def test_an_example_passes_the_whole_book(book, rule):
    met_by = [body for body in rule.examples if judged(book, rule, body).checked]
    assert met_by or not rule.examples, f"{rule.id} meets its subject in none of its examples"
    for body in rule.examples:
        request = requested(book, rule, body)
        assert rule.holds_for(request), f"{rule.id} is not in force for its own example"
        assert not verdict(rule, request).violations, f"{rule.id} objects to {json.dumps(body)}"
        wrong = [each.rule.id for each in book.judge(request) if each.outcome == "fail"]
        assert not wrong, f"{wrong} object to {json.dumps(body)}"


def test_a_rule_says_what_it_is():
    for _, rule in RULES:
        assert rule.sentence.rstrip(")").endswith("."), rule.sentence
        assert rule.source, rule.id
        assert all(rule.source), f"{rule.id} has an empty source"
        assert (rule.refusal is not None) == (rule.kind is Kind.REJECT), rule.id
        if rule.full_id not in OUT_OF_REACH:
            assert rule.counterexamples, f"{rule.id} has no mutant: a rule that never fails proves nothing"
            assert rule.examples, rule.id


def test_every_rule_says_what_to_do():
    books = [*rules.books(), behaviour.book, server_rules.book]
    silent = {rule.full_id for book in books for rule in book.rules.values() if "Fix:" not in rule.explain}
    assert not silent


@pytest.mark.parametrize("book", [rules.book(wire) for wire in rules.WIRES], ids=name)
def test_a_counterexample_breaks_no_rule_of_another_family_without_reason(book):
    # A misplaced result has no call before it, a call without arguments is no object, …
    related = [{"ORD", "PAIR", "PAR", "REQ"}, {"THK", "PAIR"}, {"SCH", "STO", "REQ"}, {"IMG", "TRM", "REQ"}]
    related += [
        {"EMP", "REQ"},
        {"SYS", "REQ", "ORD"},
        {"EMP", "TRM"},
        {"PAIR", "EMP"},
        {"IMG", "EMP", "PAIR"},
    ]
    for rule in book.rules.values():
        for body in rule.counterexamples:
            others = {each.rule.group for each in book.judge(book.request(body)) if each.outcome == "fail"}
            others -= {rule.group}
            assert all(any({rule.group, other} <= each for each in related) for other in others), (
                f"{rule.id} and rules of {others} object to {json.dumps(body)}"
            )


@pytest.mark.parametrize("book", BOOKS, ids=name)
def test_a_check_survives_any_shape(book):
    for rule in [rule for of, rule in RULES if of is book]:
        for body in [{}, *map(mangled, rule.counterexamples + rule.examples)]:
            judged(book, rule, body)


def mangled(value):
    """Yields the JSON with each list and object replaced by a wrong value."""
    return dict(zip(value, [None, 5, "x", [None, 5, "x", [], {}], {}] * 9, strict=False))


@pytest.mark.parametrize("wire", [wire for wire in rules.WIRES if wire != "ollama"])  # that runs anywhere
def test_of_an_unknown_provider_nothing_is_refused(wire):
    book = rules.book(wire, "nobody-studied-it.example")
    assert not [rule.id for rule in book.rules.values() if rule.refuses]
    assert [rule.id for rule in book.rules.values() if rule.kind is Kind.LOSS]


def test_an_unknown_wire_format_is_told_with_the_known_ones():
    with pytest.raises(LookupError, match=r"'telegraph'.*openai-chat"):
        rules.book("telegraph")


def small_book():
    book = RuleBook("test", "home")

    @book.rule(
        "REQ-001",
        Level.MUST,
        Kind.REJECT,
        source="here",
        refusal=Refusal("no {what}", param="{what}"),
        models=["a*", "!ab*"],
    )
    def something_is_there(request):
        """Something
        is there.

        Why: because.
        """
        yield met("/x") if "x" in request.body else broken("", "nothing", what="x")

    return book


def test_the_docstring_is_the_sentence_and_the_explanation():
    rule = small_book().rules["REQ-001"]
    assert rule.sentence == "Something is there."
    assert rule.explain == "Why: because."
    assert rule.group == "REQ"


def outcomes(book, body):
    return [each.outcome for each in book.judge(book.request(body))]


def test_a_violation_is_answered_as_the_api_would():
    book = small_book()
    (broken_rule,) = book.judge(book.request({"model": "aa"}))
    (violation,) = broken_rule.violations
    status, _, body = book.refuse(violation)
    assert (status, body) == (400, b"no x")
    assert violation.refusal.param == "x"
    assert outcomes(book, {"model": "aa", "x": 1}) == ["pass"]
    assert outcomes(book, {"model": "b"}) == []


def test_a_loss_is_not_answered():
    book = RuleBook("test", "home")
    book.rule("TRM-001", Level.MUST, Kind.LOSS, source="here")(lambda _: iter([broken("/x", "gone")]))
    (violation,) = book.judge(book.request({}))[0].violations
    with pytest.raises(ValueError, match="the API does not refuse a violation of TRM-001"):
        book.refuse(violation)


@pytest.mark.parametrize(("model", "holds"), [("aa", True), ("abc", False), ("b", False)])
def test_a_rule_holds_for_the_models_it_names(model, holds):
    book = small_book()
    assert book.rules["REQ-001"].holds_for(book.request({"model": model})) is holds


@pytest.mark.parametrize(
    ("when", "holds"),
    [(None, False), (date(2024, 6, 1), True), (date(2025, 6, 1), False), (date(2023, 6, 1), False)],
)
def test_a_rule_of_the_past_holds_in_the_past(when, holds):
    rule = replace(small_book().rules["REQ-001"], since=date(2024, 1, 1), until=date(2025, 1, 1))
    request = replace(small_book().request({"model": "aa"}), when=when)
    assert rule.holds_for(request) is holds


def test_the_book_of_a_provider_withdraws_rewords_and_doubts():
    book = small_book()
    assert not book.extend("shy", without=["REQ-001"]).rules
    reworded = book.extend("rude", REQ_001={"refusal": Refusal("go away")})
    assert reworded.rules["REQ-001"].refusal.message == "go away"
    assert outcomes(book.extend("new", only=[]), {"model": "aa"}) == ["warn"]
    assert book.rules["REQ-001"].refuses, "the original is untouched"


def test_a_rule_that_never_met_its_subject_does_not_pass():
    rule = replace(small_book().rules["REQ-001"], check=lambda _: iter(()))
    assert verdict(rule, Request("test", "home", {})).outcome == "not-applicable"
    assert Verdict(rule, 1, ()).outcome == "pass"


def test_one_id_is_one_rule():
    book = small_book()
    with pytest.raises(ValueError, match="REQ-001 already"):
        book.rule("REQ-001", Level.MUST, Kind.LOSS, source="here")(lambda _: iter(()))


ODD = (None, True, -1.5, "", [], {}, [None], [{}], [["x"]], {"type": ["x"]}, [{"type": {}}])


def places(value):
    """Yields every place in a JSON value: the container and the key."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield value, key
        yield from places(each)


@pytest.mark.parametrize("wire", rules.WIRES)
def test_no_value_is_too_odd_for_a_rule(wire):
    book, lot = rules.book(wire), random.Random(1)
    bodies = [body for rule in book.rules.values() for body in (*rule.examples, *rule.counterexamples)]
    for _ in range(600):
        body = copy.deepcopy(lot.choice(bodies))
        container, key = lot.choice(list(places(body)))
        container[key] = lot.choice(ODD)
        broken = [v for verdict in book.judge(book.request(body)) for v in verdict.violations]
        assert all(violation.message for violation in broken)
        assert all(book.refuse(violation)[0] >= 400 for violation in broken if violation.refusal)


def test_a_refusal_of_a_schema_names_the_field_as_gemini_does():
    book = rules.book("gemini")
    rule = book.rules["SCH-015"]
    for body in rule.counterexamples[:2]:
        violation = verdict(rule, book.request(body)).violations[0]
        assert b"* GenerateContentRequest.tools[0]" in book.refuse(violation)[2]
