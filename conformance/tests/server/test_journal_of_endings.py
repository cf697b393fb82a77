"""The journal of the strict server says whether an answer came to its end."""

from contextlib import suppress

import httpx
import pytest

from ellmer_conformance.scenarios.script import Answer, Delivery, Say, Script
from ellmer_conformance.server import StrictServer

LONG = Answer((Say("one two three four five six seven eight nine ten"),))
SCRIPTS = {
    "whole": Script((LONG,)),
    "half-close": Script((Delivery(LONG, after=300, ending="half-close"),)),
    "reset": Script((Delivery(LONG, after=300, ending="reset"),)),
}
CHAT = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}], "stream": True}


@pytest.fixture(scope="module")
def server():
    with StrictServer(SCRIPTS) as server:
        yield server


@pytest.mark.parametrize("case", SCRIPTS)
def test_the_report_says_whether_the_answer_ended(server, case):
    url = server.url(case, "1")
    with suppress(httpx.TransportError):
        httpx.post(f"{url}/v1/chat/completions", json=CHAT, headers={"authorization": "Bearer any-key"})
    [noted] = httpx.get(f"{url}/report").json()["exchanges"]
    assert noted["response"]["ended"] == (case == "whole")
