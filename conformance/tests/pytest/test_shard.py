"""A run in parts gives the same report as the whole run."""

import json
from pathlib import Path

import pytest
from conformance_command import run_in

from ellmer_conformance.pytest.shard import parsed

pytestmark = pytest.mark.slow

CASES = [
    "--cassettes",
    Path(__file__).parents[3] / "cassettes",
    "--wire",
    "anthropic",
    "--case",
    "plain_text",
    "--case",
    "two_parallel_tools",
    "--provider",
    "anthropic",
]


def conformance(folder, *arguments, code=0):
    done = run_in(folder, *arguments)
    assert done.exit_code == code, done.output
    return done.output


def facts(folder):
    """Returns a report without the order of its rows."""
    report = json.loads((folder / "report.json").read_text())
    return {
        name: sorted(json.dumps(each, sort_keys=True) for each in value) if isinstance(value, list) else value
        for name, value in report.items()
    }


def test_shards_merged_are_the_whole_run(tmp_path):
    conformance(tmp_path, "run", *CASES, "--report", tmp_path / "whole")
    for part in ("1/2", "2/2"):
        conformance(tmp_path, "run", *CASES, "--shard", part, "--report", tmp_path / part[0])
    conformance(tmp_path, "merge", *(tmp_path / part for part in "12"), "-o", tmp_path / "merged")

    assert facts(tmp_path / "merged") == facts(tmp_path / "whole")
    plays = [len(json.loads((tmp_path / part / "report.json").read_text())["plays"]) for part in "12"]
    assert max(plays) - min(plays) <= 1


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "1/0", "1/2/3"])
def test_what_is_no_shard(text):
    with pytest.raises(ValueError, match="a shard has the form I/N"):
        parsed(text)


def test_no_shard_is_a_usage_error(tmp_path):
    said = conformance(tmp_path, "run", *CASES, "--shard", "4/3", code=2)

    assert "--shard: a shard has the form I/N" in said
