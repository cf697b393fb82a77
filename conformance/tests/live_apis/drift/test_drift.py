"""`conformance live` against a second local server that plays the live API, with planted differences."""

import json

import pytest
from click.testing import CliRunner

from ellmer_conformance.cli.runs.live import command
from ellmer_conformance.contract.observed.exchange import Response
from ellmer_conformance.live_apis.drift import fields_of
from ellmer_conformance.scenarios.cases import scripts
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.engine import Engine
from ellmer_conformance.server.http.messages import plain

KEY = "some-real-key-1234"


class Live:
    """The strict server with a difference: `change` is applied to each body."""

    def __init__(self):
        self.engine, self.change = Engine(scripts()), lambda status, body: (status, body)

    def answer(self, request):
        reply = self.engine.answer(request)
        if "json" not in dict(reply.headers)["content-type"]:
            return reply
        status, body = self.change(reply.status, json.loads(reply.body))
        return plain(status, [("content-type", "application/json")], json.dumps(body).encode())

    def too_large(self, request):
        return self.engine.too_large(request)


@pytest.fixture
def live(tmp_path, monkeypatch):
    """Plays a case with a changed server. Returns the exit code, the report and the folder."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    handler = Live()

    def act(change=None, case="one_tool", mode="sync"):
        handler.change = change or handler.change
        report, folder = tmp_path / "drift.md", tmp_path / "cassettes"
        chosen = ["--wire", "openai-chat", "--provider", "openai", "--case", case, "--mode", mode]
        url = f"{server.url(case, f'{tmp_path.name}@openai')}/v1"
        where = ["--base-url", url, "--cassettes", str(folder), "--report", str(report)]
        result = CliRunner().invoke(command, [*chosen, *where])
        return result.exit_code, report.read_text() if report.is_file() else result.output, folder

    with StrictServer(handler=handler) as server:
        yield act


@pytest.mark.parametrize("mode", ["sync", "stream"])
def test_an_api_that_is_as_it_was_shows_no_drift_and_is_recorded(live, mode):
    code, report, folder = live(mode=mode)
    assert code == 0, report
    assert "disagrees in 0 points" in report
    [cassette] = folder.rglob("one_tool*.json")
    assert KEY not in cassette.read_text()


def test_a_field_that_came_one_that_went_and_one_of_another_type_are_reported(live):
    def change(status, body):
        body["brand_new"] = {"with": 1}
        del body["system_fingerprint"]
        return status, {**body, "created": str(body["created"])}

    code, report, _ = live(change)
    assert code == 1
    assert "field at brand_new: live object, the strict server nothing" in report
    assert "brand_new.with" not in report  # the object says it
    assert "field at system_fingerprint: live nothing, the strict server " in report
    assert "field at created: live string, the strict server number" in report


def test_another_status_is_reported_with_the_words_of_the_api(live):
    code, report, folder = live(lambda _, body: (400, {"error": {"message": "No tools today.", "type": "x"}}))
    assert code == 1
    assert "status: live 400 'No tools today.', the strict server 200" in report
    assert not list(folder.rglob("*.json"))  # nothing is kept of what went wrong


def test_without_a_key_nothing_is_played(live, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    code, output, _ = live()
    assert code == 2
    assert "OPENAI_API_KEY" in output


def test_what_the_model_writes_is_no_field_of_the_api():
    body = {"content": [{"type": "tool_use", "input": {"city": "Rome"}}], "usage": {"n": 1.5, "m": None}}
    found = fields_of("anthropic", Response(200, {}, json.dumps(body).encode()), stream=False)
    assert found == {
        "": {"object"},
        "content": {"list"},
        "content[]": {"object"},
        "content[].type": {"string"},
        "content[].input": {"object"},
        "usage": {"object"},
        "usage.n": {"number"},
        "usage.m": {"null"},
    }
