"""The facts as a package for Node.js: it is built from the command's data, and its own tests run."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ellmer_conformance import facts

EXAMPLE = Path(__file__).parents[3] / "examples" / "llm-facts-node"


@pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not installed")
def test_the_package_answers_from_the_data(tmp_path: Path):
    folder = shutil.copytree(EXAMPLE, tmp_path / "package")
    data = facts.as_data(facts.chosen(model="gpt-5-mini"))
    (folder / "facts.json").write_text(json.dumps(data), "utf-8")

    run = subprocess.run(
        ["node", "--test"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )

    assert run.returncode == 0, run.stdout
