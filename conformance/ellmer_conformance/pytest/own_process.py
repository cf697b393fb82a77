"""A pytest plugin for the processes that `conformance run` starts: their garbage is collected rarely."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from ..garbage_collection import collected_rarely

__all__ = ["pytest_configure"]


def pytest_configure(config: pytest.Config) -> None:
    """Sets the collector until pytest is done."""
    stack = ExitStack()
    stack.enter_context(collected_rarely())
    config.add_cleanup(stack.close)
