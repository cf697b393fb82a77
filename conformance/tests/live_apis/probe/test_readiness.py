"""What a probed server is ready for: its tiers, its features, its clients, and the JSON for a website."""

import json

import jsonschema
import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.live_apis.probe import open_responses
from ellmer_conformance.live_apis.probe.profiles import profiles
from ellmer_conformance.live_apis.probe.readiness import TIERS, lines, readiness, schema, write
from ellmer_conformance.live_apis.probe.server_rules import book
from ellmer_conformance.report import Report, Row


def row(rule, verdict="pass", case="text", message=""):
    level = str(book.rules[rule].level)
    return Row(
        "mine", "openai-responses", "openai", case, "sync", rule, level, "loss", verdict, 1, message=message
    )


GOOD = [row(rule) for rules in TIERS.values() for rule in rules if book.rules[rule].level == "MUST"]
GOOD += [row(rule) for rule in open_responses.RULES]
NO_TOOLS = {"capability": "tools", "reason": "not found: the answer is 400"}
NO_SOCKET = {"capability": "WebSocket", "reason": "not found: the answer is 404"}
FAILING = {"capability": "images", "reason": "broken: the answer is 500"}


def of(rows, *skipped):
    report = Report()
    report.rows, report.skipped = list(rows), list(skipped)
    return readiness(report, "mine", "openai-responses")


def codex(found):
    return next(client for client in found.clients if client.name == "Codex")


def test_a_server_that_keeps_all_rules_is_ready():
    told = [*lines(of(GOOD))]

    assert told[:4] == [
        "answers: kept",
        "tools and schemas: kept",
        "refusals: kept",
        "Open Responses 2026-04-24: kept",
    ]
    assert f"ready for Codex {codex(of(GOOD)).version}: yes" in told


def test_an_absent_feature_is_no_broken_contract():
    found = of(GOOD, NO_TOOLS, NO_SOCKET, FAILING)

    assert [tier.state for tier in found.tiers] == ["kept", "feature absent", "kept"]
    assert codex(found).because == ["it has no tools"]
    assert "tools and schemas: feature absent: tools" in lines(found)
    assert "Open Responses 2026-04-24: feature absent: tools, WebSocket" in lines(found)
    assert [(each.name, each.state) for each in found.features] == [
        ("tools", "feature absent"),
        ("WebSocket", "feature absent"),
        ("images", "contract broken"),
    ]


def test_a_feature_that_is_accepted_and_answered_wrongly_is_a_broken_contract():
    found = of([*GOOD, row("SRV-020", "fail")], {"capability": "tools", "reason": "found"})

    assert [(each.state, each.because) for each in found.features] == [("contract broken", "SRV-020")]


def test_a_broken_rule_is_the_reason():
    found = of([*GOOD, row("SRV-012", "fail", "text", "`response.completed` comes first")])

    assert "answers: contract broken (SRV-012)" in lines(found)
    assert codex(found).because == ["SRV-012 (text): `response.completed` comes first"]


def test_a_rule_of_the_specification_matters_to_no_client():
    found = of([*GOOD, row("OPR-003", "warn", "text", "the last event is not `[DONE]`")])

    assert "Open Responses 2026-04-24: contract broken (OPR-003)" in lines(found)
    assert codex(found).ready


def test_a_refused_field_is_the_reason():
    found = of([*GOOD, row("SRV-006", "warn", "as Codex", "the answer is 422: 'prompt_cache_key'")])

    assert codex(found).because == ["it refuses what Codex sends: the answer is 422: 'prompt_cache_key'"]


def test_a_request_that_the_api_itself_refuses_says_nothing_of_a_server():
    unsent = {
        "case": "as Codex",
        "rule": "SRV-006",
        "reason": "the provider's own API refuses what Codex sends",
    }

    assert codex(of(GOOD, unsent)).ready is None
    assert codex(of([*GOOD, row("SRV-012", "fail")], unsent)).ready is False


def test_a_server_of_which_nothing_was_judged_is_not_ready():
    """A server that answered too late was called ready."""
    assert codex(of([])).ready is None
    assert codex(of([])).because == ["nothing could be judged"]


def test_few_and_short_reasons_are_printed_and_the_file_has_all(tmp_path):
    must = [rule for rule in TIERS["answers"] if book.rules[rule].level == "MUST"]
    found = of([*GOOD, *(row(rule, "fail", message="x" * 500) for rule in must[:5])])
    last = next(line for line in lines(found) if line.startswith("ready for Codex"))

    assert len(last) < 500
    assert last.endswith("; and 2 more")
    assert len(json.loads(write(found, tmp_path).read_text())["clients"][0]["because"]) == 5


def test_a_broken_refusal_does_not_matter_to_a_client():
    assert codex(of([*GOOD, row("SRV-030", "fail")])).ready


def test_every_rule_of_a_server_is_in_a_tier_or_a_specification():
    named = {rule for rules in TIERS.values() for rule in rules} | set(open_responses.RULES)

    assert named == {*book.rules} - {"SRV-006"}


def test_a_website_can_read_it(tmp_path):
    told = json.loads(write(of(GOOD, NO_TOOLS), tmp_path / "out").read_text())

    jsonschema.validate(told, schema())
    assert told["tiers"][1] == {
        "name": "tools and schemas",
        "state": "feature absent",
        "broken": [],
        "absent": ["tools"],
    }
    assert next((each["name"], each["ready"]) for each in told["clients"]) == ("Codex", False)


@pytest.mark.parametrize("profile", profiles(), ids=lambda each: f"{each.wire}-{each.name}")
def test_a_recorded_request_is_one_that_the_provider_takes(profile):
    """A profile that the API would refuse blames every server that is right."""
    model = {"anthropic": "claude-sonnet-5", "openai-chat": "gpt-4.1"}.get(profile.wire, "gpt-5.1")
    body = {"model": model, **profile.body}
    request = Request(profile.wire, "", body, model=model, headers=profile.headers)

    assert objection(rules.book(profile.wire).judge(request)) is None
    assert profile.body["stream"]
    assert profile.body["tools"]
    assert profile.version[0].isdigit()
    assert profile.recorded >= "2026-11-28"
