"""Which tests reach some lines, whatever these are.

A line in the body of a function is reached when the function runs, and the map knows by which tests. A line outside
runs once, at the import. It takes effect through its name: a default through the body of its function, a constant or
a field through the lines that mention it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from .reach import PACKAGES, Reach

Function = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=64)
def tree(source: str) -> ast.Module:
    """Returns a parsed file."""
    return ast.parse(source)


def function_at(source: str, line: int) -> Function | None:
    """Returns the innermost function whose header or body has this line."""
    around = [
        node
        for node in ast.walk(tree(source))
        if isinstance(node, Function) and first_line(node) <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=first_line, default=None)


def first_line(function: Function) -> int:
    """Returns the line of a function's first decorator, or of its `def`."""
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def tests_of(reach: Reach, path: str, lines: Iterable[int]) -> set[str]:
    """Returns the tests that run lines of a file, in the numbers of the map's source, or what takes effect by them."""
    source = reach.source(path)
    if source is None:
        return set()
    found: set[str] = set()
    for line in lines:
        function = function_at(source, line)
        if function and line >= function.body[0].lineno:
            found |= reach.tests_of_lines(path, statement_lines(function, line))
        elif function:
            found |= reach.tests_of_lines(
                path, range(function.body[0].lineno, (function.end_lineno or 0) + 1)
            )
        else:
            found |= _tests_of_names(reach, path, source, line)
    return found


def statement_lines(function: Function, line: int) -> range:
    """Returns the lines of the smallest statement around a line: an expression over five lines is one for coverage."""
    around = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    smallest = min(around, key=lambda node: (node.end_lineno or 0) - node.lineno, default=function)
    body = getattr(smallest, "body", None)
    end = body[0].lineno if isinstance(body, list) and body else (smallest.end_lineno or 0) + 1
    return range(smallest.lineno, max(end, smallest.lineno + 1))


def _tests_of_names(reach: Reach, path: str, source: str, line: int) -> set[str]:
    """Returns the tests of the lines that mention the names that a line outside of functions binds: in its file, else
    in the others, else the tests of the whole file.
    """
    names = list(names_at(source, line))
    if not names:
        return reach.tests_of_file(path)
    others = {
        other: text for other, text in reach.sources().items() if other.startswith(PACKAGES) and other != path
    }
    for sources in ({path: source}, others):
        found = {
            test
            for other, text in sources.items()
            for test in reach.tests_of_lines(other, set(mentions(text, names)) - {line})
        }
        if found:
            return found
    return reach.tests_of_file(path)


def names_at(source: str, line: int) -> Iterator[str]:
    """Yields the names that the statement at a line binds."""
    for node in ast.walk(tree(source)):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno <= line <= (node.end_lineno or 0):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))
        if isinstance(node, ast.ClassDef) and node.lineno <= line < node.body[0].lineno:
            yield node.name


def mentions(source: str, names: Iterable[str]) -> Iterator[int]:
    """Yields the numbers of the lines that mention one of the names."""
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    for number, text in enumerate(source.splitlines(), 1):
        if pattern.search(text):
            yield number
