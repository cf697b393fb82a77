"""Lint reads existing recordings, reports their violations, and skips nothing silently."""

import gzip
import json
import os

import pytest
from conformance_command import run
from traffic.every_recorder import BAD, GOOD, URL, vcr_yaml, vcrpy
from vcr.serializers import yamlserializer

from ellmer_conformance.contract.rules.openai_chat._refusals_and_examples import ASK, body, call, result
from ellmer_conformance.recordings.lint import lint
from ellmer_conformance.recordings.recorded_requests import Assumed


def test_a_violation_the_api_refused_too_agrees_with_it(tmp_path):
    path = vcrpy(tmp_path / "a.yaml", yamlserializer, BAD, status=400)
    result = lint([path])
    assert [complaint.outcome for _, complaint in result.complaints] == ["agreed"]
    assert result.exit_code == 0


def test_nothing_is_passed_over_in_silence(tmp_path):
    vcr_yaml(tmp_path, GOOD)
    (tmp_path / "notes.md").write_text("# Notes")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "empty.yaml").write_text("interactions: []\nversion: 1\n")
    other = {
        "request": {"method": "GET", "url": "https://api.openai.com/v1/models"},
        "response": {"status": 200},
    }
    (tmp_path / "models.json").write_text(json.dumps(other))
    lost = {"request": {"method": "POST", "url": URL}, "response": {"status": 200}}
    (tmp_path / "lost.json").write_text(json.dumps(lost))
    odd = {"request": {"method": "POST", "url": URL, "body": "not JSON"}, "response": {"status": 200}}
    (tmp_path / "odd.json").write_text(json.dumps(odd))
    result = lint([tmp_path])
    assert len(result.files) == 7
    assert dict(result.skipped) == {
        "not a recording of HTTP": 2,
        "an empty recording": 1,
        "not a chat request: openai's /v1/models": 1,
        "the body was not recorded": 1,
        "the body is not a JSON object": 1,
    }
    output = run("lint", tmp_path).output
    assert "not a recording of HTTP" in output
    assert "7 files, 1 request judged, 0 violations.\nMore was missed than judged (2)" in output


def test_the_text_shows_place_rule_and_what_the_api_says(tmp_path):
    path = vcr_yaml(tmp_path, BAD)
    outcome = run("lint", path)
    assert outcome.exit_code == 1
    for told in (
        str(path),
        "PAIR-001 MUST reject (violation)",
        "/interactions/0/request/messages/1/tool_calls",
    ):
        assert told in outcome.output
    assert "An assistant message with 'tool_calls' must be followed" in outcome.output


def test_the_json_holds_everything(tmp_path):
    vcr_yaml(tmp_path, BAD)
    found = json.loads(run("lint", tmp_path, "--format", "json").output)
    assert found["exit_code"] == 1
    assert found["wires"]["openai-chat"]["violations"] == 1
    assert found["files"][0]["complaints"][0]["rule"] == "PAIR-001"
    assert (found["providers"], sum(found["formats"].values()), found["years"]) == ({"openai": 1}, 1, {})
    assert (found["skipped"], found["missed"], found["problems"]) == ({}, 0, [])


def test_github_and_sarif_point_at_the_file(tmp_path):
    path = vcr_yaml(tmp_path, BAD)
    annotation = run("lint", path, "--format", "github").output
    assert annotation.startswith(f"::error file={path},line=3,title=openai-chat/PAIR-001::")
    sarif = json.loads(run("lint", path, "--format", "sarif").output)["runs"][0]
    assert (
        sarif["results"][0]["ruleId"] == sarif["tool"]["driver"]["rules"][0]["id"] == "openai-chat/PAIR-001"
    )


def test_odd_names_and_lines_of_logs_are_written_as_the_forms_have_it(tmp_path):
    line = json.dumps({"url": URL, "body": BAD})
    (tmp_path / "a, b é.jsonl").write_text(f"{{}}\n{line}\n{{")

    annotations = run("lint", tmp_path, "--format", "github").output.splitlines()
    sarif = json.loads(run("lint", tmp_path, "--format", "sarif").output)["runs"][0]

    unreadable, violation = annotations
    assert unreadable.startswith(
        f"::error file={tmp_path}/a%2C b é.jsonl,title=unreadable::line 3 is damaged"
    )
    assert violation.startswith(
        f"::error file={tmp_path}/a%2C b é.jsonl,line=2,title=openai-chat/PAIR-001::line 2/"
    )
    (found,) = sarif["results"][0]["locations"]
    assert found["physicalLocation"] == {
        "artifactLocation": {"uri": f"{tmp_path}/a%2C%20b%20%C3%A9.jsonl"},
        "region": {"startLine": 2},
    }
    (trouble,) = sarif["invocations"][0]["toolExecutionNotifications"]
    assert not sarif["invocations"][0]["executionSuccessful"]
    assert trouble["message"]["text"].startswith("unreadable: line 3 is damaged or truncated")


@pytest.mark.slow
def test_several_processes_find_the_same(tmp_path):
    for number in range(4):
        vcrpy(tmp_path / f"{number}.yaml", yamlserializer, BAD if number % 2 else GOOD)
    alone, together = lint([tmp_path]), lint([tmp_path], jobs=2)
    assert [file.path for file in alone.files] == [file.path for file in together.files]
    assert [c for _, c in alone.complaints] == [c for _, c in together.complaints]
    assert run("lint", tmp_path, "-j", "0").output == run("lint", tmp_path).output


def test_a_warning_fails_nobody(tmp_path):
    path = vcr_yaml(tmp_path, body(ASK, call("a"), result("a", "")))
    outcome = run("lint", path)
    assert outcome.exit_code == 0
    assert "EMP-005 SHOULD loss (warning)" in outcome.output
    assert "EMP-005" not in run("lint", path, "--no-warnings").output


def known(tmp_path, **entry):
    """Returns a baseline of one entry."""
    said = {"rule": "PAIR-001", "case": "*.yaml", "reason": "old", "issue": "https://example.org/1"} | entry
    path = tmp_path / "baseline.toml"
    path.write_text("[[expect]]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in said.items()))
    return path


def test_an_expected_violation_fails_nobody(tmp_path):
    path = vcr_yaml(tmp_path, BAD)
    outcome = run("lint", path, "--baseline", known(tmp_path))
    assert outcome.exit_code == 0
    assert "PAIR-001 MUST reject (expected)" in outcome.output
    assert "told https://example.org/1" in outcome.output
    assert run("lint", path, "--baseline", known(tmp_path, rule="ORD-*")).exit_code == 1
    tally = json.loads(run("lint", path, "--baseline", known(tmp_path), "--format", "json").output)["wires"]
    assert (tally["openai-chat"]["violations"], tally["openai-chat"]["expected"]) == (0, 1)


def test_a_stale_entry_fails_unless_its_files_were_not_read(tmp_path):
    path = vcr_yaml(tmp_path, GOOD)
    outcome = run("lint", path, "--baseline", known(tmp_path))
    assert outcome.exit_code == 1
    assert "expect entry 1 (rule PAIR-001, case *.yaml) is stale" in outcome.output
    assert (
        "::error title=baseline::"
        in run("lint", path, "--baseline", known(tmp_path), "--format", "github").output
    )
    assert run("lint", path, "--baseline", known(tmp_path, case="other/*")).exit_code == 0


def test_a_faulty_baseline_ends_with_2(tmp_path):
    outcome = run("lint", vcr_yaml(tmp_path, GOOD), "--baseline", known(tmp_path, issue=""))
    assert outcome.exit_code == 2
    assert "issue is missing" in outcome.output


def test_a_run_that_judged_nothing_is_no_success(tmp_path):
    (tmp_path / "settings.json").write_text("{}")
    outcome = run("lint", tmp_path)
    assert outcome.exit_code == 2
    assert (
        "Nothing was judged, which counts as a failure: none of the files is a recording of HTTP."
        in outcome.output
    )
    outcome = run("calibrate", tmp_path)
    assert outcome.exit_code == 2
    assert "Nothing was judged" in outcome.output


def test_what_the_api_refused_too_is_told_when_asked(tmp_path):
    vcrpy(tmp_path / "a.yaml", yamlserializer, BAD, status=400)
    assert "PAIR-001" not in run("lint", tmp_path).output
    assert "The API refused 1 violation of these, too" in run("lint", tmp_path).output
    assert "PAIR-001" in run("lint", "--verbose", tmp_path).output


def test_several_folders_are_named_as_in_a_path(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        vcr_yaml(tmp_path / name, GOOD)
    monkeypatch.setenv(
        "CONFORMANCE_TRAFFIC", os.pathsep.join(str(tmp_path / name) for name in ("one", "two"))
    )
    assert "2 files, 2 requests judged" in run("lint").output


@pytest.mark.parametrize("name", ["request.json", "request.json.gz"])
def test_a_body_alone_is_judged_if_its_wire_format_is_named(tmp_path, name):
    told = json.dumps(body(ASK, result("call_1"))).encode()
    (tmp_path / name).write_bytes(gzip.compress(told) if name.endswith(".gz") else told)
    (tmp_path / "package.json").write_text('{"name": "x", "message": "hello"}')
    unnamed = run("lint", tmp_path)
    assert unnamed.exit_code == 2
    assert "the body of a request (--wire judges it)" in unnamed.output
    named = run("lint", tmp_path, "--wire", "openai-chat", "--provider", "openai")
    assert named.exit_code == 1
    assert "openai-chat/PAIR-002 MUST reject" in named.output
    assert "2 files, 1 request judged, 1 violation." in named.output


def test_a_request_of_more_values_than_the_server_takes_is_judged(tmp_path):
    many = {**body(ASK), "logit_bias": {str(token): 1 for token in range(60_000)}}
    (tmp_path / "request.json").write_text(json.dumps(many))
    assert lint([tmp_path], assumed=Assumed("openai-chat")).judged == 1
