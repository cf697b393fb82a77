"""Every program of `examples/programs` runs against the strict server, and prints what its docstring says."""

import ast
import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from textwrap import dedent

import pytest

from ellmer_conformance.server import StrictServer

PROGRAMS = Path(__file__).parents[2] / "examples" / "programs"
ALL = sorted(PROGRAMS.rglob("*.py"))
TESTS = [path for path in ALL if path.stem.startswith("test_")]
SERVED = [
    PROGRAMS / "mcp_servers" / name for name in ("mcp_server.py", "seat_server.py")
]  # which other programs start
MARKS = {
    PROGRAMS / "mcp_servers" / "web_questions.py": pytest.mark.slow,
    PROGRAMS / "tools" / "screenshot.py": pytest.mark.skipif(
        not shutil.which("chromium"), reason="it needs chromium"
    ),
}


@pytest.fixture
def run(tmp_path):
    """Runs a command in an empty folder, where all models are the strict server, and judges what it was asked."""
    with StrictServer() as server:
        env = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_TOKEN"))}
        env |= {
            "OPENAI_API_KEY": "any-key",
            "ANTHROPIC_API_KEY": "any-key",
            "GEMINI_API_KEY": "any-key",
            "PYTHONWARNINGS": "error::UserWarning",
        }
        env |= {"OPENAI_BASE_URL": f"{server.origin}/v1", "ANTHROPIC_BASE_URL": server.origin}
        env |= {"GOOGLE_GEMINI_BASE_URL": server.origin, "OLLAMA_BASE_URL": server.origin}
        env["PYTEST_ADDOPTS"] = "-p no:shiny-test -p no:recording -p no:cacheprovider"

        def process(*command):
            done = subprocess.run(
                [sys.executable, *command],
                cwd=tmp_path,
                env=env,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done

        yield process
        assert [found for entry in server.requests for found in entry.violations] == []


def promised(path):
    """Returns the output that a program's docstring shows."""
    words = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    _, _, shown = words.partition("It prints:\n\n")
    return dedent(shown).strip()


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=MARKS.get(p, ())) for p in ALL if p not in TESTS + SERVED],
    ids=lambda path: path.stem,
)
def test_a_program_prints_what_it_says(path, run):
    done = run(str(path))
    pattern = re.sub(r"\[", "[[]", promised(path)).replace("…", "*")
    assert pattern
    assert fnmatchcase(done.stdout.strip(), pattern), done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_the_tests_of_an_example_pass(path, run):
    assert "3 passed" in run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)).stdout


def test_the_readme_has_each_program():
    named = re.findall(r"`(\w+\.py)`", (PROGRAMS / "README.md").read_text("utf-8"))
    assert {path.name for path in ALL} <= {*named}
    assert len(ALL) >= 15
