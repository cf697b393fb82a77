"""A small project with the folders of this one, a copy of the tools, and a map of its tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = '''\
"""A module."""

import subprocess
import sys

LIMIT = 3


def sign(number, zero=0):
    """Returns the sign."""
    if number < 0:
        return -1
    return 1 if number else zero


def within(number):
    return number <= LIMIT


def printed():
    command = [sys.executable, "-c", "import ellmer_core; print(ellmer_core.shown())"]
    return subprocess.run(command, capture_output=True, check=True).stdout.strip()


def shown():
    return "shown"


def never():
    return 1 + 1
'''
TESTS = """\
from pathlib import Path

import ellmer_core
import pytest


@pytest.mark.parametrize("number", [2, 3, 4, -1])
def test_sign(number):
    assert ellmer_core.sign(number) == (-1 if number < 0 else 1)


def test_within():
    assert ellmer_core.within(1)


def test_printed():
    assert ellmer_core.printed() == b"shown"


def test_data():
    assert Path(__file__).with_name("data.txt").read_text() == "data"
"""
FILES = {
    "ellmer_core/__init__.py": CODE,
    "harness/ellmer_harness/__init__.py": "",
    "harness/ellmer_harness/pytest/__init__.py": "",
    "harness/ellmer_harness/pytest/plugin.py": "",  # pytest finds it by the name of ours
    "conformance/ellmer_conformance/__init__.py": "",
    "conformance/ellmer_conformance/pytest/__init__.py": "",
    "conformance/ellmer_conformance/pytest/llm_server.py": "",  # likewise
    "tests/test_toy.py": TESTS,
    **{f"ellmer_core/other_{number}.py": "" for number in range(6)},
    "tests/data.txt": "data",
    ".gitignore": "build/\n__pycache__/\n.pytest_cache/\n",
}


class Project:
    """The project; `run` starts one of the tools in it."""

    def __init__(self, folder):
        self.folder = folder
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        shutil.copytree(ROOT / "devtools", folder / "devtools", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "devtools/mutation/survivors.toml").write_text("", "utf-8")
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--no-verify", "-m", "all")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True)

    def run(self, tool, *arguments):
        path = os.pathsep.join(str(self.folder / name) for name in ("", "harness", "conformance"))
        command = [sys.executable, "-m", f"devtools.{tool}", *arguments]
        return subprocess.run(
            command,
            cwd=self.folder,
            env=os.environ
            | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},  # `edit` is quicker than a file's time
            capture_output=True,
            text=True,
            check=False,
        )

    def edit(self, name, old, new):
        file = self.folder / name
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new), "utf-8")


@pytest.fixture(scope="session")
def mapped(tmp_path_factory):
    """The project with its map."""
    project = Project(tmp_path_factory.mktemp("project"))
    done = project.run("test_selection.reach")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture
def project(mapped):
    """The project as it was at first, also after other tests."""
    reach = (mapped.folder / "build" / "reach.sqlite").read_bytes()
    yield mapped
    (mapped.folder / "build" / "reach.sqlite").write_bytes(reach)
    mapped.git("reset", "--hard", "--quiet")
    mapped.git("clean", "-fdq")
