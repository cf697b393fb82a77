"""Stale recordings and their warnings."""

import json
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from ellmer_harness import CassetteError, Match, Stale, use_cassette
from ellmer_harness.cassette.cassette_state import Recording, older_than
from ellmer_harness.cassette.run_verdict import StaleWarning
from ellmer_harness.interception.open_cassettes import Clock

API = "https://api.example.com"
MADE = datetime(2026, 3, 1, 12, tzinfo=UTC)


def on(year, month, day, hour=12):
    return Clock(today=lambda: datetime(year, month, day, hour, tzinfo=UTC))


@pytest.fixture
def live(server, tmp_path):
    """A live recording of 1 March 2026."""
    with use_cassette(tmp_path / "c.json", mode="record", routes=server.routes, clock=on(2026, 3, 1)):
        ask()
    return tmp_path / "c.json"


def ask(**body):
    return httpx.post(API, json={"model": "m", "user": "a", **body})


def run(path, body=None, **options):
    with use_cassette(path, **options) as cassette:
        ask(**(body or {}))
    return cassette


@pytest.mark.parametrize(
    ("today", "days", "reason"),
    [
        (datetime(2026, 3, 31, 12, tzinfo=UTC), 30, None),
        (datetime(2026, 4, 1, 12, tzinfo=UTC), 30, "recorded 31 days ago"),
        (datetime(2026, 3, 2, 12, tzinfo=UTC), 0.5, "recorded 1 days ago"),
        (datetime(2025, 1, 1, tzinfo=UTC), 0, None),  # from the future
    ],
)
def test_age(today, days, reason):
    assert older_than(days)(Recording(Path("c.json"), {}, MADE, today, lambda: iter(()))) == reason
    assert older_than(days)(Recording(Path("c.json"), {}, None, today, lambda: iter(()))) is None


def test_a_recording_is_dated_by_the_clock(live):
    assert json.loads(live.read_text())["metadata"]["ellmer_harness"]["recorded_at"] == "2026-03-01T12:00:00Z"


def test_warned_of_by_default_an_error_on_demand_never_recorded_again(live, server, monkeypatch):
    before = live.read_bytes()
    with pytest.warns(
        StaleWarning, match=r"c\.json is stale: recorded 92 days ago\.\nTo record it again:\n  pytest '"
    ):
        run(live, max_age=30, clock=on(2026, 6, 1))
    with pytest.raises(Stale, match="recorded 92 days ago"):
        run(live, max_age=30, clock=on(2026, 6, 1), stale="error")
    monkeypatch.setenv("CASSETTE_STALE", "error")
    with pytest.raises(Stale):
        run(live, max_age=30, clock=on(2026, 6, 1), mode="record", routes=server.routes)
    assert live.read_bytes() == before
    assert len(server.requests) == 1


def test_ignored_it_is_still_in_the_verdict(live):
    cassette = run(live, max_age=30, clock=on(2026, 6, 1), stale="ignore")
    assert cassette.verdict.stale == "recorded 92 days ago"
    assert run(live, max_age=100, clock=on(2026, 6, 1)).verdict.stale == ""


def test_a_fresh_recording_replaces_an_old_one_and_is_not_stale(live, server):
    cassette = run(live, max_age=30, clock=on(2026, 6, 1), mode="rewrite", routes=server.routes)
    assert cassette.verdict.stale == ""
    run(live, max_age=30, clock=on(2026, 6, 2))


def test_policies_see_what_was_recorded(live):
    def policy(recording):
        [request] = recording.requests
        return f"{request.method} {request.url} {request.json['model']} {recording.recorded_at:%d.%m.} {recording.path.name}"

    cassette = run(live, policies=[policy, lambda _: None], stale="ignore")
    assert cassette.verdict.stale == "POST https://api.example.com m 01.03. c.json"


def test_an_answer_to_another_body_is_stale(live):
    lax = {"match": Match(body=False, ignore=("/user",)), "stale": "error"}
    run(live, **lax)
    run(live, {"user": "b"}, **lax)
    with pytest.raises(Stale, match=r"request 1 is not the one that was recorded: \+ /more: 1"):
        run(live, {"more": 1}, **lax)


def test_a_run_that_failed_is_not_told_of_its_age(live):
    cassette = use_cassette(live, max_age=1, clock=on(2026, 6, 1), stale="error").__enter__()
    ask()
    cassette.close(ZeroDivisionError())
    assert cassette.verdict.stale == "recorded 92 days ago"


def test_an_unknown_level_is_explained(live, monkeypatch):
    monkeypatch.setenv("CASSETTE_STALE", "panic")
    with pytest.raises(
        CassetteError, match="CASSETTE_STALE is 'panic'; it must be one of ignore, warn, error"
    ):
        run(live)
