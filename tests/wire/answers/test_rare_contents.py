"""Rare contents of answers: images, refusals, audio, parts and statuses of a newer API. An answer gives the same turn
with and without a stream, and the model's content is sent back.
"""

import pytest

from ellmer_core.contents.content import (
    ContentImageInline,
    ContentImageRemote,
    ContentText,
    ContentThinking,
    ContentUnknown,
)
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.errors import ProviderError, ResponseError
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.ollama.to_wire import OllamaChat
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

CHAT, RESPONSES, OLLAMA, GEMINI = (
    wire(model="m") for wire in (OpenAIChat, OpenAIResponses, OllamaChat, Gemini)
)
PNG = "data:image/png;base64,iVBORw0KGgo="


def chat_answer(**message):
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}]}


def folded(wire, *events):
    merger = wire.merger()
    shown = [piece for event in events for piece in merger.add(event)]
    assert merger.complete
    return wire.turn(merger.response()), shown


def chat_stream(*deltas):
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    return folded(CHAT, *({"choices": [choice]} for choice in choices), "[DONE]")


# Chat Completions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "deltas", "contents"),
    [
        ({"refusal": "I cannot."}, [{"refusal": "I "}, {"refusal": "cannot."}], [ContentText("I cannot.")]),
        (
            {"audio": {"id": "a1", "transcript": "Hello."}},
            [{"audio": {"id": "a1"}}, {"audio": {"transcript": "Hel"}}, {"audio": {"transcript": "lo."}}],
            [ContentText("Hello.")],
        ),
        (
            {"content": "", "images": [{"type": "image_url", "image_url": {"url": PNG}}]},
            [{"images": [{"type": "image_url", "image_url": {"url": PNG}}]}],
            [ContentImageInline("image/png", "iVBORw0KGgo=")],
        ),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "https://x/a.png"}}]},
            [{"content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "https://x/a.png"}}]}],
            [ContentText("a"), ContentImageRemote("https://x/a.png")],
        ),
        (
            {"content": [{"type": "reference", "reference_ids": [1]}]},
            [{"content": [{"type": "reference", "reference_ids": [1]}]}],
            [ContentUnknown("openai-chat", {"type": "reference", "reference_ids": [1]})],
        ),
        ({"content": {"a": 1}}, [{"content": {"a": 1}}], [ContentText('{"a":1}')]),
    ],
    ids=["refusal", "audio", "images", "parts", "unknown", "parsed"],
)  # fmt: skip
def test_chat_completions(message, deltas, contents):
    whole = CHAT.turn(chat_answer(**message))
    streamed, shown = chat_stream({"role": "assistant"}, *deltas)
    assert list(whole.contents) == contents
    assert streamed.contents == whole.contents
    assert "".join(piece.text for piece in shown) == whole.text
    assert CHAT.message(whole)  # and goes back


def test_thinking_in_parts_is_shown_and_kept():
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    whole = CHAT.turn(chat_answer(content=[part, {"type": "text", "text": "Hi."}]))
    streamed, shown = chat_stream({"content": [part]}, {"content": "Hi."})
    assert [type(content) for content in whole.contents] == [ContentThinking, ContentText]
    assert streamed.text == whole.text
    assert shown == [ContentThinking("Hm."), ContentText("Hi.")]


# Responses --------------------------------------------------------------------------------------------------


def test_an_image_that_was_made_goes_back_as_the_item_it_was():
    item = {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "result": "iVBO",
        "output_format": "webp",
    }
    turn = RESPONSES.turn({"status": "completed", "output": [item]})
    assert list(turn.contents) == [ContentImageInline("image/webp", "iVBO")]
    assert RESPONSES.message(turn) == [item]


def test_a_refusal_and_parts_of_a_newer_api():
    parts = [{"type": "refusal", "refusal": "No."}, {"type": "output_hologram", "cubes": 3}]
    item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": parts}
    turn = RESPONSES.turn({"status": "completed", "output": [item]})
    assert turn.finish_reason == "content_filter"
    assert turn.contents[0] == ContentText("No.")
    assert isinstance(turn.contents[1], ContentUnknown)
    sent = RESPONSES.message(turn)
    assert [part for message in sent for part in message["content"]] == parts


@pytest.mark.parametrize(
    ("status", "reason"),
    [("in_progress", "in_progress"), ("queued", "queued"), (None, None), ("paused", "paused")],
)
def test_statuses(status, reason):
    assert RESPONSES.turn({"status": status, "output": []}).finish_reason == reason


def test_log_probabilities_are_asked_for_kept_and_not_sent_back():
    wire = OpenAIResponses(model="gpt-4.1", params={"log_probs": True, "top_logprobs": 2})
    part = {
        "type": "output_text",
        "text": "Hi.",
        "annotations": [],
        "logprobs": [{"token": "Hi", "logprob": -0.1}],
    }
    item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}
    turn = wire.turn({"status": "completed", "output": [item]})
    body = wire.request([UserTurn("Hi"), turn, UserTurn("?")]).json

    assert (body["include"], body["top_logprobs"]) == (["message.output_text.logprobs"], 2)
    assert "log_probs" not in body
    assert turn.json["output"][0]["content"][0]["logprobs"] == part["logprobs"]
    assert "logprobs" not in body["input"][1]["content"][0]


# All --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wire", [CHAT, OLLAMA, GEMINI, RESPONSES, AnthropicMessages(model="m")], ids=lambda w: w.name
)
def test_events_that_are_none_say_nothing_and_errors_are_raised(wire):
    merger = wire.merger()
    assert list(merger.add(5)) == []
    with pytest.raises(ProviderError, match="Overloaded"):
        merger.add({"type": "error", "error": {"message": "Overloaded", "type": "server_error", "code": 500}})


def test_blocks_that_are_no_objects_are_no_answer():
    for wire, answer in (
        (CHAT, chat_answer(content=[5])),
        (GEMINI, {"candidates": [{"content": {"parts": [5]}}]}),
        (RESPONSES, {"status": "completed", "output": [5]}),
    ):
        with pytest.raises(ResponseError, match="expected format"):
            wire.turn(answer)


def test_gemini_s_citations_and_ollama_s_logprobs_are_put_together():
    def cited(*sources, finish=None):
        candidate = {
            "content": {"parts": [{"text": "a"}]},
            "citationMetadata": {"citationSources": list(sources)},
        }
        return {"candidates": [{**candidate, **({"finishReason": finish} if finish else {})}]}

    turn, _ = folded(GEMINI, cited({"uri": "x"}), cited({"uri": "y"}, finish="STOP"))
    sources = turn.json["candidates"][0]["citationMetadata"]["citationSources"]
    assert sources == [{"uri": "x"}, {"uri": "y"}]

    def said(text, **more):
        return {"message": {"role": "assistant", "content": text}, "logprobs": [{"token": text}], **more}

    turn, _ = folded(OLLAMA, said("a", done=False), said("b", done=True, done_reason="stop"))
    assert turn.json["logprobs"] == [{"token": "a"}, {"token": "b"}]
    assert turn.text == "ab"
    assert isinstance(turn, AssistantTurn)
