"""A run that is split over machines: `--shard 2/5` runs every fifth test, beginning with the second. `conformance
merge` joins the reports. It is a separate pytest plugin, so that all processes of xdist select the same tests.
"""

from __future__ import annotations

import re

import pytest


def parsed(text: str) -> tuple[int, int]:
    """Returns `2/5` as numbers. Raises ValueError."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    place, count = map(int, found.groups()) if found else (0, 0)
    if not 1 <= place <= count:
        raise ValueError(f"a shard has the form I/N, from 1/N to N/N, not {text!r}")
    return place, count


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.getgroup("conformance").addoption(
        "--shard", default="", help="I/N: run only every N-th test, from the I-th on"
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Raises a usage error for invalid combinations, because a part of a run cannot find stale expected failures."""
    try:
        parsed(config.getoption("shard") or "1/1")
    except ValueError as error:
        raise pytest.UsageError(f"--shard: {error}") from None
    collector = config.pluginmanager.get_plugin("conformance-collector")
    if collector is not None and config.getoption("shard"):
        collector.whole = False


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Removes the tests of other machines. Similar neighbours are distributed over all machines."""
    place, count = parsed(config.getoption("shard") or "1/1")
    left_out = [item for number, item in enumerate(items) if number % count != place - 1]
    items[:] = items[place - 1 :: count]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
