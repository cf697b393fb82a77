"""The benchmarks start, and their quick forms run to the end. What they measure is not judged here."""

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def program():
    return import_module("bench.__main__")


def run(*arguments):
    command = [sys.executable, "-m", "bench", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_each_benchmark_can_be_imported_and_run(program):
    needs = {"browser": "playwright"}
    for name, benchmark in program.BENCHMARKS.items():
        if name not in needs or find_spec(needs[name]):
            assert callable(import_module(f"bench.{benchmark.module}").run)


def test_the_help_lists_each_benchmark(program):
    done = run("--help")
    assert done.returncode == 0
    assert all(f"    {name} " in done.stdout or f"    {name}\n" in done.stdout for name in program.BENCHMARKS)


def test_an_unknown_benchmark_is_a_usage_error():
    done = run("cor")
    assert done.returncode == 2
    assert "invalid choice: 'cor'" in done.stderr


@pytest.mark.parametrize(
    ("options", "missed", "code"), [(["--quick"], 1, 0), ([], 1, 1), ([], 0, 0)], ids=str
)
def test_a_missed_target_fails_unless_little_was_measured(program, monkeypatch, options, missed, code):
    monkeypatch.setattr(program, "measured", lambda name, options: missed and name == "replay")
    assert program.main(["all", *options]) == code


@pytest.mark.skipif(sys.platform == "win32", reason="its servers are stopped as POSIX stops them")
def test_the_quick_form_measures_the_strict_server():
    done = run("server", "--quick")
    assert done.returncode == 0, done.stderr
    assert "200 of 200 streams" in done.stdout
    assert "all different" in done.stdout
