"""Each sentence of a guarantee of `SECURITY.md` has tests in `promises.toml`, each guarantee has a row in
`docs/tested/attacks.md`, and the tests that are named there exist.
"""

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from ellmer_core.base import budget

ROOT = Path(__file__).parents[2]
PACKAGES = ("ellmer_core", "harness/ellmer_harness", "conformance/ellmer_conformance")
BUDGETS = [name for name, value in vars(budget).items() if isinstance(value, budget.Budget)]
FOLDERS = ("tests", "harness/tests", "conformance/tests")
SECURITY = (ROOT / "SECURITY.md").read_text("utf-8")
GUARANTEES = re.findall(r"^- \*\*(.+?)\*\*", SECURITY, re.MULTILINE)
PROMISES = tomllib.loads(Path(__file__).with_name("promises.toml").read_text("utf-8"))
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


def sentences():
    """Yields each sentence of a guarantee; the first one has the guarantee before it."""
    for guarantee in re.split(r"^- (?=\*\*)", SECURITY.rpartition("\n\n")[0], flags=re.MULTILINE)[1:]:
        yield from re.split(r"(?<=[.)])\s+(?=[A-Z`(])", " ".join(guarantee.split()))


def test_each_sentence_of_a_guarantee_has_its_tests_and_each_entry_is_a_sentence():
    said = [[begin for begin in PROMISES if sentence.startswith(begin)] for sentence in sentences()]

    assert [sentence for sentence, entries in zip(sentences(), said, strict=True) if len(entries) != 1] == []
    assert sorted(PROMISES) == sorted(entry for entries in said for entry in entries)


@pytest.mark.parametrize("begin", PROMISES)
def test_the_tests_of_a_sentence_exist(begin):
    named = [each.split() for each in PROMISES[begin] if each != "limit"]
    assert PROMISES[begin]
    assert all(len(names) > 1 for names in named)
    assert [name for file, *names in named for name in names if name not in functions_of(file)] == []


def test_each_budget_is_used():
    sources = [path.read_text("utf-8") for folder in PACKAGES for path in (ROOT / folder).rglob("*.py")]
    modules = Counter(word for text in sources for word in {*re.findall(r"\b[A-Z_]+\b", text)})
    assert [name for name in BUDGETS if modules[name] < 2] == []
