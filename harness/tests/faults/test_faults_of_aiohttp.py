"""Injected failures are those of aiohttp for its clients, from the connection to the middle of an answer."""

import asyncio

import aiohttp
import pytest

from ellmer_harness import use_cassette
from ellmer_harness.faults import ConnectError, ConnectTimeout, Cut, ReadTimeout, Reset


def got(url):
    """Returns the answer to a request, or the class of its error. aiohttp repeats other methods than POST."""

    async def ask():
        timeout = aiohttp.ClientTimeout(total=5)
        async with aiohttp.ClientSession(timeout=timeout) as session, session.post(url) as response:
            return await response.read()

    try:
        return asyncio.run(ask())
    except aiohttp.ClientError as error:
        return type(error)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (ConnectTimeout(), aiohttp.ConnectionTimeoutError),
        (ConnectError(), aiohttp.ClientConnectorError),
        (ReadTimeout(), aiohttp.SocketTimeoutError),
        (Reset(), aiohttp.ClientOSError),
        (Cut(), aiohttp.ServerDisconnectedError),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_a_fault_is_the_error_of_the_client(server, record, tmp_path, fault, error):
    server.whole({"a": 1})
    with use_cassette(tmp_path / "c.json", **record):
        assert got(f"{server.url}/x") == b'{"a": 1}'
    with use_cassette(tmp_path / "c.json", faults=[fault], allow_unused=True):
        assert got(f"{server.url}/x") is error
