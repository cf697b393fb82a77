"""`conformance list --as-of` and `conformance diff-knowledge`."""

import json
import re
from pathlib import Path

import click
from click.testing import CliRunner

from ellmer_conformance import cli
from ellmer_conformance.cli.rules import diff_knowledge, explain
from ellmer_conformance.cli.rules import list as list_rules
from ellmer_conformance.cli.server import serve
from ellmer_conformance.contract import rules
from ellmer_conformance.contract.changes.provider_changes import provider_changes, table
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.server import Entry

PAGE = Path(__file__).parents[3] / "docs" / "conformance" / "news.md"


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


def test_the_difference_of_two_days_names_rules_versions_betas_models_and_profiles():
    told = json.loads(run(diff_knowledge.command, "2026-10-01", "2026-10-31", "--format", "json"))
    dated = [each for each in told if each["sort"] != "entry"]
    assert {each["about"].split()[0] for each in dated} == {"API", "beta", "models", "profile", "rule"}
    assert [each["day"] for each in told] == sorted(each["day"] for each in told)
    assert "REQ-122" in run(diff_knowledge.command, "2026-10-01", "2026-10-31", "--about", "anthropic")


def test_the_difference_has_the_entries_of_changelogs_with_what_knows_each():
    told = run(diff_knowledge.command, "2026-09-02", "2026-09-30", "--about", "openai")
    assert "2026-09-03  entry   OpenAI: GPT-6 Astra: no `temperature` (rules and server: Chat REQ-130" in told
    monthly = run(diff_knowledge.command, "2026-09-30", "2026-10-31", "--about", "mistral")
    assert "Mistral Large 4: the efforts `low`, `medium`, `high`, some day of 2026-10" in monthly


def test_the_page_of_news_has_each_entry():
    assert table() in PAGE.read_text("utf-8"), (
        "write its table again: python -m ellmer_conformance.contract.changes.provider_changes"
    )


def test_each_rule_of_an_entry_exists():
    ids = {rule.id for rule, _ in list_rules.all_rules()} | {
        id for book in rules.books() for id in book.rules
    }
    named = [id for each in provider_changes() for id in re.findall(r"[A-Z]{3,4}-\d{3}", each.judged)]
    assert len(named) > 20
    assert set(named) <= ids


def test_nothing_changes_on_one_day_and_a_day_is_a_date():
    assert run(diff_knowledge.command, "2026-10-21", "2026-10-21").startswith("No change in this time")
    assert CliRunner().invoke(diff_knowledge.command, ["yesterday", "2026-10-21"]).exit_code == 2


def test_the_servers_report_says_which_versions_and_betas_were_named():
    headers = {"anthropic-version": "2026-10-21", "anthropic-beta": "compact-2026-09-04"}
    claude = Request("anthropic", "anthropic", {}, headers=headers)
    seen = [Entry("any", "", each) for each in (claude, claude, Request("openai-chat", "openai", {}))]
    (line,) = serve.versions_used(seen)
    assert line == "anthropic: 2 requests named version 2026-10-21 with compact-2026-09-04."


def options(command, name):
    """Yields each option with the words of its command."""
    for option in command.params:
        if isinstance(option, click.Option):
            yield f"{name} {option.opts[-1]}", option
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            yield from options(command.get_command(context, each), f"{name} {each}")


def test_the_help_describes_every_option():
    found = dict(options(cli._group, "conformance"))
    assert len(found) > 100
    assert [name for name, option in found.items() if not (option.help or option.hidden)] == []


def test_the_fix_has_a_line_of_its_own():
    shown = run(explain.command, "openai-chat/PAIR-002")

    assert "\nFix: keep a call and its result together, or drop both.\n" in shown
