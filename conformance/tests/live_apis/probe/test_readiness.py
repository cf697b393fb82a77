"""What a probed server is ready for: its tiers, its clients, and the JSON for a website."""

import json

from ellmer_conformance.live_apis.probe.readiness import TIERS, lines, readiness, write
from ellmer_conformance.live_apis.probe.server_rules import book
from ellmer_conformance.report import Report, Row


def row(rule, verdict="pass", case="text", message=""):
    return Row(
        "mine", "openai-responses", "openai", case, "sync", rule, "MUST", "loss", verdict, 1, message=message
    )


GOOD = [row(rule) for rules in TIERS.values() for rule in rules if book.rules[rule].level == "MUST"]
NO_TOOLS = {"capability": "tools", "reason": "not found: it is refused"}


def of(rows, *absent):
    report = Report()
    report.rows, report.skipped = list(rows), list(absent)
    return readiness(report, "mine", "openai-responses")


def test_a_server_that_keeps_all_rules_is_ready():
    assert [*lines(of(GOOD))] == [
        "answers: kept",
        "tools and schemas: kept",
        "refusals: kept",
        "ready for Codex: yes",
    ]


def test_an_absent_feature_is_no_broken_contract():
    found = of(GOOD, NO_TOOLS)

    assert [tier.state for tier in found.tiers] == ["kept", "in part", "kept"]
    assert found.clients == {"Codex": ["it has no tools"]}


def test_a_broken_rule_is_the_reason():
    found = of([*GOOD, row("SRV-012", "fail", "text", "`response.completed` comes first")])

    assert "answers: broken (SRV-012)" in lines(found)
    assert "ready for Codex: no, because SRV-012 (text): `response.completed` comes first" in lines(found)


def test_a_refused_field_is_the_reason():
    found = of([*GOOD, row("SRV-006", "fail", "as Codex", "the answer is 422: 'prompt_cache_key'")])

    assert found.clients["Codex"] == ["it refuses what Codex sends: the answer is 422: 'prompt_cache_key'"]


def test_a_server_of_which_nothing_was_judged_is_not_ready():
    """A server that answered too late was called ready."""
    assert of([]).clients == {"Codex": ["nothing could be judged"]}


def test_few_and_short_reasons_are_printed_and_the_file_has_all(tmp_path):
    found = of([*GOOD, *(row(rule, "fail", message="x" * 500) for rule in TIERS["answers"][:5])])
    last = [*lines(found)][-1]

    assert len(last) < 500
    assert last.endswith("; and 2 more")
    assert len(json.loads(write(found, tmp_path).read_text())["clients"][0]["because"]) == 5


def test_a_broken_refusal_does_not_matter_to_a_client():
    assert not of([*GOOD, row("SRV-030", "fail")]).clients["Codex"]


def test_every_rule_of_a_server_is_in_a_tier():
    assert {rule for rules in TIERS.values() for rule in rules} == {*book.rules} - {"SRV-006"}


def test_a_website_can_read_it(tmp_path):
    told = json.loads(write(of(GOOD, NO_TOOLS), tmp_path / "out").read_text())

    assert told["tiers"][1] == {
        "name": "tools and schemas",
        "state": "in part",
        "broken": [],
        "absent": ["tools"],
    }
    assert told["clients"] == [{"name": "Codex", "ready": False, "because": ["it has no tools"]}]
