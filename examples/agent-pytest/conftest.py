"""Settings for tests: they import the agent, and need no key in a replay."""

import os

import pytest


@pytest.fixture(autouse=True)
def key(monkeypatch):
    """Sets any key and the provider's own address, because a replay sends nothing."""
    monkeypatch.setenv("OPENAI_API_KEY", os.environ.get("OPENAI_API_KEY") or "any-key")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def cassette_options():
    """Names the origin of the cassettes: `record.py` records from the strict server."""
    return {"recorded_from": os.environ.get("RECORDED_FROM", "live")}


@pytest.fixture
def cassette_routes():
    """Leads requests to the servers of `record.py`. The cassettes have the addresses that the agent asks."""
    servers = {"https://api.openai.com": "STRICT_SERVER", "https://weather.example.com": "WEATHER_SERVER"}
    return {host: os.environ[name] for host, name in servers.items() if os.environ.get(name)}
