"""Executes the six invariants: `nox -s invariants`. It prints how many cases were tried, how many failed, and how long it took.

`-- 5` tries five times as many streams and requests to the server. `-- --defects` puts back known defects, one at a time; the tests must notice each.
"""

# ruff: noqa: S603, T201 - it runs pytest, and prints
from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from .defects import DEFECTS

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "invariants"


@dataclass(frozen=True)
class Invariant:
    """A sentence, and the tests that execute it."""

    says: str
    tests: tuple[str, ...]


INVARIANTS = (
    Invariant(
        "The answer does not depend on how the bytes were cut.",
        (
            "tests/hostile/test_cut_bytes.py",
            "tests/hostile/test_every_split.py",
            "tests/hostile/test_every_piece.py",
        ),
    ),
    Invariant(
        "n pieces cost O(n).",
        (
            "tests/wire/answers/test_linear_streams.py",
            "tests/hostile/test_linear_patterns.py",
            "tests/hostile/test_linear_commands.py",
            "tests/wire/framing/test_aws_event_stream.py",
            "harness/tests/recordings/test_linear_readers.py",
            "conformance/tests/contract/rules/test_linear_rules.py",
        ),
    ),
    Invariant(
        "k bytes need c·k memory and a bounded time, in every reader.",
        (
            "tests/hostile/test_long_chunks.py",
            "tests/hostile/test_hostile_limits.py",
            "tests/hostile/test_hostile_heads.py",
            "tests/hostile/test_slow_downloads.py",
            "tests/hostile/test_under_load.py",
            "tests/hostile/test_forks_and_threads.py",
            "tests/hostile/test_compressed_answers.py",
            "tests/hostile/test_every_reader.py",
            "harness/tests/format/test_untrusted_cassettes.py",
            "conformance/tests/recordings/test_hostile_files.py",
            "conformance/tests/server/http/test_hostile_requests.py",
            "conformance/tests/server/model/test_descriptions_of_media.py",
            "conformance/tests/server/test_proxy.py",
            "conformance/tests/server/test_hostile_provider.py",
            "tests/web/test_read.py",
            "harness/tests/interception/test_mcp_servers.py",
            "tests/hostile/test_hostile_mcp.py",
            "tests/telemetry/test_spans.py",
        ),
    ),
    Invariant(
        "Killed anywhere, nothing is paid twice and nothing paid is lost.",
        (
            "tests/jobs/test_killed.py",
            "tests/jobs/test_parallel_journal.py",
            "tests/jobs/test_job_files.py",
            "conformance/tests/test_files.py",
            "tests/hostile/test_full_disk.py",
        ),
    ),
    Invariant(
        "What comes from outside names no file, runs nothing and shows nothing of its own.",
        (
            "tests/hostile/test_shown_from_outside.py",
            "tests/hostile/test_hostile_records.py",
            "tests/hostile/test_not_from_here.py",
            "tests/hostile/test_pages_from_elsewhere.py",
            "harness/tests/store/test_merged_cassettes.py",
            "conformance/tests/recordings/test_lying_recordings.py",
            "conformance/tests/recordings/test_lint_in_pull_requests.py",
        ),
    ),
    Invariant(
        "A key that came in never goes out.",
        (
            "tests/transport/test_sent_keys.py",
            "tests/hostile/test_quoted_keys.py",
            "tests/hostile/test_keys_elsewhere.py",
            "tests/hostile/test_canary.py",
            "harness/tests/secrets/test_quoted_keys.py",
            "harness/tests/secrets/test_compressed_secrets.py",
        ),
    ),
)


def main(arguments: list[str]) -> int:
    """Runs the invariants, or the defects, and returns 1 if one does not hold, or is not noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "scale", nargs="?", type=int, default=1, help="how many times as many streams and requests"
    )
    parser.add_argument("--defects", action="store_true", help="put back known defects, one at a time")
    options = parser.parse_args(arguments)
    return put_back() if options.defects else executed(options.scale)


def executed(scale: int) -> int:
    """Runs the tests of each invariant, and prints a line for each."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    broken, began = 0, time.monotonic()
    print(f"{'':3}{'cases':>9} {'failed':>7} {'seconds':>8} {'of CPU':>8}")
    for number, invariant in enumerate(INVARIANTS, 1):
        file = FOLDER / f"{number}.xml"
        file.unlink(missing_ok=True)
        start, used = time.monotonic(), processor()
        code = pytest(
            [*invariant.tests, "-n", "2", "-o", "junit_family=xunit1", f"--junitxml={file}"],
            {"INVARIANTS": str(scale)},
            quiet=False,
        )
        cases, failed = counted(file)
        broken += code != 0
        took = f"{time.monotonic() - start:8.1f} {processor() - used:8.1f}"
        print(f"{number}. {cases:9,} {failed:7} {took}  {invariant.says}", flush=True)
    print(
        f"{time.monotonic() - began:.0f} seconds, {processor():.0f} of CPU; {broken} of {len(INVARIANTS)} invariants do not hold"
    )
    return 1 if broken else 0


def processor() -> float:
    """Returns the seconds of all processors that the tests needed. A busy machine changes them little."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def counted(file: Path) -> tuple[int, int]:
    """Returns the number of cases that the tests tried, and of the tests that failed. A test that records no number is one case."""
    tests = ET.parse(file).getroot().iter("testcase")  # noqa: S314 - pytest wrote it
    cases = failed = 0
    for test in tests:
        recorded = [each.get("value", "1") for each in test.iter("property") if each.get("name") == "cases"]
        cases += sum(map(int, recorded)) if recorded else 1
        failed += test.find("failure") is not None or test.find("error") is not None
    return cases, failed


def put_back() -> int:
    """Runs the tests of each defect with the defect, and prints whether they notice it."""
    missed = 0
    for name, defect in DEFECTS.items():
        code = pytest(["-x", "-p", "devtools.defects", *defect.tests], {"DEFECT": name, "INVARIANTS": "1"})
        missed += code != 1
        verdict = "noticed" if code == 1 else f"NOT NOTICED (exit code {code})"
        print(f"{defect.invariant}. {name:34}{verdict:12}  {defect.does}", flush=True)
    print(f"{len(DEFECTS)} defects, {missed} not noticed")
    return 1 if missed else 0


def pytest(arguments: list[str], environment: dict[str, str], *, quiet: bool = True) -> int:
    """Runs pytest and returns its exit code: 1 if a test failed. Without `quiet`, failures are printed."""
    words = [sys.executable, "-m", "pytest", "-q", "--no-header", *arguments]
    done = subprocess.run(
        words, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode and not quiet:
        print(done.stdout[-6000:], done.stderr[-2000:])
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
