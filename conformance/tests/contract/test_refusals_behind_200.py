"""A request that was refused with status 200 counts as refused."""

import json

import pytest

from ellmer_conformance.recordings.calibrate import calibrate
from ellmer_conformance.recordings.lint import lint
from ellmer_conformance.recordings.recorded_requests import Recording, refusal, status_of

TOLD = {
    "code": "invalid_parameter_error",
    "param": None,
    "message": "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to "
    "required or object in thinking mode",
    "type": "invalid_request_error",
}
CHUNK = b'data: {"choices": [{"delta": {"content": "an \\"error\\""}}], "error": null}\n\n'
ERROR = b"data: " + json.dumps({"error": TOLD, "id": "chatcmpl-1"}).encode() + b"\n\n"
OVERLOADED = b'data: {"error": {"message": "The server had an error while processing your request."}}\n\n'


def recorded(response, status=200):
    return Recording("/0", "POST", "https://x.test/v1/chat/completions", status=status, response=response)


@pytest.mark.parametrize(
    ("response", "status"),
    [
        (ERROR, 400),
        (b": a comment\n\n" + ERROR, 400),
        (json.dumps({"error": TOLD}, indent=2).encode(), 400),
        (CHUNK + ERROR, 200),
        (OVERLOADED, 200),
        (CHUNK, 200),
        (b'{"choices": [], "error": null}', 200),
        (b'["error"]', 200),
        (b"", 200),
    ],
    ids=[
        "event",
        "behind a comment",
        "body",
        "later",
        "the server's fault",
        "none",
        "null",
        "list",
        "nothing",
    ],
)
def test_an_answer_that_begins_with_a_refusal_is_one(response, status):
    assert status_of(recorded(response)) == status
    assert (refusal(recorded(response)) is not None) == (status == 400)


def test_without_an_answer_there_is_no_refusal():
    assert refusal(recorded(b"", None)) is None
    assert refusal(recorded(b'{"error": {"message": "no"}}', 404)).message == "no"


def test_it_is_caught_and_no_false_alarm(tmp_path):
    tool = {"type": "function", "function": {"name": "add"}}
    body = {
        "model": "qwen3-max",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "enable_thinking": True,
        "tools": [tool],
        "tool_choice": "required",
    }
    url = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions"
    request = {"method": "POST", "uri": url, "headers": {}, "body": json.dumps(body)}
    answer = {
        "status": {"code": 200, "message": "OK"},
        "headers": {"content-type": ["text/event-stream"]},
        "body": {"string": ERROR.decode()},
    }
    file = tmp_path / "cassette.json"
    file.write_text(json.dumps({"version": 1, "interactions": [{"request": request, "response": answer}]}))

    tally = calibrate([file]).wires["openai-chat"]
    assert (tally.accepted, tally.rejected, tally.caught, tally.text_equal) == (0, 1, 1, 1)
    assert lint([file]).exit_code == 0


def responded(*, sent, repeated, object_="response"):
    body = json.dumps({"model": "gpt-4o", "input": "Hi.", "tools": sent}).encode()
    response = json.dumps({"object": object_, "tools": repeated}).encode()
    url = "https://api.openai.com/v1/responses"
    return Recording("/0", "POST", url, body=body, status=200, response=response)


LOOSE = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}}
STRICT = {**LOOSE, "strict": True}


@pytest.mark.parametrize(
    ("sent", "repeated", "status"),
    [
        ([STRICT], [LOOSE], None),
        ([STRICT], [{**LOOSE, "strict": False}], None),
        ([STRICT], [STRICT], 200),
        ([LOOSE], [{**LOOSE, "strict": False}], 200),
        ([STRICT], [{**LOOSE, "name": "found"}], 200),
        ([STRICT], [{"type": "web_search"}], 200),
        ([STRICT], "none", 200),
        ([{**STRICT, "name": ["look"]}], ["look"], 200),
    ],
)
def test_an_answer_that_repeats_another_function_is_no_answer_to_the_request(sent, repeated, status):
    assert status_of(responded(sent=sent, repeated=repeated)) == status


def test_only_a_response_repeats_functions():
    assert status_of(responded(sent=[STRICT], repeated=[LOOSE], object_="chat.completion")) == 200
