"""A plugin of pytest that runs the tests that the file `$CHOSEN_TESTS` names, in its order, and no others.

A line is a node ID, one without its parameters, a file, or a folder. So no name has to be a valid argument of a command.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    order = {name: number for number, name in enumerate(chosen())}
    places = {
        item: min((order[name] for name in names(item.nodeid) if name in order), default=-1) for item in items
    }
    config.hook.pytest_deselected(items=[item for item in items if places[item] < 0])
    items[:] = sorted((item for item in items if places[item] >= 0), key=lambda item: places[item])


def chosen() -> list[str]:
    """Returns the names of the file."""
    return Path(os.environ["CHOSEN_TESTS"]).read_text("utf-8").split("\n")


def names(node: str) -> Iterator[str]:
    """Yields all names that choose a test."""
    path, _, _ = node.partition("::")
    yield node
    yield node.partition("[")[0]
    yield path
    yield from map(str, PurePosixPath(path).parents)


def command(tests: list[str], file: Path) -> tuple[list[str], dict[str, str]]:
    """Writes the names to a file, and returns the arguments and the environment of a pytest that runs them."""
    file.write_text("\n".join(tests), "utf-8")
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    return ["-p", __name__, *files], {"CHOSEN_TESTS": str(file)}
