"""Live recordings are judged by the real answers, kept only without violations, and contain no private data."""

import json
import os
from urllib.parse import quote

import pytest

from ellmer_conformance.contract.live_key_redaction import redacted, redacted_value
from ellmer_conformance.report import judged
from ellmer_conformance.runner.from_cassettes import cassette_path, play
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.runner.selection import find_adapter
from ellmer_conformance.scenarios.cases import all_cases
from ellmer_conformance.scenarios.script import Answer, Call, Say, Script, Usage
from ellmer_conformance.server import StrictServer

CASES = all_cases()
ORGANISATION = "org-" + "a1B2c3D4e5F6g7H8"
REAL = Script(
    [
        Answer((Say(f"Salut, {ORGANISATION}!"),), usage=Usage(31, 9)),
        Answer((Say("It is a greeting."),), usage=Usage(52, 6)),
    ]
)
TOOLS = Script(
    [
        Answer((Say("One moment. "), Call("get_weather", {"city": "Paris"})), usage=Usage(60, 20)),
        Answer((Say("Sunny, with 21 degrees."),), usage=Usage(90, 9)),
    ]
)


@pytest.fixture(scope="module")
def provider():
    with StrictServer({"real": REAL, "tools": TOOLS}) as server:
        yield server


@pytest.fixture
def recorded(provider, tmp_path, monkeypatch):
    def act(case, script, mode="sync", key="some-real-key-1234", **how):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        url = provider.url(script, f"{tmp_path.name}-{mode}@openai") + "/v1"
        place = (find_adapter("ellmer-core"), "openai-chat", "openai", CASES[case], mode)
        run = play(*place, cassettes=tmp_path, **({"record": True, "live_url": url} | how))
        return run, tmp_path / cassette_path(*place[1:])

    return act


def failures(run):
    return {v.rule.id: v.violations[0].message for v in judge(run) if v.outcome == "fail"}


@pytest.mark.parametrize("mode", ["sync", "stream"])
@pytest.mark.parametrize(("case", "script"), [("plain_text", "real"), ("one_tool", "tools")])
def test_a_real_answer_is_not_judged_by_the_script(recorded, case, script, mode):
    run, path = recorded(case, script, mode)

    assert run.recorded_from == "live"
    assert not failures(run)
    assert path.is_file()


def test_a_live_recording_is_judged_in_replay_by_what_was_answered(recorded):
    _, path = recorded("one_tool", "tools")

    run, _ = recorded("one_tool", "tools", record=False, live_url="")

    assert json.loads(path.read_text("utf-8"))["metadata"]["ellmer_harness"]["recorded_from"] == "live"
    assert not failures(run)
    assert [step.text for step in run.case.steps] == ["Sunny, with 21 degrees."]


def test_neither_keys_nor_organisations_are_kept(recorded):
    _, path = recorded("plain_text", "real")
    text = path.read_text("utf-8")

    assert ORGANISATION not in text
    assert "org-REDACTED" in text
    assert os.environ["OPENAI_API_KEY"] not in text


def test_a_recording_that_is_red_leaves_what_was_there(recorded):
    run, path = recorded("plain_text", "real", key="wrong-key")

    assert not path.exists()
    assert failures(run) or run.trouble
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"what was there")
    recorded("plain_text", "real", key="wrong-key")
    assert path.read_bytes() == b"what was there"


def test_an_echoed_key_is_in_no_row(recorded, monkeypatch):
    run, _ = recorded("plain_text", "real", key="wrong-key")
    report = judged("mine", run, judge(run))

    assert "wrong-key" not in json.dumps(report.as_json())


def test_what_is_private_is_taken_out_wherever_it_stands(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "abcdefgh12345678")

    assert redacted(f"Bearer abcdefgh12345678 of {ORGANISATION}") == "Bearer [key] of org-REDACTED"
    assert redacted_value({"a": ["abcdefgh12345678"]}) == {"a": ["[key]"]}
    assert redacted("org-chart and proj-plan") == "org-chart and proj-plan"


@pytest.mark.parametrize(
    "name", ["AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "DB_PASSWORD"]
)
def test_a_key_is_taken_out_in_each_spelling(monkeypatch, name):
    key = "ABSKQmVkcm9ja0FQSUtleS1/4kZQ+9=="
    monkeypatch.setenv(name, key)
    spelled = [key, key.upper(), key.encode().hex(), quote(key, safe=""), key.replace("/", "\\/")]
    assert redacted("\n".join(spelled)).splitlines() == ["[key]"] * len(spelled)
