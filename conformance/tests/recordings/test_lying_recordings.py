"""Recordings that lie: refused requests whose answers are replaced by an accepting one, and the reverse. No rule changes; `calibrate` names
each lie, and the recordings that contradict each other.
"""

import json

import pytest
from conformance_command import run

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.contract.rules.openai_chat._refusals_and_examples import ASK, body, call, result

URL = "https://api.openai.com/v1/chat/completions"
SAID = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: call_1"
)
REFUSED = {"status": 400, "body": {"error": {"message": SAID, "type": "invalid_request_error"}}}
LIMITED = {
    "status": 429,
    "body": {"error": {"message": "Rate limit reached for requests", "type": "requests"}},
}
MESSAGE = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
ACCEPTED = {"status": 200, "body": {"id": "c", "object": "chat.completion", "choices": [MESSAGE]}}
BROKEN = [body(ASK, call("call_1"), {**ASK, "content": f"And {n}?"}) for n in range(20)]
FINE = [body(ASK, call("call_1"), result("call_1", f"{n}"), ASK) for n in range(20)]


def written(folder, name, requests, answer):
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"request": {"url": URL, "body": each}, "response": answer}) for each in requests]
    (folder / f"{name}.jsonl").write_text("\n".join(lines))


def judged(folder):
    found = run("calibrate", folder, "--format", "json")
    return found.exit_code, json.loads(found.output)


def violations(requests):
    book = rules.book("openai-chat", "openai")
    return [
        [v.rule.id for each in book.judge(Request("openai-chat", "openai", one)) for v in each.violations]
        for one in requests
    ]


def test_what_was_refused_is_said_to_be_accepted(tmp_path):
    before = violations([*BROKEN, *FINE])
    written(tmp_path / "lies", "all", BROKEN, ACCEPTED)
    code, found = judged(tmp_path / "lies")
    assert code == 1
    assert [(case["rule"], case["wire"]) for case in found["flagged"]] == [("PAIR-001", "openai-chat")] * 20
    assert violations([*BROKEN, *FINE]) == before, "no rule is weaker than before"
    assert run("lint", tmp_path / "lies").exit_code == 1


@pytest.mark.parametrize("page", ["<!DOCTYPE html><title>Sign in</title>", "\n<html><body>ok"])
def test_a_page_proves_nothing(page, tmp_path):
    """A gateway that asks to sign in answers 200, too."""
    written(tmp_path / "lies", "all", BROKEN, {"status": 200, "body": page})
    written(tmp_path / "lies", "true", FINE, ACCEPTED)
    code, found = judged(tmp_path / "lies")
    assert (code, found["flagged"]) == (0, [])
    assert run("lint", tmp_path / "lies").exit_code == 1, "the requests are judged all the same"


def test_what_was_accepted_is_said_to_be_refused(tmp_path):
    before = violations([*BROKEN, *FINE])
    written(tmp_path / "lies", "all", FINE, REFUSED)
    code, found = judged(tmp_path / "lies")
    assert code == 1
    assert len(found["missed"]) == 20
    assert (found["flagged"], found["wires"]["openai-chat"]["caught"]) == ([], 0)
    assert violations([*BROKEN, *FINE]) == before
    assert run("lint", tmp_path / "lies").exit_code == 0


@pytest.mark.parametrize("requests", [BROKEN, FINE], ids=["refused", "accepted"])
@pytest.mark.parametrize("first", [ACCEPTED, REFUSED], ids=["accepted first", "refused first"])
def test_recordings_that_contradict_each_other_are_named(tmp_path, requests, first):
    written(tmp_path, "a", requests, first)
    written(tmp_path, "b", requests, REFUSED if first is ACCEPTED else ACCEPTED)
    code, found = judged(tmp_path)
    assert code == 1
    assert len(found["contradicted"]) == 20
    assert {case["file"].rpartition("/")[2] for case in found["contradicted"]} == {"b.jsonl"}
    text = run("calibrate", tmp_path).output
    assert "Accepted in one recording, refused for what it has in it in another:" in text
    assert "b.jsonl (refused here)" in text or "b.jsonl (accepted here)" in text


def test_contradictions_within_one_file_and_with_repetitions_are_named_once(tmp_path):
    written(tmp_path, "a", FINE, ACCEPTED)
    lines = (tmp_path / "a.jsonl").read_text()
    written(tmp_path, "a", FINE, REFUSED)
    (tmp_path / "a.jsonl").write_text(f"{lines}\n{(tmp_path / 'a.jsonl').read_text()}\n{lines}")
    assert len(judged(tmp_path)[1]["contradicted"]) == 20


def test_an_api_that_is_busy_contradicts_nothing(tmp_path):
    written(tmp_path, "a", FINE, ACCEPTED)
    written(tmp_path, "b", FINE, LIMITED)
    code, found = judged(tmp_path)
    assert (code, found["contradicted"]) == (0, [])
