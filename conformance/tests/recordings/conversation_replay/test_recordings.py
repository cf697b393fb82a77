"""Recorded conversations are played to adapters: their requests must equal the accepted ones."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from broken_on_purpose import BROKEN
from click.testing import CliRunner

from ellmer_conformance.cli.runs.run import command
from ellmer_conformance.recordings.conversation_replay.conversation_player import (
    ConversationPlayer,
    RecordedAnswers,
)
from ellmer_conformance.recordings.conversation_replay.conversations import conversations
from ellmer_conformance.recordings.recorded_requests import Recording, has_no_reply
from ellmer_conformance.runner.selection import find_adapter
from ellmer_conformance.server import StrictServer

CASSETTES = Path(__file__).parents[4] / "cassettes"
URL = "https://api.openai.com/v1/chat/completions"
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [
    {"type": "function", "function": {"name": "weather", "description": "Weather.", "parameters": WEATHER}}
]


@pytest.fixture(scope="module")
def player():
    answers = RecordedAnswers()
    with StrictServer(handler=answers) as server:
        yield lambda adapter: ConversationPlayer(adapter, server, answers)


@pytest.fixture
def play(player, tmp_path):
    """Plays interactions, or a file. Returns the outcomes and the skipped parts."""

    def play(recorded, adapter="ellmer-core"):
        path = recorded
        if isinstance(recorded, list):
            path = tmp_path / "openai" / "recorded.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps({"interactions": recorded}))
        left_out = Counter()
        one = player(find_adapter(adapter))
        return [
            one.play(each) for each in conversations([path], lambda why: left_out.update([why]))
        ], left_out

    return play


def recorded(messages, answer, **more):
    body = {"model": "gpt-4.1", "messages": messages, **more}
    response = {"status": 200, "headers": {"content-type": "application/json"}, "body": answer}
    return {"request": {"method": "POST", "url": URL, "body": body}, "response": response}


def said(message, stop="stop"):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "gpt-4.1",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": stop}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
    }


def called(id, city):
    return {
        "id": id,
        "type": "function",
        "function": {"name": "weather", "arguments": json.dumps({"city": city})},
    }


USER = {"role": "user", "content": "Rain in Rome or in Oslo?"}
CALLS = {"content": None, "tool_calls": [called("call_a", "Rome"), called("call_b", "Oslo")]}
RESULTS = [
    {"role": "tool", "tool_call_id": "call_a", "content": "dry"},
    {"role": "tool", "tool_call_id": "call_b", "content": "wet"},
]
TALK = [
    recorded([USER], said(CALLS, "tool_calls"), tools=TOOLS),
    recorded([USER, {"role": "assistant", **CALLS}, *RESULTS], said({"content": "In Oslo."}), tools=TOOLS),
]


def test_a_conversation_is_played_to_its_end_and_says_what_was_accepted(play):
    [outcome], _ = play(TALK)
    assert outcome.kept
    assert [each.text for each in outcome.run.replies] == ["In Oslo."]
    assert [run.value for run in outcome.run.tool_runs] == ["dry", "wet"]
    assert list(outcome.differences) == ["", ""]


def test_a_call_at_the_end_of_a_recording_gets_a_result_and_a_last_answer(play):
    [outcome], _ = play(TALK[:1])
    assert outcome.kept
    assert len(outcome.run.exchanges) == 2


def test_a_field_of_an_inner_object_that_the_model_leaves_out_is_none_and_the_same_call(play):
    city = {"type": "object", "properties": {"name": {"type": "string"}, "zip": {"type": "string"}}}
    parameters = {
        "type": "object",
        "properties": {"city": {**city, "required": ["name"]}},
        "required": ["city"],
    }
    tools = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]
    calls = {"content": None, "tool_calls": [called("call_a", {"name": "Rome"})]}
    result = {"role": "tool", "tool_call_id": "call_a", "content": "dry"}
    again = recorded(
        [USER, {"role": "assistant", **calls}, result], said({"content": "In Oslo."}), tools=tools
    )
    [outcome], _ = play([recorded([USER], said(calls, "tool_calls"), tools=tools), again])
    assert outcome.kept
    assert [run.arguments for run in outcome.run.tool_runs] == [{"city": {"name": "Rome", "zip": None}}]
    assert [run.value for run in outcome.run.tool_runs] == ["dry"]
    assert list(outcome.differences) == ["", ""]


def test_a_block_of_blanks_which_anthropic_refuses_need_not_go_back(play, tmp_path):
    texts = ["It rains.", "\n\n", "In Oslo."]
    content = [{"type": "text", "text": text} for text in texts]
    usage = {"input_tokens": 9, "output_tokens": 3}
    answer = {
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": "end_turn",
        "usage": usage,
    }
    again = [
        USER,
        {"role": "assistant", "content": [content[0], content[2]]},
        {"role": "user", "content": "And now?"},
    ]
    said = {"model": "claude-sonnet-4-5", "max_tokens": 99}
    asked = [{**said, "messages": [USER]}, {**said, "messages": again}]
    path = tmp_path / "anthropic.json"
    url = "https://api.anthropic.com/v1/messages"
    response = {"status": 200, "headers": {"content-type": "application/json"}, "body": answer}
    requests = [{"method": "POST", "url": url, "body": body} for body in asked]
    path.write_text(
        json.dumps({"interactions": [{"request": one, "response": response} for one in requests]})
    )
    [outcome], _ = play(path)
    assert outcome.kept, outcome.broken
    assert not any(item.text.isspace() for item in outcome.run.sent_items[-1])


def test_a_refusal_is_told_to_the_caller_and_the_request_is_not_held_against_the_client(play):
    refused = recorded([USER], {"error": {"message": "No such thing.", "type": "invalid_request_error"}})
    refused["response"]["status"] = 400
    [outcome], _ = play([refused])
    assert outcome.kept
    assert "No such thing." in str(outcome.run.replies[0].error)


def test_a_refused_request_is_refused_in_another_form_too(play, tmp_path):
    thought = {"type": "thinking", "thinking": "Rain?", "signature": "c2ln"}
    answer = {
        "type": "message",
        "role": "assistant",
        "content": [thought, {"type": "text", "text": "It rains."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 3},
    }
    again = [
        USER,
        {"role": "assistant", "content": answer["content"]},
        {"role": "user", "content": "And now?"},
    ]
    error = {"type": "invalid_request_error", "message": "messages.1.content.0: Invalid `signature`"}
    said = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 2000,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    path = tmp_path / "anthropic.json"
    interactions = [
        {
            "request": {
                "method": "POST",
                "url": "https://api.anthropic.com/v1/messages",
                "body": {**said, "messages": messages},
            },
            "response": {"status": status, "headers": {"content-type": "application/json"}, "body": body},
        }
        for messages, status, body in (([USER], 200, answer), (again, 400, {"type": "error", "error": error}))
    ]
    path.write_text(json.dumps({"interactions": interactions}))
    [outcome], _ = play(path)
    assert outcome.kept, outcome.broken
    assert "Invalid `signature`" in str(outcome.run.replies[1].error)
    assert [each.response.status for each in outcome.run.exchanges] == [200, 400, 400]


def test_a_stream_is_played_in_the_chunks_in_which_it_came(play):
    chunk = {"choices": [{"index": 0, "delta": {"content": "Zoë\u2028👩"}, "finish_reason": None}]}
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    text = (
        "".join(f"data: {json.dumps(each, ensure_ascii=False)}\n\n" for each in (chunk, end))
        + "data: [DONE]\n\n"
    )
    one = recorded([USER], text, stream=True)
    size, torn = len(text.encode()), text.encode().index("👩".encode()) + 2
    one["response"] |= {"headers": {}, "chunk_lengths": [torn, 5, size - torn - 5]}
    [outcome], _ = play([one])
    assert outcome.kept
    assert outcome.run.replies[0].text == "Zoë\u2028👩"


@pytest.mark.parametrize(
    ("message", "more", "why"),
    [
        ({"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}]}, {}, "audio/wav"),
        (USER, {"n": 2}, "several answers"),
        ({"role": "assistant", "content": "It is"}, {}, "prefills the answer"),
    ],
)  # fmt: skip
def test_what_cannot_be_driven_is_told_with_the_reason(play, message, more, why):
    [outcome], _ = play([recorded([message], said({"content": "Yes."}), **more)])
    assert outcome.run is None
    assert why in outcome.not_driven


def test_the_same_recording_is_played_once_and_what_is_no_chat_is_counted(play):
    other = {
        "request": {"method": "GET", "url": "https://api.openai.com/v1/models"},
        "response": {"status": 200},
    }
    outcomes, left_out = play([*TALK, *TALK, other])
    assert len(outcomes) == 1
    assert left_out == {
        "the same request was played already": 2,
        "not a chat request: openai's /v1/models": 1,
    }


@pytest.mark.parametrize(
    ("broken", "cassette"),
    [
        ("drops_images", "anthropic/anthropic/tool_returns_image.json"),
        ("swaps_results", "openai-chat/openai/two_parallel_tools.json"),
        ("drops_images", "gemini/google/image_from_user.stream.json"),
    ],
)
def test_a_broken_client_is_caught_and_ours_is_not(play, broken, cassette):
    [ours], _ = play(CASSETTES / cassette)
    [theirs], _ = play(CASSETTES / cassette, getattr(BROKEN, broken))
    assert ours.kept
    assert not any(ours.differences)
    assert not theirs.kept or any(theirs.differences)


def test_the_command_says_how_it_went(tmp_path):
    def run(*arguments):
        return CliRunner().invoke(command, ["--against", "recordings", *map(str, arguments)])

    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"interactions": TALK}))
    fine = run(path, "--report", tmp_path / "report")
    assert fine.exit_code == 0, fine.output
    assert "1/1" in fine.output
    counts = json.loads((tmp_path / "report" / "report.json").read_text())["real"]
    assert counts["ellmer-core openai-chat"] == {
        "recorded": 1,
        "played": 1,
        "kept": 1,
        "same": 1,
        "requests": 2,
    }
    assert run(path, "--wire", "gemini").exit_code == 2
    broken = run(path, "--adapter", "broken_on_purpose:BROKEN.forgets_the_call")
    assert broken.exit_code == 1, broken.output


def test_an_endpoint_that_answers_with_a_count_is_no_conversation():
    counted = Recording("", "POST", "https://api.anthropic.com/v1/messages/count_tokens?beta=true")

    assert has_no_reply(counted)
    assert not has_no_reply(replace(counted, url="https://api.anthropic.com/v1/messages"))
