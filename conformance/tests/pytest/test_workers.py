"""Several workers give the report that one gives."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
CHOSEN = ("--case", "[op]*", "--wire", "cohere", "--wire", "ollama")


def plays(tmp_path, *more):
    command = "from ellmer_conformance.cli import main; main()"
    given = [sys.executable, "-c", command, "run", *CHOSEN, "--report", str(tmp_path), *more]
    subprocess.run(given, cwd=ROOT, check=True, capture_output=True)
    return json.loads((tmp_path / "report.json").read_text("utf-8"))["plays"]


def test_workers_change_no_order(tmp_path):
    alone, together = plays(tmp_path / "1"), plays(tmp_path / "2", "--workers", "2")

    assert len(alone) > 20
    assert together == alone
