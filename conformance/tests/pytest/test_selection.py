"""Marks and rules select runs; requirement sets are shown and compared."""

import json

import pytest
from click.testing import CliRunner

from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.cli.rules.requirements import command as requirements_command
from ellmer_conformance.pytest.plugin import MARKS, is_chosen, names_of
from ellmer_conformance.report import Report, Row, finished
from ellmer_conformance.report.formats.badge import badges
from ellmer_conformance.report.formats.markdown import markdown
from ellmer_conformance.report.formats.terminal import abilities, console, print_report, rows
from ellmer_conformance.report.results import Play
from ellmer_conformance.runner.selection import select
from ellmer_conformance.scenarios.case import MODES


def test_every_play_has_marks_that_are_registered():
    plays = select(["ellmer-core"], {"wire": ["anthropic"]})
    found = {play.id: set(names_of(play)) for play in plays}

    assert all(marks <= set(MARKS) for marks in found.values())
    assert found["ellmer-core/anthropic/anthropic/one_tool[async-stream]"] == {
        *("streaming", "asynchronous", "must", "area_tools"),
    }
    assert "advisory" in found["ellmer-core/anthropic/anthropic/calls_with_one_id[sync]"]


def modes_at(provider, plays):
    return {play.mode for play in plays if play.provider == provider and play.case.name == "one_tool"}


def test_further_providers_get_a_whole_and_a_streamed_mode():
    usual, every = select(["ellmer-core"], {}), select(["ellmer-core"], {}, every_mode=True)
    at_others = [
        modes_at(provider, usual) for provider in ("groq", "xai", "vllm", "zai", "deepseek", "vertex")
    ]

    assert modes_at("openai", usual) == modes_at("groq", every) == set(MODES)
    assert set(map(frozenset, at_others)) == {
        frozenset({"sync", "async-stream"}),
        frozenset({"async", "stream"}),
    }
    assert {(play.provider, play.case.name) for play in usual} == {
        (play.provider, play.case.name) for play in every
    }


def test_a_chosen_provider_has_every_mode():
    assert modes_at("groq", select(["ellmer-core"], {"provider": ["groq"]})) == set(MODES)
    assert modes_at("groq", select(["ellmer-core"], {"mode": ["sync"]})) == {"sync"}


@pytest.mark.parametrize(
    ("rule", "globs", "chosen"),
    [
        ("ORD-002", (), True),
        ("ORD-002", ("ORD",), True),
        ("ORD-002", ("ord-0*",), True),
        ("ORD-002", ("anthropic/ORD-002",), True),
        ("ORD-002", ("gemini/ORD-002",), False),
        ("ORD-002", ("PAIR", "STR-*"), False),
        ("RUN-001", ("PAIR",), True),
    ],
)
def test_rules_are_chosen_by_id_group_or_pattern(rule, globs, chosen):
    row = Row(
        "mine",
        "anthropic",
        "anthropic",
        "one_tool",
        "sync",
        rule,
        "MUST",
        "reject",
        "fail",
        1,
        "/exchanges/0",
    )
    assert is_chosen(row, globs) is chosen


def test_requirements_are_shown_and_compared():
    shown = CliRunner().invoke(requirements_command, ["2026-11"])
    same = CliRunner().invoke(requirements_command, ["2026-11", "--diff", "2026-11"])
    unknown = CliRunner().invoke(requirements_command, ["1999-01"])

    assert shown.exit_code == 0
    assert "ORD-002    MUST" in shown.output
    assert (same.exit_code, same.output) == (0, "")
    assert unknown.exit_code == 2
    assert "latest is 2026-11" in unknown.output


def test_what_is_new_since_a_set_is_named():
    found = CliRunner().invoke(requirements_command, ["now", "--diff", "2026-11"])

    assert all("→" in line for line in found.output.splitlines())
    assert found.exit_code == bool(found.output)


def a_report():
    place = ("mine", "gemini", "google", "one_tool", "sync")
    warned = Row(*place, "OPT-001", "SHOULD", "loss", "warn", 1, message="nobody asked for temperature")
    report = Report(rows=[warned], plays=[Play(*place)])
    report.capabilities = {
        "mine gemini/google": abilities(Capabilities(image_in_user="refused")),
        "mine gemini/vertex": abilities(Capabilities(image_in_user="refused")),
    }
    return finished(report)


def test_findings_that_fail_nobody_are_printed(capsys):
    import sys

    print_report(a_report(), console(sys.stdout), details=True)
    printed = capsys.readouterr().out

    assert "! OPT-001 (SHOULD) nobody asked for temperature (in 1 run, first one_tool[sync])" in printed
    assert "mine declares (gemini/google, gemini/vertex): modes sync async stream async-stream" in printed


def test_capabilities_are_in_every_report():
    report = a_report()

    assert Report.from_json(json.loads(json.dumps(report.as_json()))).capabilities == report.capabilities
    assert [(name, places) for name, places, _ in rows(report)] == [("mine", "gemini/google, gemini/vertex")]
    assert "image_in_user refused" in markdown(report, "out")


def test_a_badge_says_of_which_day_its_rules_are():
    (_, svg), (_, shield) = badges(a_report())

    assert "2026-11" in svg
    assert json.loads(shield)["message"].endswith("· 2026-11")
