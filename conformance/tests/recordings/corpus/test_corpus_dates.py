"""Recordings that confirm or contradict the days of rules, each judged once."""

import json

from servers.package_index import CASSETTE

from ellmer_conformance.recordings.calibrate import calibrate
from ellmer_conformance.recordings.corpus.propose import dated


def dated_recording(folder, *, day, refused):
    """Two user messages in a row at Anthropic, which were refused until October 2024 and merged since."""
    body = {
        "model": "claude-3-opus-20240229",
        "max_tokens": 9,
        "messages": 2 * [{"role": "user", "content": "Hello"}],
    }
    words = 'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row'
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
    request = {
        "method": "POST",
        "uri": "https://api.anthropic.com/v1/messages",
        "headers": {},
        "body": json.dumps(body),
    }
    response = {
        "status": {"code": 400 if refused else 200, "message": ""},
        "headers": {"Date": [day]},
        "body": {"string": json.dumps(error if refused else {"type": "message"})},
    }
    file = folder / f"{day[5:16].replace(' ', '-')}.json"
    file.write_text(json.dumps({"version": 1, "interactions": [{"request": request, "response": response}]}))
    return file


def test_dated_recordings_bear_out_the_days_of_a_rule(tmp_path):
    dated_recording(tmp_path, day="Thu, 21 Mar 2024 10:00:00 GMT", refused=True)
    dated_recording(tmp_path, day="Fri, 21 Mar 2025 10:00:00 GMT", refused=False)
    found = dated([tmp_path])["anthropic anthropic ORD-009"]
    assert (found.witnesses, found.contradictions) == (2, [])


def test_a_dated_recording_on_the_wrong_side_contradicts_a_rule(tmp_path):
    early = dated_recording(tmp_path, day="Thu, 21 Mar 2024 10:00:00 GMT", refused=False)
    late = dated_recording(tmp_path, day="Fri, 21 Mar 2025 10:00:00 GMT", refused=True)
    found = dated([early, late])["anthropic anthropic ORD-009"]
    assert found.witnesses == 0
    assert found.contradictions == [
        f"{early} /interactions/0 was accepted on 2024-03-21",
        f"{late} /interactions/0 was refused on 2025-03-21",
    ]


def test_a_request_that_is_recorded_twice_is_judged_once(tmp_path):
    for name in ("first", "second"):
        (tmp_path / f"{name}.yaml").write_text(CASSETTE)
    (tmp_path / "refused.yaml").write_text(CASSETTE.replace("code: 200", "code: 400"))
    found = calibrate([tmp_path])
    assert found.skipped["the same request was judged already"] == 1
    assert (found.wires["openai-chat"].accepted, found.wires["openai-chat"].rejected) == (1, 1)
