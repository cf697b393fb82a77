"""Expected failures, from their listing until they are stale."""

import json
from dataclasses import replace
from datetime import date
from importlib.metadata import version

import pytest
from conformance_command import pytest_in, run_in

from ellmer_conformance.report import Play, Report, Row, read
from ellmer_conformance.report.baseline import FILE, Baseline, BaselineError, load, updated
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat

TODAY = date(2026, 11, 20)


def row(rule="ORD-003", case="dangling_call", mode="sync", verdict="fail", **more):
    shown = (
        {}
        if verdict in {"pass", "not-applicable"}
        else {"message": "the order is wrong", "fingerprint": "sha256:1"}
    )
    checked = 0 if verdict == "not-applicable" else 1
    place = ("mine", "openai-chat", "openai", case, mode)
    return Row(*place, rule, "MUST", "reject", verdict, checked, **shown | more)


def listed(tmp_path, *lines, **entry):
    """Returns the baseline of one entry."""
    said = {"rule": "ORD-003", "reason": "known", "issue": "https://example.org/1"} | entry
    text = "\n".join(
        ["[[expect]]", *(f"{name} = {json.dumps(value)}" for name, value in said.items()), *lines]
    )
    (tmp_path / "baseline.toml").write_text(text, encoding="utf-8")
    return load(tmp_path / "baseline.toml", today=TODAY)


def settled(baseline, *rows, whole=True):
    return baseline.settled([baseline.expected(r) for r in rows], whole=whole)


# in force ---------------------------------------------------------------------------------------------------


def test_a_listed_failure_is_expected_and_says_why(tmp_path):
    (found,), problems = settled(listed(tmp_path), row())

    assert (found.verdict, found.reason, found.issue) == ("expected-fail", "known", "https://example.org/1")
    assert problems == []
    assert Report(rows=[found]).exit_code == 0


@pytest.mark.parametrize(
    "entry",
    [
        {"rule": "ORD-*"},
        {"case": ["dang*", "other"]},
        {"mode": "sync"},
        {"wire": "openai-*", "provider": "openai"},
    ],
)
def test_names_may_be_globs_and_lists(tmp_path, entry):
    baseline = listed(tmp_path, **entry)

    assert baseline.expected(row()).verdict == "expected-fail"
    assert baseline.expected(row("TRM-001", "other_case", "stream")).verdict == "fail"


def test_an_untestable_adapter_may_be_expected_and_our_faults_never(tmp_path):
    baseline = listed(tmp_path, rule="*")

    assert baseline.expected(row(verdict="not-testable")).verdict == "expected-fail"
    assert baseline.expected(row(verdict="harness-error")).verdict == "harness-error"


def test_what_is_not_listed_still_fails(tmp_path):
    (_, other), problems = settled(listed(tmp_path), row(), row("TRM-001"))

    assert (other.verdict, problems) == ("fail", [])


# stale ------------------------------------------------------------------------------------------------------


def test_a_listed_failure_that_passes_is_an_unexpected_pass(tmp_path):
    rows, problems = settled(listed(tmp_path), row(verdict="pass"))

    assert [r.verdict for r in rows] == ["unexpected-pass"]
    assert "is stale: it passes now" in problems[0]
    assert Report(rows=rows).exit_code == 1


def test_a_wide_entry_is_no_promise_about_every_row(tmp_path):
    rows, problems = settled(listed(tmp_path), row(), row(case="plain_text", verdict="pass"))

    assert [r.verdict for r in rows] == ["expected-fail", "pass"]
    assert problems == []


def test_each_name_that_is_given_must_fail_somewhere(tmp_path):
    baseline = listed(tmp_path, mode=["sync", "stream"])
    rows, problems = settled(baseline, row(), row(mode="stream", verdict="pass"))

    assert [r.verdict for r in rows] == ["expected-fail", "unexpected-pass"]
    assert "stale in part: mode stream" in problems[0]


@pytest.mark.parametrize("left", [[], [row(verdict="not-applicable")]])
def test_an_entry_that_speaks_of_nothing_is_stale_in_a_whole_run(tmp_path, left):
    baseline = listed(tmp_path)

    assert "none of its verdicts was judged" in settled(baseline, *left)[1][0]
    assert settled(baseline, *left, whole=False)[1] == []


# expired, differing, conditional ------------------------------------------------------------------------------


@pytest.mark.parametrize(("until", "verdict"), [("2026-11-21", "expected-fail"), ("2026-11-20", "fail")])
def test_an_entry_ends_on_its_day(tmp_path, until, verdict):
    (found,), problems = settled(listed(tmp_path, f"until = {until}"), row())

    assert found.verdict == verdict
    assert len(problems) == (verdict == "fail")
    assert all("expired on 2026-11-20" in problem for problem in problems)


def test_another_failure_is_not_the_expected_one(tmp_path):
    (found,), problems = settled(listed(tmp_path, fingerprint="sha256:0"), row())

    assert found.verdict == "fail"
    assert "expects another failure" in problems[0]
    assert "sha256:1" in problems[0]
    assert settled(listed(tmp_path, fingerprint=["sha256:0", "sha256:1"]), row())[1] == []


@pytest.mark.parametrize(
    ("when", "verdict"),
    [
        (f"pytest == {version('pytest')}", "expected-fail"),
        ("pytest < 1", "fail"),
        ("no-such-package-anywhere", "fail"),
        ("pytest", "expected-fail"),
    ],
)
def test_a_condition_is_on_what_is_installed(tmp_path, when, verdict):
    (found,), problems = settled(listed(tmp_path, when=when), row())

    assert found.verdict == verdict
    assert problems == []


def test_flaky_rules_may_pass_and_may_fail(tmp_path):
    text = '[[flaky]]\nrule = "ORD-003"\nseen = "3/40"\nreason = "r"\nissue = "i"\n'
    (tmp_path / "b.toml").write_text(text)
    baseline = load(tmp_path / "b.toml")

    for verdict, expected in (("fail", "expected-fail"), ("pass", "pass")):
        (found,), problems = settled(baseline, row(verdict=verdict))
        assert (found.verdict, problems) == (expected, [])


def test_too_much_is_flaky(tmp_path):
    text = '[[flaky]]\nrule = "*"\nseen = "3/40"\nreason = "r"\nissue = "i"\n'
    (tmp_path / "b.toml").write_text(text)

    assert "2 of 2 rules are listed as flaky" in settled(load(tmp_path / "b.toml"), row(), row("X-1"))[1][0]


# the file -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[expect]\n", "is not TOML"),
        ('[[expect]]\nrule = "A-1"\nissue = "i"', r"expect entry 1 \(A-1\): reason is missing"),
        ('[[expect]]\nrule = "A-1"\nreason = "r"\nissue = ""', "issue is missing"),
        ('[[expect]]\nreason = "r"\nissue = "i"', "rule is missing"),
        ('[[expect]]\nrule = "A-1"\nreason = "r"\nissue = "i"\nscenario = "x"', "there is no 'scenario'"),
        ('[[expect]]\nrule = 3\nreason = "r"\nissue = "i"', "rule must be a string"),
        ('[[expect]]\nrule = "A-1"\nreason = "r"\nissue = "i"\nuntil = "soon"', "until must be a date"),
        (
            '[[expect]]\nrule = "A-1"\nreason = "r"\nissue = "i"\nwhen = "openai is old"',
            "when must be a package",
        ),
        ('[[flaky]]\nrule = "A-1"\nreason = "r"\nissue = "i"\nseen = "1/3"', "at least 20 runs"),
        ('[[skip]]\nrule = "A-1"', "unknown key 'skip'"),
    ],
)
def test_what_is_wrong_with_the_file_is_said(tmp_path, text, says):
    (tmp_path / "b.toml").write_text(text)

    with pytest.raises(BaselineError, match=says):
        load(tmp_path / "b.toml")


# update -------------------------------------------------------------------------------------------------------

KEPT = """# Agreed with the maintainers.

[[expect]]
rule = "ORD-003"   # the order
reason = "known"
issue = "https://example.org/1"
fingerprint = "sha256:1"

[[expect]]
rule = "TRM-001"
mode = ["sync", "stream"]
reason = "lost"
issue = "https://example.org/2"
"""


def update(tmp_path, text, *rows, **words):
    (tmp_path / "b.toml").write_text(text, encoding="utf-8")
    baseline = load(tmp_path / "b.toml", today=TODAY) if text else Baseline(today=TODAY)
    cases = dict.fromkeys(r.case for r in rows)
    plays = [
        Play("mine", "openai-chat", "openai", case, mode) for case in cases for mode in ("sync", "stream")
    ]
    found = [baseline.expected(r) for r in rows]
    return updated(text, baseline, Report(rows=found, plays=plays), **words)


def both(**change):
    return [row(**change, mode=mode) for mode in ("sync", "stream")]


def test_nothing_changes_where_nothing_changed(tmp_path):
    change = update(tmp_path, KEPT, row(), *both(rule="TRM-001"))

    assert (change.text, change.done) == (KEPT, [])


def test_a_stale_entry_goes_and_the_rest_stays_as_it_was(tmp_path):
    change = update(tmp_path, KEPT, row(verdict="pass"), *both(rule="TRM-001"))

    assert "ORD-003" not in change.text
    assert "# Agreed with the maintainers." in change.text
    assert change.text.endswith(KEPT[KEPT.index('[[expect]]\nrule = "TRM-001"') :])


def test_a_stale_name_goes(tmp_path):
    rows = [row("TRM-001"), row("TRM-001", mode="stream", verdict="pass")]

    assert update(tmp_path, KEPT, row(), *rows).text == KEPT.replace('["sync", "stream"]', '"sync"')


def test_a_new_fingerprint_replaces_the_old(tmp_path):
    change = update(tmp_path, KEPT, row(fingerprint="sha256:2"), *both(rule="TRM-001"))

    assert change.text == KEPT.replace("sha256:1", "sha256:2")


def test_new_failures_are_added_with_their_reason_and_make_the_next_run_green(tmp_path):
    rows = [row(), *both(rule="TRM-001"), *both(rule="PAR-001"), *both(rule="PAR-001", case="five")]
    change = update(tmp_path, KEPT, *rows, reason="to be mended", issue="https://example.org/3")

    assert change.text.startswith(KEPT.rstrip())
    assert len(change.added) == 1
    (tmp_path / "b.toml").write_text(change.text, encoding="utf-8")
    baseline = load(tmp_path / "b.toml", today=TODAY)
    found, problems = settled(baseline, *rows)
    assert {r.verdict for r in found} == {"expected-fail"}
    assert problems == []


def test_an_empty_list_is_begun(tmp_path):
    change = update(tmp_path, "", *both(), reason="r", issue="i")

    (tmp_path / "b.toml").write_text(change.text, encoding="utf-8")
    assert [e.patterns["case"] for e in load(tmp_path / "b.toml").entries] == [("dangling_call",)]


# from end to end ----------------------------------------------------------------------------------------------

BROKEN = """
from ellmer_conformance.adapters.ellmer_core import EllmerCore
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat

right = OpenAIChat.message
if {broken}:
    OpenAIChat.message = lambda self, turn: sorted(right(self, turn), key=lambda m: m["role"] == "tool")


class Mine(EllmerCore):
    name = "mine"
"""


def conformance(folder, *arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OpenAIChat, "message", OpenAIChat.message)  # to be put back
        return run_in(folder, *arguments)


@pytest.mark.slow
def test_the_life_of_a_baseline(tmp_path):
    choice = ("--wire", "openai-chat", "--provider", "openai", "--case", "dangling_call", "--mode", "sync")
    play = ("run", "--adapter", "mine:Mine", "--against", "server", *choice, "--report", "out")
    report = ("--report", "out")
    mine = tmp_path / "mine.py"

    mine.write_text(BROKEN.format(broken=True))
    first = conformance(tmp_path, *play)
    assert first.exit_code == 1, first.output
    assert "ORD-002 (fail)" in first.output
    assert "1 cause, 1 run" in first.output
    assert {r.rule for r in read(tmp_path / "out/report.json").failures} >= {"ORD-003"}
    assert conformance(tmp_path, "baseline", "update", *report).exit_code == 2  # no reason

    words = ("--reason", "the order", "--issue", "https://example.org/1")
    assert conformance(tmp_path, "baseline", "update", *report, *words).exit_code == 0
    expected = conformance(tmp_path, *play)
    assert expected.exit_code == 0, expected.output
    assert "expected-fail" in expected.output

    mine.write_text(BROKEN.format(broken=False))
    mended = conformance(tmp_path, *play)
    assert mended.exit_code == 1, mended.output
    assert "is stale" in mended.output
    assert "unexpected-pass" in mended.output

    assert conformance(tmp_path, "baseline", "update", *report).exit_code == 0
    assert conformance(tmp_path, *play).exit_code == 0


def test_a_run_of_other_tests_says_nothing_about_the_baseline(tmp_path):
    """Such a run ended with the exit code 1 and without a word, because its entries had no rows."""
    (tmp_path / "test_other.py").write_text("def test_other():\n    pass\n")
    entry = {"rule": "RUN-003", "reason": "known", "issue": "https://example.org/1"}
    text = "\n".join(["[[expect]]", *(f"{name} = {json.dumps(value)}" for name, value in entry.items())])
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    code, output = pytest_in(tmp_path, "-p", "ellmer_conformance.pytest.plugin", "test_other.py")

    assert "1 passed" in output
    assert code == 0, output


def test_fields_of_a_row_are_enough_to_settle(tmp_path):
    found = replace(row(), verdict="warn")

    assert listed(tmp_path).expected(found).verdict == "expected-fail"
