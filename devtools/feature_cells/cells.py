"""What a cell is. It needs only the standard library, because it runs in the environment of the library that it tries."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Cell(NamedTuple):
    """The symbol that the page should show, and how that is checked: it raises an error if it is wrong."""

    symbol: str
    kind: str
    check: Callable[[], object]


def runs(symbol: str, program: Callable[[], object]) -> Cell:
    """A program that succeeds."""
    return Cell(symbol, "program", program)


def names(symbol: str, *wanted: str) -> Cell:
    """Names that can be imported: `package.module:Class.method`, and `package:function(parameter)`."""

    def check() -> None:
        for each in wanted:
            _found(each)

    return Cell(symbol, "names", check)


def written(symbol: str, package: str, *wanted: str) -> Cell:
    """Names that the source of a package has, where it cannot be imported without packages that exclude others."""

    def check() -> None:
        assert {*wanted} <= _defined(package), f"{package} has no {sorted({*wanted} - _defined(package))}"

    return Cell(symbol, "names", check)


def nothing(pattern: str, *packages: str, but: str = "$^") -> Cell:
    """No module, class, function or parameter of the packages has a name that fits the pattern."""

    def check() -> None:
        found = [n for p in packages for n in _defined(p) if re.search(pattern, n) and not re.search(but, n)]
        assert not found, f"there are {sorted(set(found))[:8]}"

    return Cell("–", "search", check)


def _found(path: str) -> object:
    module, _, rest = path.partition(":")
    name, _, parameter = rest.rstrip(")").partition("(")
    found: object = importlib.import_module(module)
    for part in filter(None, name.split(".")):
        found = getattr(found, part)
    if parameter:
        target = found if callable(found) else type(found)
        fields: Mapping[str, object] = getattr(found, "model_fields", {})
        assert parameter in {*inspect.signature(target).parameters, *fields}, f"{path} is not there"
    return found


@cache
def _defined(package: str) -> frozenset[str]:
    """Returns the names of all modules, classes, functions and parameters in the source of a package."""
    folder = Path(str(importlib.import_module(package).__file__)).parent
    return frozenset(name for path in folder.rglob("*.py") for name in _names_in(path))


def _names_in(path: Path) -> Iterator[str]:
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name


def report(cells: Mapping[str, Cell]) -> None:
    """Runs the cells, and writes one line of JSON for each."""
    warnings.simplefilter("ignore")
    for row, cell in cells.items():
        error = ""
        try:
            cell.check()
        except BaseException as raised:
            error = "".join(traceback.format_exception_only(raised)).strip()[-600:]
        line = {"row": row, "symbol": cell.symbol, "kind": cell.kind, "error": error}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
