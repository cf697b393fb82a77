"""A run split over machines: `--shard 2/5` plays every fifth test, from the second on. `conformance merge` joins the
reports. A plugin of pytest of its own, so that xdist's processes choose the same tests."""

from __future__ import annotations

import re

import pytest

__all__ = ["parsed"]


def parsed(text: str) -> tuple[int, int]:
    """`2/5` as numbers. Raises ValueError."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    place, count = map(int, found.groups()) if found else (0, 0)
    if not 1 <= place <= count:
        raise ValueError(f"a shard has the form I/N, from 1/N to N/N, not {text!r}")
    return place, count


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option."""
    parser.getgroup("conformance").addoption(
        "--shard", default="", help="I/N: only every N-th test, from the I-th on"
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Says so where it makes no sense; a part of a run cannot tell which expected failures are gone."""
    try:
        parsed(config.getoption("shard") or "1/1")
    except ValueError as error:
        raise pytest.UsageError(f"--shard: {error}") from None
    collector = config.pluginmanager.get_plugin("conformance-collector")
    if collector is not None and config.getoption("shard"):
        collector.whole = False


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what other machines play; neighbours are alike, and so go to different ones."""
    place, count = parsed(config.getoption("shard") or "1/1")
    left_out = [item for number, item in enumerate(items) if number % count != place - 1]
    items[:] = items[place - 1 :: count]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
