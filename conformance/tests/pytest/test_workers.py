"""Several workers give the same report as one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conformance_command import run_in

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
CHOSEN = ("--case", "o*", "--wire", "cohere")


def plays(folder):
    return json.loads((folder / "report.json").read_text("utf-8"))["plays"]


def test_workers_change_no_order(tmp_path):
    cases = (*CHOSEN, "--cassettes", str(ROOT / "cassettes"))
    assert run_in(tmp_path, "run", *cases, "--report", tmp_path / "1").exit_code == 0
    process = [sys.executable, "-c", "from ellmer_conformance.cli import main; main()", "run", *cases]
    subprocess.run([*process, "--report", tmp_path / "2", "--workers", "2"], check=True, capture_output=True)

    alone, together = plays(tmp_path / "1"), plays(tmp_path / "2")

    assert len(alone) >= 12
    assert together == alone
