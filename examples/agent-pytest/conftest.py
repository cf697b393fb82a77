"""The tests import the agent, and need no key while they replay."""

import os

import pytest


@pytest.fixture(autouse=True)
def key(monkeypatch):
    """Any key will do: nothing is sent to a provider."""
    monkeypatch.setenv("OPENAI_API_KEY", os.environ.get("OPENAI_API_KEY", "any-key"))


@pytest.fixture
def cassette_options():
    """A cassette says who answered: `record.py` records from the strict server."""
    return {"recorded_from": os.environ.get("RECORDED_FROM", "live")}
