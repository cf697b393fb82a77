"""The output at the end of a run: readable in all terminals, for any number of providers."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from ellmer_conformance.report import Report, Row
from ellmer_conformance.report.formats.terminal import _fix, print_report
from ellmer_conformance.report.results import Play

MODES = ("sync", "async", "stream", "async-stream")
EVERYWHERE = ("plain_text", "one_tool", "tool_returns_image")
HOME = (*EVERYWHERE, "system_prompt", "dangling_call", "empty_answer", "unknown_tool")
HOMES = [
    ("openai-chat", "openai"),
    ("openai-responses", "openai"),
    ("anthropic", "anthropic"),
    ("gemini", "google"),
]
OTHERS = [("openai-chat", f"provider_{n}") for n in range(20)] + [("gemini", "vertex")]


def row(wire, provider, case, mode):
    verdict = "refused-as-declared" if (provider, case) == ("provider_3", "tool_returns_image") else "pass"
    return Row("ellmer-core", wire, provider, case, mode, "ORD-001", "MUST", "reject", verdict, 1)


def printed(rows, width):
    file = io.StringIO()
    print_report(report_of(rows), Console(file=file, width=width))
    return file.getvalue()


def report_of(rows):
    return Report(rows=rows, plays=[Play(r.adapter, r.wire, r.provider, r.case, r.mode) for r in rows])


ROWS = [row(*place, case, mode) for place in HOMES for case in HOME for mode in MODES]
ROWS += [row(*place, case, mode) for place in OTHERS for case in EVERYWHERE for mode in MODES]


@pytest.mark.parametrize("width", [80, 120, 250])
def test_nothing_is_cut_and_every_play_has_its_mark(width):
    text = printed(ROWS, width)

    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert len(re.findall(r"[✓-]{4}(?=\s|$)", text)) == len(HOMES) * len(HOME) + len(OTHERS) * len(EVERYWHERE)


def test_providers_of_whom_little_is_played_are_lines_of_a_table_of_their_own():
    lines = printed(ROWS, 120).splitlines()

    assert next(line for line in lines if "provider_3 " in line).split() == [
        "provider_3",
        "✓✓✓✓",
        "✓✓✓✓",
        "----",
    ]
    assert next(line for line in lines if "vertex" in line).split()[:2] == ["vertex", "(gemini)"]
    assert [line.split() for line in lines if "dangling_call" in line] == [["dangling_call", *["✓✓✓✓"] * 4]]


def test_one_case_at_many_providers_has_a_line_for_each():
    lines = printed([r for r in ROWS if r.case == "one_tool"], 80).splitlines()

    assert sum("✓✓✓✓" in line for line in lines) == len(HOMES) + len(OTHERS)


def test_the_few_cases_that_are_played_without_a_recording_are_named():
    report = report_of(ROWS)
    report.plays[:2] = [replace(play, case="cancelled", way="server") for play in report.plays[:2]]
    file = io.StringIO()
    print_report(report, Console(file=file, width=120), details=True)

    assert "run against the strict server: cancelled\n" in file.getvalue()


def test_what_to_type_next_can_be_typed():
    failure = replace(
        row("anthropic", "anthropic", "one_tool", "sync"), verdict="fail", message="no", pointer="/x"
    )
    file, kept = io.StringIO(), io.StringIO()

    print_report(report_of([failure]), Console(file=file, width=60))
    print_report(report_of([failure]), Console(file=kept, width=60), Path("out of here"))

    assert file.getvalue().startswith("✗ 1 cause, 1 run\nellmer-core: sync\n")
    assert file.getvalue().endswith("\n✗ 1 cause, 1 run\n")
    assert "conformance repro" not in file.getvalue()
    assert "--report FOLDER writes" in file.getvalue()
    assert f"conformance repro '{failure.id}' --report 'out of here'\n" in kept.getvalue()


def test_what_is_left_out_is_a_line_each_that_fits_the_terminal():
    report = report_of(ROWS[:8])
    report.plays = [replace(play, way="server") for play in report.plays]
    report.capabilities = {"ellmer-core openai-chat/openai": {f"feature_{n}": "refused" for n in range(30)}}
    left = [("rule", f"CAS-{n:02}") for n in range(30)] + [("case", f"case_{n}") for n in range(30)]
    report.skipped = [
        {
            "adapter": "ellmer-core",
            "wire": "openai-chat",
            "case": "*",
            name: value,
            "reason": f"because {value}",
        }
        for name, value in left
    ]
    short, full = io.StringIO(), io.StringIO()

    print_report(report, Console(file=short, width=80))
    print_report(report, Console(file=full, width=80), details=True)

    lines = [line for line in short.getvalue().splitlines() if line.endswith("(--details)")]
    assert [line.partition(":")[0] for line in lines] == ["declared", "not judged", "not run"]
    assert max(map(len, short.getvalue().splitlines())) <= 80
    assert all(
        value in full.getvalue() for value in ("feature_29 refused", "because CAS-29", "because case_29")
    )


EVIL = "[bold]a[/bold]:smile:\x1b[31m\x9b2J\x07"


@pytest.mark.parametrize("places", [1, 9], ids=["cases by providers", "providers by cases"])
def test_names_that_others_wrote_are_neither_markup_nor_control(places):
    rows = [
        replace(row(EVIL, f"{EVIL}{n}", EVIL, mode), adapter=EVIL, verdict="fail", message=EVIL, pointer=EVIL)
        for n in range(places)
        for mode in MODES
    ]
    report = report_of(rows)
    report.problems.append(EVIL)
    report.capabilities[f"{EVIL} {EVIL}"] = {EVIL: EVIL}
    report.skipped.append({"rule": EVIL, "reason": EVIL, "case": EVIL, "adapter": EVIL, "wire": EVIL})
    report.plays = [replace(play, way="server") for play in report.plays]
    file = io.StringIO()
    print_report(report, Console(file=file, width=250, force_terminal=True, color_system=None), Path("out"))

    assert not set(file.getvalue()) & {"\x1b", "\x9b", "\x07"}
    assert file.getvalue().count("[bold]a[/bold]:smile:") > 10
    assert "😄" not in file.getvalue()


def of_cases(**verdicts):
    return [
        replace(row("anthropic", "anthropic", f"{name}_{n}", "sync"), verdict=name.replace("_", "-"))
        for name, times in verdicts.items()
        for n in range(times)
    ]


def test_in_little_space_cases_that_do_not_fail_are_one_line():
    quiet = of_cases(warn=30, expected_fail=1, **{"pass": 2})
    loud = " ".join(printed([*quiet, *of_cases(fail=1)], 80).split())

    assert "of the other 33 cases: 2 keep every rule, 30 have warnings only, 1 fails as the baseline" in loud
    assert "fail_0" in loud
    assert "warn_1" not in loud
    assert "\n33 cases: 2 keep every rule, 30 have warnings only, 1 fails as" in printed(quiet, 80)
    assert "✗" not in printed(quiet, 80)
    assert "warn_0" in printed(quiet, 120)
    assert "pass_0" in printed(of_cases(**{"pass": 2}), 80)


def test_a_case_that_did_not_run_in_a_mode_is_told_in_the_legend():
    two = [row("anthropic", "anthropic", "a", "stream"), row("anthropic", "anthropic", "b", "sync")]

    assert "· not run" in printed(two, 80)
    assert "ellmer-core: sync · stream\n" in printed(two, 80)
    assert "not run" not in printed([*two, replace(two[0], mode="sync"), replace(two[1], mode="stream")], 80)


def test_a_line_that_is_too_long_ends_with_a_word():
    said = "the result of the call is empty, and the model cannot tell it from a lost one"
    lines = printed([replace(each, message=said) for each in of_cases(warn=1)], 80).splitlines()

    assert "! ORD-001 (SHOULD) the result of the call is empty, and the model … (in 1 run)" in lines


def test_what_to_do_is_told_also_where_a_line_ends_before_it():
    assert _fix("Why: a client drops one. Fix:\nkeep both. The API takes them.") == "keep both"
