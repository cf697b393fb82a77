"""What several files of tests are given: the strict server and its clients, an index of packages, a report."""

import httpx
import pytest
from questions_to_the_server import NONCES, SCRIPTS

from ellmer_conformance.server import StrictServer


@pytest.fixture(scope="module")
def server():
    with StrictServer(SCRIPTS) as server:
        yield server


@pytest.fixture(scope="module")
def client():
    with httpx.Client(verify=False) as client:
        yield client


@pytest.fixture
def post(server, client):
    """Posts to a case in a conversation of its own, or in a given one."""

    def post(provider, case, body=None, *, nonce=None, stream=False, server=server, **headers):
        path = provider.stream_path() if stream else provider.path
        given = body or (provider.stream_body() if stream else provider.body)
        return client.post(
            server.url(case, nonce or next(NONCES)) + path, json=given, headers=provider.headers | headers
        )

    return post
