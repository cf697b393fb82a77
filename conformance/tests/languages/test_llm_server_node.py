"""The helper for Node starts the server, and fails a test for an illegal request. Its own tests run in Node."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "examples" / "llm-server-node"


def test_the_helper_for_node_passes_its_tests():
    node = shutil.which("node")
    if not node:
        pytest.skip("Node.js 20 is not installed")
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([node, "--test"], cwd=FOLDER, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass 3" in done.stdout
