"""The attacks on files in `docs/tested/attacks.md`, one of each."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "attacks.py"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="it forks")
def test_killed_processes_full_disks_and_many_writers_leave_whole_files():
    done = subprocess.run(
        [sys.executable, SCRIPT, "--count", "1"], capture_output=True, text=True, check=False
    )

    assert [line.split("|")[2:] for line in done.stdout.splitlines()] == [[" 1 ", " 0 ", ""]] * 3, done.stderr
    assert done.returncode == 0
