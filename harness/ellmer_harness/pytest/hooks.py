"""Hooks that other pytest plugins and conftest files may implement."""

from __future__ import annotations

import pytest

from ..cassette.cassette_state import Recording


@pytest.hookspec
def pytest_cassette_stale(recording: Recording) -> str | None:
    """Returns a clause that says why a recording is too old (`the model x is retired`), or `None`. All
    implementations are called.
    """
