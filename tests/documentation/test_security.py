"""Each guarantee of `SECURITY.md` has a row in `docs/tested/attacks.md`, and the tests that the row names exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("tests", "harness/tests", "conformance/tests")
GUARANTEES = re.findall(r"^- \*\*(.+?)\*\*", (ROOT / "SECURITY.md").read_text("utf-8"), re.MULTILINE)
TABLE = (ROOT / "docs/tested/attacks.md").read_text("utf-8").partition("## Guarantees and their tests")[2]
ROWS = dict(re.findall(r"^\| ([^|]+) \| (`[^|]+) \|$", TABLE.partition("\n## ")[0], re.MULTILINE))


@cache
def functions_of(file):
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob(file)]
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    return {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_each_guarantee_has_tests_and_each_row_is_a_guarantee():
    assert len(GUARANTEES) > 5
    assert set(ROWS) == set(GUARANTEES)


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_the_tests_of_a_guarantee_exist(guarantee):
    files = [re.findall(r"`([\w.]+)`", cell) for cell in ROWS[guarantee].split("<br>")]
    assert all(len(names) > 1 for names in files)
    assert [name for file, *names in files for name in names if name not in functions_of(file)] == []
