"""A pytest plugin for the processes that `conformance run` starts. It makes garbage collection rare."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from ..garbage_collection import collected_rarely


def pytest_configure(config: pytest.Config) -> None:
    """Sets the garbage collector until pytest ends."""
    stack = ExitStack()
    stack.enter_context(collected_rarely())
    config.add_cleanup(stack.close)
