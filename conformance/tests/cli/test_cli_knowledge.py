"""`conformance list --as-of` and `conformance diff-knowledge`."""

import json

from click.testing import CliRunner

from ellmer_conformance.cli import diff_knowledge, serve
from ellmer_conformance.cli import list as list_rules
from ellmer_conformance.contract.exchange import Request
from ellmer_conformance.server import Entry


def run(command, *arguments):
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_list_as_of_a_day_has_the_rules_of_that_day():
    ids = {}
    for day in ("2026-10-20", "2026-10-21"):
        told = json.loads(run(list_rules.command, "--wire", "anthropic", "--as-of", day, "--format", "json"))
        ids[day] = {rule["id"] for rule in told["rules"]}
    assert ids["2026-10-21"] - ids["2026-10-20"] == {"REQ-122", "REQ-123", "REQ-124"}


def test_the_difference_of_two_days_names_rules_versions_betas_and_models():
    told = json.loads(run(diff_knowledge.command, "2026-10-01", "2026-10-31", "--format", "json"))
    assert {each["about"].split()[0] for each in told} == {"API", "beta", "models", "rule"}
    assert [each["day"] for each in told] == sorted(each["day"] for each in told)
    assert "REQ-122" in run(diff_knowledge.command, "2026-10-01", "2026-10-31", "--about", "anthropic")


def test_nothing_changes_on_one_day_and_a_day_is_a_date():
    assert run(diff_knowledge.command, "2026-10-21", "2026-10-21").startswith("Nothing that is known")
    assert CliRunner().invoke(diff_knowledge.command, ["yesterday", "2026-10-21"]).exit_code == 2


def test_the_servers_report_says_which_versions_and_betas_were_named():
    headers = {"anthropic-version": "2026-10-21", "anthropic-beta": "compact-2026-09-04"}
    claude = Request("anthropic", "anthropic", {}, headers=headers)
    seen = [Entry("any", "", each) for each in (claude, claude, Request("openai-chat", "openai", {}))]
    (line,) = serve.versions_used(seen)
    assert line == "anthropic: 2 requests named version 2026-10-21 with compact-2026-09-04."
