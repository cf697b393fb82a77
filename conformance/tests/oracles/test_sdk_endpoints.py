"""Each endpoint that the official SDKs call is served, or is answered with 501 in the provider's form."""

from collections import Counter

import httpx
import pytest
from sdks.endpoints import Endpoint, endpoints

from ellmer_conformance.server import StrictServer

BEARER = {"authorization": "Bearer k"}
HEADERS = {
    "openai": BEARER,
    "mistral": BEARER,
    "cohere": BEARER,
    "bedrock": BEARER,
    "ollama": {},
    "anthropic": {"x-api-key": "k", "anthropic-version": "2023-06-01"},
    "gemini": {"x-goog-api-key": "k"},
}
BASE = {"openai": "/v1", "mistral": "/c/any/-@mistral", "cohere": "/c/any/-@api.cohere.com"}
#: What the server says of a path that no provider has.
UNKNOWN = (
    "Invalid URL",
    "Requested entity was not found: ",
    "no Route matched",
    "invalid path",
    "UnknownOperation",
    "404 page",
    '"Not Found"',
)


def asked(server: StrictServer, endpoint: Endpoint) -> httpx.Response:
    path = BASE.get(endpoint.provider, "") + endpoint.path.replace("{id}", "x1")
    body = None if endpoint.method in {"GET", "HEAD", "DELETE"} else {}
    return httpx.request(
        endpoint.method, server.origin + path, json=body, headers=HEADERS[endpoint.provider], timeout=30
    )


@pytest.fixture(scope="module")
def states() -> dict[Endpoint, int]:
    """0 for an unknown path, else 200 or 501."""
    found = {}
    with StrictServer() as server:
        for endpoint in endpoints():
            reply = asked(server, endpoint)
            unknown = reply.status_code == 405 or any(words in reply.text for words in UNKNOWN)
            found[endpoint] = 0 if unknown else 501 if reply.status_code == 501 else 200
    return found


def test_every_endpoint_of_the_sdks_is_served_or_501(states):
    assert [endpoint for endpoint, state in states.items() if state == 0] == []


def test_most_endpoints_work(states):
    working = sum(state == 200 for state in states.values())
    assert len(states) >= 168
    assert working >= 140
    assert Counter(endpoint.provider for endpoint in states).keys() == HEADERS.keys()
