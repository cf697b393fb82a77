"""Recordings of retired models are stale."""

import json
import re
from datetime import UTC, date, datetime
from pathlib import Path

import httpx
import pytest
from traffic.recorded import absent, errors

from ellmer_conformance.contract.changes.retired_models import (
    SCHEDULES,
    Schedule,
    pytest_cassette_stale,
    shutdown,
)
from ellmer_conformance.runner.from_cassettes import attempt, cassette_path
from ellmer_conformance.runner.selection import find_adapter
from ellmer_conformance.scenarios.cases import all_cases
from ellmer_harness import Stale, use_cassette
from ellmer_harness.cassette.cassette_state import Recording
from ellmer_harness.exchange.messages import Sent

CASSETTES = Path(__file__).parents[3] / "cassettes"
ANTHROPIC = "https://api.anthropic.com/v1/messages"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/{}:streamGenerateContent?alt=sse"


def sent(url, **body):
    return Sent("POST", url, {}, json.dumps(body).encode())


def stale(*requests, today="2026-11-21", recorded_from="live"):
    now = datetime.fromisoformat(today).replace(tzinfo=UTC)
    metadata = {"ellmer_harness": {"recorded_from": recorded_from}}
    return pytest_cassette_stale(Recording(Path("c.json"), metadata, None, now, lambda: iter(requests)))


def test_a_model_is_gone_from_its_day_on():
    request = sent(ANTHROPIC, model="claude-opus-4-20250514")
    assert stale(request, today="2026-06-14") is None
    assert stale(request, today="2026-06-15") == (
        "Anthropic shut claude-opus-4-20250514 down on 2026-06-15 "
        "(https://platform.claude.com/docs/en/about-claude/model-deprecations)"
    )


@pytest.mark.parametrize(
    "request_",
    [
        sent(GEMINI.format("gemini-2.0-flash"), contents=[]),
        sent(GEMINI.format("gemini-2.0-flash")),
        sent("https://api.openai.com/v1/responses", model="o1-mini"),
        Sent("GET", "https://api.openai.com/v1/models/o1-mini", {}, b""),
    ],
)
def test_it_is_named_in_the_body_or_in_the_path(request_):
    assert "shut" in stale(request_)


@pytest.mark.parametrize(
    "request_",
    [
        sent(ANTHROPIC, model="claude-opus-9"),
        sent("https://bedrock-runtime.us-east-1.amazonaws.com/v1/messages", model="claude-opus-4-20250514"),
        sent("https://openrouter.ai/api/v1/chat/completions", model="o1-mini"),
        Sent("POST", ANTHROPIC, {}, b"\xff not json"),
        Sent("POST", ANTHROPIC, {}, b'["claude-2.1"]'),
        sent(ANTHROPIC, model=["claude-2.1"]),
        Sent("GET", "https://api.anthropic.com/v1/models", {}, b""),
    ],
)
def test_others_have_schedules_of_their_own(request_):
    assert stale(request_) is None


def test_what_no_model_answered_does_not_age_with_one():
    assert stale(sent(ANTHROPIC, model="claude-2.1"), recorded_from="strict-server") is None


def test_each_model_is_named_once():
    clause = stale(*[sent(ANTHROPIC, model="claude-2.1")] * 3, sent(ANTHROPIC, model="claude-2.0"))
    assert clause.count("claude-2.1") == 1
    assert clause.count("shut") == 2


def test_no_model_has_two_days_and_every_day_is_one():
    for host, schedule in SCHEDULES.items():
        names = [name for line in schedule.days.values() for name in line.split()]
        assert len(names) == len(set(names)), host
        assert list(schedule.days) == sorted(schedule.days)
        assert all(isinstance(schedule.of(name), date) for name in names)
        assert schedule.source.startswith("https://")


def refusals():
    """Yields the host, model and message of every recorded 404."""
    hosts = {
        "anthropic": "api.anthropic.com",
        "openai": "api.openai.com",
        "cohere": "api.cohere.com",
        "xai": "api.x.ai",
    }
    return {
        (hosts[line["provider"]], line["model"], line["message"])
        for line in errors()
        if line["status"] == 404 and line.get("model") and line["provider"] in hosts
    }


@absent
def test_what_real_providers_called_gone_is_listed_with_their_date():
    told = 0
    for host, model, message in refusals():
        if re.search("deprecated|removed", message):
            day = shutdown(host, model)
            assert day is not None, message
            for written, form in (
                (r"20\d\d-\d\d-\d\d", "%Y-%m-%d"),
                (r"[A-Z][a-z]+ \d+, 20\d\d", "%B %d, %Y"),
            ):
                for found in re.findall(written, message):
                    told += 1
                    assert datetime.strptime(found, form).replace(tzinfo=UTC).date() == day
    assert told >= 3


@absent
def test_listed_models_that_were_refused_are_gone_by_now():
    listed = {(host, model) for host, model, _ in refusals() if shutdown(host, model)}
    unknown = [(host, model) for host, model, message in refusals() if message == f"model: {model}"]
    assert ("api.anthropic.com", "claude-sonnet-4-20250514") in listed
    assert len(listed) >= 10
    assert all(shutdown(host, model) <= date(2026, 11, 21) for host, model in listed)
    assert (
        len({model for _, model in unknown} - {model for _, model in listed}) > 5
    )  # invented names are not listed


def test_it_is_a_policy(tmp_path):
    cassette = {
        "version": 1,
        "metadata": {"ellmer_harness": {"format": 1, "recorded_from": "live"}},
        "interactions": [
            {
                "request": {
                    "method": "POST",
                    "uri": ANTHROPIC,
                    "headers": {"content-type": ["application/json"]},
                    "body": {"json": {"model": "claude-2.1"}},
                },
                "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"text": "hi"}},
            }
        ],
    }
    (tmp_path / "c.json").write_text(json.dumps(cassette))
    cassette = use_cassette(tmp_path / "c.json", policies=[pytest_cassette_stale], stale="error").__enter__()
    httpx.post(ANTHROPIC, json={"model": "claude-2.1"})
    with pytest.raises(Stale, match=r"(?s)is stale: Anthropic shut claude-2\.1 down.*To record it again"):
        cassette.close()


@pytest.mark.parametrize(("level", "trouble"), [("error", True), ("ignore", False)])
def test_at_night_a_live_recording_of_a_retired_model_is_trouble(tmp_path, monkeypatch, level, trouble):
    case = all_cases()["plain_text"]
    where = cassette_path("anthropic", "anthropic", case, "sync")
    cassette = json.loads((CASSETTES / where).read_text())
    cassette["metadata"]["ellmer_harness"]["recorded_from"] = "live"
    model = cassette["interactions"][0]["request"]["body"]["json"]["model"]
    (tmp_path / where).parent.mkdir(parents=True)
    (tmp_path / where).write_text(json.dumps(cassette))
    gone = Schedule("Anthropic", "https://example.com", date(2026, 1, 1), {"2020-01-01": model})
    monkeypatch.setitem(SCHEDULES, "api.anthropic.com", gone)
    monkeypatch.setenv("CASSETTE_STALE", level)

    run = attempt(find_adapter("ellmer-core"), "anthropic", "anthropic", case, "sync", cassettes=tmp_path)

    assert (f"shut {model} down" in str(run.trouble)) == trouble
