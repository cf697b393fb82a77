"""A part of a cassette is played, and the rest is sent. The harness does not know what the part is."""

import json

import httpx
import pytest

from ellmer_harness import CassetteError, Miss, Unused, use_cassette
from ellmer_harness.cassette.partial_replay import Result

pytest_plugins = ["pytester"]

API = "https://api.example.com"
ASK = f"{API}/ask"


class Asked:
    """Plays what is asked at `/ask`. What `/look` returned is in its field `seen`."""

    def replays(self, sent):
        return sent.url == ASK

    def results(self, sent):
        return [Result("/seen", "look", "look()")] if "seen" in sent.json else []

    def answer(self, sent, body):
        return body.decode()


def run(client, question="why"):
    """Looks, and asks what it means."""
    seen = client.post(f"{API}/look", json={"n": 1}).json()
    return client.post(ASK, json={"question": question, "seen": seen}).text


@pytest.fixture
def recorded(server, tmp_path):
    """The recording of a run that saw `red`, and its server, which answers the next run."""
    server.whole(b'{"colour":"red"}')
    server.whole(b'"It is red."')
    with use_cassette(tmp_path / "c.json", mode="record", routes=server.routes), httpx.Client() as client:
        run(client)
    server.requests.clear()
    return tmp_path / "c.json"


def test_only_the_part_is_played(recorded, server):
    server.whole(b'{"colour":"red"}')
    with use_cassette(recorded, replay=Asked(), routes=server.routes) as cassette, httpx.Client() as client:
        assert run(client) == '"It is red."'

    assert len(server.requests) == 1
    assert [exchange.played for exchange in cassette.exchanges] == [False, True]
    assert cassette.divergences == []


def test_a_result_that_differs_is_a_divergence(recorded, server):
    server.whole(b'{"colour":"blue"}')
    options = {"replay": Asked(), "routes": server.routes, "diverged": "ignore"}
    with use_cassette(recorded, **options) as cassette, httpx.Client() as client:
        assert run(client) == '"It is red."'

    (found,) = cassette.divergences
    assert found.changes == ["~ /seen/colour: [-red-]{+blue+}"]
    assert found.stale == ["red"]


def test_another_difference_is_a_miss_and_not_sent(recorded, server):
    server.whole(b'{"colour":"red"}')
    options = {"replay": Asked(), "routes": server.routes}
    with pytest.raises(Miss, match="how"), use_cassette(recorded, **options), httpx.Client() as client:
        run(client, "how")

    assert len(server.requests) == 1


def test_what_is_not_played_may_stay_unsent_and_what_is_may_not(recorded, server):
    with use_cassette(recorded, replay=Asked(), routes=server.routes), httpx.Client() as client:
        client.post(ASK, json={"question": "why", "seen": {"colour": "red"}})
    server.whole(b"{}")
    with pytest.raises(Unused, match="/ask"), use_cassette(recorded, replay=Asked(), routes=server.routes):
        httpx.post(f"{API}/look", json={"n": 1})


def test_numbers_are_compared_by_value_and_common_words_say_nothing(server, tmp_path):
    server.whole(json.dumps({"t": "the 21.0 or -3"}).encode())
    server.whole(b"The 21 and 3.")
    with use_cassette(tmp_path / "c.json", mode="record", routes=server.routes), httpx.Client() as client:
        run(client)
    server.whole(b'{"t":"4"}')
    with (
        use_cassette(
            tmp_path / "c.json", replay=Asked(), routes=server.routes, diverged="ignore"
        ) as cassette,
        httpx.Client() as client,
    ):
        run(client)

    assert cassette.divergences[0].stale == ["21"]


def test_the_part_is_named_by_the_environment(recorded, monkeypatch):
    monkeypatch.setenv("CASSETTE_REPLAY", "another")
    with pytest.raises(CassetteError, match="The parts are all, model"), use_cassette(recorded):
        pass


AGENT = """
import httpx, pytest
from ellmer_harness.cassette.partial_replay import Result

class Asked:
    def replays(self, sent): return sent.url.endswith("/ask")
    def results(self, sent): return [Result("/seen", "look", "look()")]
    def answer(self, sent, body): return body.decode()

@pytest.fixture
def cassette_options(cassette_options):
    return {**cassette_options, "replay": Asked()}

@pytest.mark.cassette
def test_it():
    seen = httpx.post("https://api.example.com/look", json={"n": 1}).json()
    httpx.post("https://api.example.com/ask", json={"question": "why", "seen": seen})
"""


def test_the_summary_of_pytest_has_the_divergence(suite, server):
    server.whole(b'{"colour":"red"}')
    server.whole(b'"It is red."')
    suite(AGENT, "--cassette-mode=record").assert_outcomes(passed=1)
    server.whole(b'{"colour":"blue"}')
    result = suite(None)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "DIVERGED *",
            "*another result of look().",
            "*[[]-red-]{+blue+}",
            "*no longer fits: it says red*",
        ]
    )
    server.whole(b'{"colour":"blue"}')
    suite(None, "--cassette-diverged=error").assert_outcomes(passed=1, errors=1)
