"""Settings for tests: they import the agent, and need no key in a replay."""

import os

import pytest


@pytest.fixture(autouse=True)
def key(monkeypatch):
    """Sets any key, because nothing is sent to a provider."""
    monkeypatch.setenv("OPENAI_API_KEY", os.environ.get("OPENAI_API_KEY", "any-key"))


@pytest.fixture
def cassette_options():
    """Names the origin of the cassettes: `record.py` records from the strict server."""
    return {"recorded_from": os.environ.get("RECORDED_FROM", "live")}


@pytest.fixture
def cassette_routes():
    """Leads requests to the server of `record.py`. The cassettes have the provider's own address."""
    server = os.environ.get("STRICT_SERVER")
    return {"https://api.openai.com": server} if server else {}
