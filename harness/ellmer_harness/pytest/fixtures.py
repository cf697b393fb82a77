"""Fixtures that configure cassettes, one for each option. Override any of them in a conftest or module.

`None` means the default of `use_cassette`. The arguments of a test's marker have priority.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ..format.files import file_name
from ..interception.virtual_clock import Clock
from ..secrets.redaction import Scrub
from ..store import Store
from ..tape.request_key import Match
from ..tape.stale_policies import Policy
from ..tape.tape_state import Judge, Mode

__all__ = [
    "cassette_blobs",
    "cassette_clock",
    "cassette_folder",
    "cassette_judge",
    "cassette_match",
    "cassette_max_age",
    "cassette_mode",
    "cassette_name",
    "cassette_options",
    "cassette_policies",
    "cassette_routes",
    "cassette_scrub",
    "cassette_store",
    "file_name",
]


@pytest.fixture
def cassette_folder(request: pytest.FixtureRequest) -> Path:
    """Returns the folder of a test's cassettes: `cassettes/<module>` beside its file."""
    return request.path.parent / "cassettes" / request.path.stem


@pytest.fixture
def cassette_name(request: pytest.FixtureRequest) -> str:
    """Returns the cassette's file name without its suffix: class, test and parameters."""
    owner = f"{request.cls.__qualname__}." if request.cls else ""
    return file_name(owner + request.node.name)


@pytest.fixture
def cassette_blobs(request: pytest.FixtureRequest) -> Path:
    """Returns the folder of binary bodies: `cassettes/blobs` beside the test's file."""
    return request.path.parent / "cassettes" / "blobs"


@pytest.fixture
def cassette_mode() -> Mode | None:
    """Returns the mode, if `--cassette-mode` is not given."""
    return None


@pytest.fixture
def cassette_match() -> Match:
    """Returns the `Match` that says when two requests are the same."""
    return Match()


@pytest.fixture
def cassette_scrub() -> Scrub | None:
    """Returns the `Scrub` that says what may be written: `Scrub.of({"NAME": "secret value"},
    keep=["x-header"])`.
    """
    return None


@pytest.fixture
def cassette_routes() -> Mapping[str, str] | None:
    """Returns the hosts that requests go to while recording."""
    return None


@pytest.fixture
def cassette_judge() -> Judge | None:
    """Returns the judge: a function that checks the requests of a recording."""
    return None


@pytest.fixture
def cassette_clock() -> Clock:
    """Returns the clock of the tape. `Clock(today=…)` fixes the date for new recordings and for the age of
    existing ones.
    """
    return Clock()


@pytest.fixture(scope="session")
def cassette_store(pytestconfig: pytest.Config) -> Store | str | None:
    """Returns the store that shares cassettes: `--cassette-store`, else `cassette_store` in the configuration
    file.
    """
    given = pytestconfig.getoption("--cassette-store")
    return given if given is not None else pytestconfig.getini("cassette_store") or None


@pytest.fixture
def cassette_max_age(pytestconfig: pytest.Config) -> float | None:
    """Returns the days until a recording is stale: `cassette_max_age` of the configuration file."""
    days = pytestconfig.getini("cassette_max_age")
    return float(days) if days else None


@pytest.fixture
def cassette_policies() -> Sequence[Policy]:
    """Returns further reasons why a recording is stale, besides those of the hook `pytest_cassette_stale`."""
    return ()


@pytest.fixture
def cassette_options() -> dict[str, Any]:
    """Returns further options of `use_cassette`. They override the fixtures, and the marker overrides them."""
    return {}
