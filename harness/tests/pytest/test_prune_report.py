"""Unused recordings of a pytest run go into a file, which `ellmer-harness prune` reads."""

import json

import pytest

from ellmer_harness.cli import main

pytest_plugins = ["pytester"]

RECORD = """
    import pytest

    @pytest.mark.cassette("shared")
    def test_a(ask):
        [ask(n) for n in range(4)]

    @pytest.mark.cassette
    def test_b(ask):
        ask(), ask(1)

    @pytest.mark.cassette
    def test_c(ask):
        ask(), ask(1)
"""
REPLAY = """
    import pytest

    @pytest.mark.cassette("shared", allow_unused=True)
    def test_a(ask):
        ask(0)

    @pytest.mark.cassette("shared", allow_unused=True)
    def test_a_too(ask):
        ask(2)

    @pytest.mark.cassette
    def test_b(ask):
        ask(1)

    @pytest.mark.cassette
    def test_c(ask):
        ask()
        assert False, "before it asked for the rest"
"""


def numbers(path):
    return [each["request"]["body"]["json"]["n"] for each in json.loads(path.read_text())["interactions"]]


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="alone"),
        pytest.param(("-p", "xdist.plugin", "-n2"), id="xdist", marks=pytest.mark.slow),
    ],
)
def test_what_no_test_asked_for_is_pruned(suite, pytester, workers):
    suite(RECORD, "--cassette-mode=record").assert_outcomes(passed=3)
    folder = pytester.path / "cassettes" / "test_it"
    (folder / "test_gone.json").write_bytes((folder / "test_b.json").read_bytes())

    result = suite(REPLAY, "--cassette-report=out/report.json", *workers)
    result.assert_outcomes(passed=3, failed=1, errors=1)  # test_b left one; a failure of its own, at teardown

    report = pytester.path / "out" / "report.json"
    assert json.loads(report.read_text()) == {
        "unused": {
            str(folder / "shared.json"): [f"#{n} POST https://api.example.com/x" for n in (2, 4)],
            str(folder / "test_b.json"): ["#1 POST https://api.example.com/x"],
        },
        "orphans": [str(folder / "test_gone.json")],
    }
    assert main(["prune", str(folder), "--report", str(report), "--orphans"]) == 0
    assert {path.stem: numbers(path) for path in folder.glob("*.json")} == {
        "shared": [0, 2],
        "test_b": [1],
        "test_c": [0, 1],
    }


def test_a_part_of_a_run_reports_nothing(suite, pytester):
    suite(RECORD, "--cassette-mode=record")
    suite(REPLAY, "--cassette-report=report.json", "-k", "test_a and not too")
    assert json.loads((pytester.path / "report.json").read_text()) == {"unused": {}, "orphans": []}
