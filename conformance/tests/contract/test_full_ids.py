"""One id, one sentence: the full id of a rule is its own, at every provider, and its short id is an alias."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from ellmer_conformance.adapters.endpoints import PROVIDER_ADDRESSES
from ellmer_conformance.cli.rules.explain import command as explain
from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rules import behaviour
from ellmer_conformance.live_apis.probe import server_rules
from ellmer_conformance.pytest.plugin import check_rules, is_chosen
from ellmer_conformance.report.baseline import load
from ellmer_conformance.report.formats.sarif import sarif
from ellmer_conformance.report.report_json import rule_text
from ellmer_conformance.report.results import Report, Row

ROW = Row("mine", "openai-chat", "deepseek", "text", "sync", "REQ-007", "MUST", "reject", "fail", 1)


def every_book():
    yield from rules.books()
    yield from (rules.book(*place) for place in PROVIDER_ADDRESSES)
    yield from (behaviour.book, server_rules.book)


def test_a_full_id_has_one_sentence():
    told = {}
    for book in every_book():
        for rule in book.rules.values():
            assert told.setdefault(rule.full_id, rule.sentence) == rule.sentence, rule.full_id
    assert told["openai-chat/PAIR-001"] != told["anthropic/PAIR-001"]
    assert told["openai-chat/groq/REQ-007"] != told["openai-chat/REQ-007"]


@pytest.mark.parametrize(
    ("id", "texts"),
    [
        ("anthropic/PAIR-001", 1),
        ("PAIR-001", 8),
        ("openai-chat/groq/REQ-007", 1),
        ("TXT-005", 1),
        ("IMG-039", 1),  # only watsonx has it
        ("REQ-131", 1),  # only InvokeModel has it
    ],
)
def test_explain_knows_full_ids_and_short_ones(id, texts):
    said = CliRunner().invoke(explain, [id]).output
    heads = [line for line in said.splitlines() if line.endswith((" has it)", "(any wire format)"))]
    assert len(heads) == texts
    assert any(line.split()[0].endswith(id) for line in heads)


def test_explain_finds_the_text_of_a_provider_that_no_adapter_plays():
    told = CliRunner().invoke(
        explain, ["Reason: Url must be a base64 encoded image and cannot start with 'http'"]
    )
    assert told.output.startswith("openai-chat/watsonx/IMG-039  ")


@pytest.mark.parametrize("glob", ["REQ-007", "openai-chat/REQ-007", "openai-chat/deepseek/req-*", "REQ"])
def test_filters_know_both(glob):
    check_rules([glob])
    assert is_chosen(ROW, [glob])
    assert not is_chosen(replace(ROW, wire="anthropic", rule="ORD-009"), [glob])


@pytest.mark.parametrize("rule", ["REQ-007", "openai-chat/REQ-007", "openai-chat/*/REQ-007"])
def test_baselines_know_both(rule, tmp_path):
    file = tmp_path / "baseline.toml"
    file.write_text(f'[[expect]]\nrule = "{rule}"\nreason = "known"\nissue = "https://example.com/1"\n')
    baseline = load(file)
    assert baseline.expected(ROW).verdict == "expected-fail"
    assert baseline.expected(replace(ROW, rule="REQ-005")).verdict == "fail"
    assert (
        baseline.expected(replace(ROW, wire="mistral", provider="mistral")).verdict == "expected-fail"
    ) == (rule == "REQ-007")


def test_code_scanning_gets_a_descriptor_for_each_sentence():
    rows = [
        replace(ROW, wire=wire, provider=provider, rule="PAIR-001")
        for wire, provider in sorted(PROVIDER_ADDRESSES)[:9]
    ]
    texts = [rule_text(rules.book(r.wire, r.provider).rules["PAIR-001"], r.wire, r.provider) for r in rows]
    (run,) = json.loads(sarif(Report(rows=rows, rules=texts, tool={"name": "conformance", "version": "0"})))[
        "runs"
    ]
    described = {each["id"]: each["shortDescription"]["text"] for each in run["tool"]["driver"]["rules"]}
    assert [each["ruleId"] for each in run["results"]] == [text["full_id"] for text in texts]
    assert {text["full_id"]: text["sentence"] for text in texts} == described
