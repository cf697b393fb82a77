"""The table of the chat library's features: the tests that it names exist."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FEATURES = (TESTS.parent / "docs" / "tested" / "feature-tests.md").read_text("utf-8")
NAMED = re.findall(r"`(\w+\.py)::(\w+)`", FEATURES)
AREAS = (
    "constructors", "content", "types", "tools", "results", "chat", "streams", "errors and retries", "tokens and cost",
    "echo and print", "text out", "persistence", "many", "prompts", "models",
)  # fmt: skip


def functions_of(file):
    [path] = TESTS.rglob(file)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("file", sorted({file for file, _ in NAMED}))
def test_every_test_that_is_named_exists(file):
    assert not {name for each, name in NAMED if each == file} - functions_of(file)


def test_every_area_names_tests():
    rows = [
        [cell.strip() for cell in row.split("|")[1:-1]]
        for row in FEATURES.splitlines()
        if row.startswith("| ")
    ]
    proven = {area for area, _, tests in rows if "::" in tests}
    assert set(AREAS) <= proven
