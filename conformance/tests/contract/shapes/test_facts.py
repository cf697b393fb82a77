"""Facts about object types: what decides a fault, and that every fact has something to open."""

import re
from pathlib import Path

import pytest

from ellmer_conformance.contract import rules, shapes
from ellmer_conformance.contract.rules.openai_chat import _refusals_and_examples as oc
from ellmer_conformance.contract.shapes import Fault, FaultKind
from ellmer_conformance.contract.shapes.checker import Checker
from ellmer_conformance.contract.shapes.facts import Fact, aspect, deciding, facts

NAMES = sorted(file.stem for file in Path(shapes.__file__).parent.glob("*.json"))
ASPECTS = {*FaultKind, "null", "empty"}
_REPOSITORY = re.compile(r"https://github\.com/[^/]+/[^/]+")


def decided(name, body, provider=""):
    """Returns what decides each fault of a request: refused, accepted or nothing."""
    found = {}
    for fault in shapes.checker(name).faults(body):
        fact = deciding(name, fault, provider)
        found[fault.pointer] = "unknown" if fact is None else "refused" if fact.refused else "accepted"
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_refusal_has_a_link_to_a_refusal_and_no_link_to_a_repository(name):
    assert facts(name)
    for fact in facts(name):
        assert fact.fault in ASPECTS
        assert fact.evidence or (not fact.refused and fact.because), fact
        assert not [link for link in fact.evidence if _REPOSITORY.fullmatch(link)], fact


@pytest.mark.parametrize("name", NAMES)
def test_an_accepted_fault_names_a_field_or_an_open_type_of_the_shape(name):
    text = (Path(shapes.__file__).parent / f"{name}.json").read_text("utf-8")
    for fact in facts(name):
        if not fact.refused and name != "ollama":
            types = [each for each in fact.types if "*" not in each]
            assert all(f'"type": "{each}"' in text for each in types), fact


def test_a_null_of_an_optional_field_is_decided_by_a_fact_about_null_only():
    typed = Fact(True, FaultKind.WRONG_TYPE)
    null = Fault(FaultKind.WRONG_TYPE, None, owner="Request", field="stop")
    assert aspect(null) == "null"
    assert not typed.decides(null, "")
    assert typed.decides(Fault(FaultKind.WRONG_TYPE, None, owner="Request", field="stop", required=True), "")


def test_a_fault_belongs_to_the_innermost_type_wherever_it_is_used():
    part = {"fields": {"text": {"string": {}}}, "type": "Part"}
    node = {"object": {"type": "Request", "fields": {"parts": {"array": {"items": {"object": part}}}}}}
    (fault,) = Checker({"root": node}).faults({"parts": [{"text": 5}]})
    assert (fault.owner, fault.field, fault.pointer) == ("Part", "text", "/parts/0/text")


CHAT = [
    (oc.body(oc.ASK, tools=[{**oc.TOOL, "bogus": 1}]), "accepted"),
    (oc.body(oc.ASK, tools=[{**oc.TOOL, "function": {**oc.TOOL["function"], "bogus": 1}}]), "accepted"),
    (oc.body(oc.ASK, tools=[{**oc.TOOL, "function": {"name": "now", "parameters": None}}]), "accepted"),
    (oc.body(oc.ASK, response_format=None), "accepted"),
    (oc.body(oc.ASK, {"role": "assistant", "content": "5", "bogus": 1}), "accepted"),
    (oc.body({**oc.ASK, "type": "text/plain"}), "accepted"),
    (oc.body({"role": "user", "content": [{"type": "text", "text": "Hi", "bogus": 1}]}), "unknown"),
    (oc.body({"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": 1}]}), "accepted"),
    (oc.body({"role": "user", "content": [{"type": "file", "file": {"bogus": 1}}]}), "refused"),
    (oc.body(oc.ASK, tools=[{"type": "web_search_preview"}]), "accepted"),
    (oc.body(oc.ASK, tool_choice=[]), "refused"),
]


@pytest.mark.parametrize(("body", "verdict"), CHAT)
def test_openais_facts_decide(body, verdict):
    assert set(decided("openai-chat", body, "openai").values()) == {verdict}


def test_what_nothing_decides_is_reported_and_never_refused():
    book = rules.book("openai-chat")
    body = oc.body({"role": "user", "content": [{"type": "text", "text": "Hi", "bogus": 1}]})
    broken = [verdict.rule for verdict in book.judge(book.request(body)) if verdict.violations]
    assert [(rule.id, rule.refuses) for rule in broken] == [("REQ-107", False)]


def test_explain_names_the_fact_and_its_evidence():
    from click.testing import CliRunner

    from ellmer_conformance.cli import _group

    said = CliRunner().invoke(_group, ["explain", "REQ-101", "--wire", "openai-chat"]).output
    assert "What is on record:" in said
    assert "unknown field accepted in ChatCompletionFunctionToolParam, FunctionDefinition" in said
    assert "\nDecided by: unknown field refused in " in said
