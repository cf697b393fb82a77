"""Calibrate compares the rules with recordings; list and explain describe the rules."""

import json

import pytest
from conformance_command import run
from traffic.every_recorder import BAD, GOOD, URL, vcrpy
from vcr.serializers import yamlserializer

from ellmer_conformance.contract.rules.openai_chat._refusals_and_examples import ASK, body, call
from ellmer_conformance.recordings.calibrate import Calibration, Tally


def test_calibrate_tells_flagged_missed_and_unknown(tmp_path):
    vcrpy(tmp_path / "flagged.yaml", yamlserializer, BAD)
    vcrpy(tmp_path / "fine.yaml", yamlserializer, GOOD)
    refusal = {"error": {"message": "Missing required parameter: 'x'.", "type": "invalid_request_error"}}
    for name, answer in (("missed", refusal), ("unknown", {"error": {"message": "Flux capacitor empty"}})):
        exchange = {"request": {"url": URL, "body": GOOD}, "response": {"status": 400, "body": answer}}
        (tmp_path / f"{name}.json").write_text(json.dumps(exchange))
    outcome = run("calibrate", tmp_path, "--format", "json")
    assert outcome.exit_code == 1
    found = json.loads(outcome.output)
    wanted = {
        "accepted": 2,
        "accepted_flagged": 1,
        "rejected": 2,
        "rejected_modelled": 1,
        "caught": 0,
        "missed": 1,
    }
    assert found["wires"]["openai-chat"] == {**wanted, "text_equal": 0}
    assert found["rules"]["PAIR-001"]["accepted_flagged"] == 1
    assert [case["rule"] for case in found["flagged"]] == ["PAIR-001"]
    assert found["unknown"][0]["said"] == "400 Flux capacitor empty"
    text = run("calibrate", tmp_path).output
    assert "flagged.yaml /interactions/0 [openai-chat, openai] PAIR-001 at /messages/1/tool_calls" in text


def test_calibrate_counts_what_is_caught(tmp_path):
    said = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        "The following tool_call_ids did not have response messages: call_99"
    )
    answer = {"error": {"message": said, "type": "invalid_request_error"}}
    exchange = {
        "request": {"url": URL, "body": body(ASK, call("call_1"), ASK)},
        "response": {"status": 400, "body": answer},
    }
    (tmp_path / "a.json").write_text(json.dumps(exchange))
    outcome = run("calibrate", tmp_path, "--format", "json")
    assert outcome.exit_code == 0
    found = json.loads(outcome.output)
    assert (found["rules"]["PAIR-001"]["caught"], found["rules"]["PAIR-001"]["text_equal"]) == (1, 1)


def test_a_rule_of_the_past_says_until_when():
    assert "In force: until 2024-10-01" in run("explain", "ORD-009", "--wire", "anthropic").output
    listed = json.loads(run("list", "--wire", "anthropic", "--format", "json").output)["rules"]
    days = {rule["id"]: (rule["since"], rule["until"]) for rule in listed}
    assert days["ORD-009"] == (None, "2024-10-01")
    assert days["ORD-001"] == (None, None)


def test_the_listed_evidence_of_a_rule_is_what_explain_shows():
    listed = json.loads(run("list", "--wire", "openai-responses", "--format", "json").output)["rules"]
    opened = next(row["evidence"] for row in listed if row["id"] == "ORD-008")
    text = run("explain", "ORD-008", "--wire", "openai-responses").output
    shown = text.partition("Evidence:")[2].partition("Recorded:")[0]
    assert opened
    assert [line.split()[-1] for line in shown.strip().splitlines()] == opened


def test_the_rules_about_servers_are_listed_by_themselves():
    servers = json.loads(run("list", "--servers", "--format", "json").output)["rules"]
    clients = json.loads(run("list", "--format", "json").output)["rules"]
    assert {row["group"] for row in servers} == {"OPR", "SRV"}
    assert not {"OPR", "SRV"} & {row["group"] for row in clients}


def test_list_and_explain():
    listed = json.loads(run("list", "--format", "json").output)["rules"]
    rule = next(row for row in listed if row["id"] == "ORD-002" and "openai-chat" in row["wires"])
    assert rule["level"] == "MUST"
    assert rule["source"]
    text = run("explain", "ord-002", "--wire", "openai-chat").output
    for told in (
        "Why:",
        "Fix:",
        "Smallest failing request:",
        "The API answers 400",
        "did not have response messages",
    ):
        assert told in text
    assert run("explain", "TXT-001").exit_code == 0, "rules over a whole conversation are explained, too"


@pytest.mark.parametrize("arguments", [["list"], ["explain", "ORD-002"]])
def test_a_provider_without_a_wire_format_is_refused(arguments):
    outcome = run(*arguments, "--provider", "openai")
    assert outcome.exit_code == 2
    assert "--provider openai needs --wire" in outcome.output


def test_rules_about_servers_have_no_wire_format():
    outcome = run("list", "--servers", "--wire", "anthropic")
    assert outcome.exit_code == 2
    assert "--servers takes neither --wire nor --cases" in outcome.output


@pytest.mark.parametrize("arguments", [["explain", "NOPE-1"], ["list", "--wire", "telegraph"]])
def test_an_unknown_rule_or_wire_is_told(arguments):
    outcome = run(*arguments)
    assert outcome.exit_code == 2
    assert "There" in outcome.output


def test_calibrate_tells_what_judges_the_places_of_the_requests(tmp_path):
    part = {
        "type": "text",
        "text": "Hi",
        "bogus": 1,
    }  # whether OpenAI takes further fields here is not on record
    asked = {"url": URL, "body": body({"role": "user", "content": [part]})}
    (tmp_path / "a.json").write_text(json.dumps({"request": asked, "response": {"status": 200, "body": {}}}))
    found = json.loads(run("calibrate", tmp_path, "--format", "json").output)
    assert found["places"].keys() == {"by evidence", "by preview", "not at all"}


def test_the_age_of_recordings_is_that_of_the_oldest_the_middle_and_the_newest():
    months = {"2026-01": Tally(accepted=3), "2025-05": Tally(accepted=1), "unknown": Tally(rejected=2)}
    assert Calibration(months=months).age == {
        "oldest": "2025-05",
        "middle": "2026-01",
        "newest": "2026-01",
        "undated": 2,
    }
    assert Calibration().age == {"undated": 0}


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_key_that_an_api_quotes_is_printed(form, tmp_path):
    key = "sk-proj-Zq7Xv9Lm2Rt5Wb8Nc4Kd6Hf1"
    recorded = {
        "request": {
            "method": "POST",
            "url": "https://api.openai.com/v1/chat/completions",
            "headers": {"authorization": f"Bearer {key}"},
            "body": {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}]},
        },
        "response": {
            "status": 400,
            "body": {"error": {"message": f"Unknown parameter: 'zz {key}'.", "type": "x"}},
        },
    }
    (tmp_path / "a.json").write_text(json.dumps(recorded))
    said = run("calibrate", tmp_path, "--format", form).output
    assert "'zz [key]'" in said
    assert key not in said
