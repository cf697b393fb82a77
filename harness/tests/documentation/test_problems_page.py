"""docs/tested/recorder-problems.md: the tests that it names exist, and pytest collects them."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parents[1] / "docs" / "tested" / "recorder-problems.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(test_\w+\.py(?:::\w+)+)`", PAGE)


def written(file, *, slow=True):
    """`file::Class::test` of every test in a file, with or without those that another session runs."""
    [path] = TESTS.rglob(file)
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = f"::{node.name}" if isinstance(node, ast.ClassDef) else ""
        tests = [each for each in inner if isinstance(each, ast.FunctionDef) and (slow or not is_slow(each))]
        yield from (f"{file}{owner}::{each.name}" for each in tests)


def is_slow(test):
    return "pytest.mark.slow" in map(ast.unparse, test.decorator_list)


def test_twenty_pains_have_tests():
    rows = re.findall(r"^\| (\d+) \|(.*)$", PAGE, re.MULTILINE)
    assert [int(number) for number, _ in rows] == [*range(1, 21)]
    assert not [number for number, row in rows if not re.search(r"`test_\w+\.py::", row)]


def test_every_test_that_is_named_is_there(request):
    files = {name.partition("::")[0] for name in NAMED}
    assert not set(NAMED) - {name for file in files for name in written(file)}
    # Of files that this very run collected whole, pytest itself knows.
    collected = {item.nodeid.rpartition("/")[2].partition("[")[0] for item in request.session.items}
    if not any("::" in argument for argument in request.config.args) and not request.config.option.keyword:
        present = {name.partition("::")[0] for name in collected} & files
        usual = {name for file in present for name in written(file, slow=False)}
        assert not (usual & set(NAMED)) - collected
