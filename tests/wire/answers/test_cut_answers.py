"""Answers that their provider did not end normally: none of their calls runs, and the turn is partial.

Each answer has a call without arguments, so that the arguments do not show the truncation.
"""

import json
import struct
import warnings
from binascii import crc32

import httpx
import pytest

import ellmer_core as ec
from ellmer_core.contents.turns import AssistantPartialTurn
from ellmer_core.providers.deepseek import DeepSeek
from ellmer_core.providers.snowflake import Snowflake
from ellmer_core.providers.vllm import VLLM
from ellmer_core.providers.zai import ZAI
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.cohere.to_wire import CohereChat
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.mistral.to_wire import MistralChat
from ellmer_core.wire.ollama.to_wire import OllamaChat
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

UNKNOWN = "a_word_of_tomorrow"


def chat_body(reason):
    call = {"id": "a", "type": "function", "function": {"name": "wipe", "arguments": ""}}
    return {
        "choices": [{"index": 0, "message": {"content": "So", "tool_calls": [call]}, "finish_reason": reason}]
    }


def chat_stream(reason):
    [choice] = chat_body(reason)["choices"]
    first = {
        "choices": [
            {"index": 0, "delta": choice["message"] | {"tool_calls": [call_delta(choice["message"])]}}
        ]
    }
    last = [{"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]
    return sse(first, *last, "[DONE]")


def call_delta(message):
    return {"index": 0, **message["tool_calls"][0]}


def anthropic_body(reason):
    call = {"type": "tool_use", "id": "a", "name": "wipe", "input": {}}
    return {
        "content": [{"type": "text", "text": "So"}, call],
        "stop_reason": reason,
        "usage": {"input_tokens": 1},
    }


def anthropic_stream(reason):
    text, call = anthropic_body(reason)["content"]
    return sse(
        {"type": "message_start", "message": {"role": "assistant", "usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": text},
        {"type": "content_block_start", "index": 1, "content_block": call},
        {"type": "message_delta", "delta": {"stop_reason": reason}},
        {"type": "message_stop"},
    )


def gemini_body(reason):
    parts = [{"text": "So"}, {"functionCall": {"name": "wipe", "args": {}}}]
    return {"candidates": [{"content": {"parts": parts}, "finishReason": reason}]}


def gemini_stream(reason):
    return sse(gemini_body(reason))


def bedrock_body(reason):
    call = {"toolUse": {"toolUseId": "a", "name": "wipe", "input": {}}}
    return {"output": {"message": {"content": [{"text": "So"}, call]}}, "stopReason": reason}


def frame(name, payload):
    def header(key, value):
        return bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()

    headers = header(":message-type", "event") + header(":event-type", name)
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    start = prelude + struct.pack(">I", crc32(prelude)) + headers + body
    return start + struct.pack(">I", crc32(start))


def bedrock_stream(reason):
    start = {"toolUse": {"toolUseId": "a", "name": "wipe"}}
    return b"".join(
        frame(name, payload)
        for name, payload in [
            ("messageStart", {"role": "assistant"}),
            ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "So"}}),
            ("contentBlockStart", {"contentBlockIndex": 1, "start": start}),
            ("messageStop", {"stopReason": reason}),
            ("metadata", {"usage": {"inputTokens": 1}}),
        ]
    )


def ollama_body(reason):
    message = {"content": "So", "tool_calls": [{"function": {"name": "wipe", "arguments": {}}}]}
    return {"message": message, "done": True, "done_reason": reason}


def ollama_stream(reason):
    return json.dumps(ollama_body(reason)).encode() + b"\n"


def cohere_body(reason):
    call = {"id": "a", "type": "function", "function": {"name": "wipe", "arguments": ""}}
    return {
        "message": {"content": [{"type": "text", "text": "So"}], "tool_calls": [call]},
        "finish_reason": reason,
    }


def cohere_stream(reason):
    message = cohere_body(reason)["message"]
    [text], [call] = message["content"], message["tool_calls"]
    return sse(
        {"type": "content-start", "index": 0, "delta": {"message": {"content": text}}},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}},
        {"type": "message-end", "delta": {"finish_reason": reason}},
        "[DONE]",
    )


def responses_body(reason):
    said = {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "So"}]}
    call = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "wipe", "arguments": ""}
    return {"status": reason, "output": [said, call]}


def responses_stream(reason):
    said, call = responses_body(reason)["output"]
    return sse(
        {"type": "response.output_item.done", "output_index": 0, "item": said},
        {"type": "response.output_item.done", "output_index": 1, "item": call},
        {"type": "response.completed", "response": {"status": reason, "output": []}},
    )


def sse(*events):
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return "".join(f"data: {line}\n\n" for line in lines).encode()


#: Wire, the answer, the same as a stream, its media type.
FORMATS = {
    "openai-chat": (OpenAIChat, chat_body, chat_stream),
    "mistral": (MistralChat, chat_body, chat_stream),
    "deepseek": (DeepSeek, chat_body, chat_stream),
    "snowflake": (Snowflake, chat_body, chat_stream),
    "vllm": (VLLM, chat_body, chat_stream),
    "zai": (ZAI, chat_body, chat_stream),
    "openai-responses": (OpenAIResponses, responses_body, responses_stream),
    "anthropic": (AnthropicMessages, anthropic_body, anthropic_stream),
    "gemini": (Gemini, gemini_body, gemini_stream),
    "bedrock": (Bedrock, bedrock_body, bedrock_stream),
    "ollama": (OllamaChat, ollama_body, ollama_stream),
    "cohere": (CohereChat, cohere_body, cohere_stream),
}
STREAMED = {"bedrock": "application/vnd.amazon.eventstream", "ollama": "application/x-ndjson"}
CUT = [
    (name, reason)
    for name, (wire, *_) in FORMATS.items()
    for reason in [*wire.endings.cut, UNKNOWN, *([] if "" in wire.endings.whole else [None])]
    if (name, reason) != ("openai-responses", "failed")  # an error, of which the next test knows
]
WHOLE = [(name, reason) for name, (wire, *_) in FORMATS.items() for reason in wire.endings.whole]
FINAL = {
    "openai-responses": "completed",
    "anthropic": "end_turn",
    "gemini": "STOP",
    "bedrock": "end_turn",
    "cohere": "COMPLETE",
}


def answers(name, reason, *, stream):
    """Returns the chat's HTTP client: the answer with the call first, then one without."""
    _, body, streamed = FORMATS[name]
    asked = []

    def answer(request):
        asked.append(json.loads(request.content))
        if len(asked) > 1:
            return reply(without_call(body(FINAL.get(name, "stop"))))
        if stream:
            media = STREAMED.get(name, "text/event-stream")
            return httpx.Response(200, content=streamed(reason), headers={"content-type": media})
        return reply(body(reason))

    return httpx.Client(transport=httpx.MockTransport(answer)), asked


def reply(body):
    return httpx.Response(200, json=body)


def without_call(body):
    text = json.dumps(body)
    for key in ("tool_calls", "functionCall", "toolUse", "tool_use", "function_call"):
        text = text.replace(f'"{key}"', '"x_nothing"')
    return json.loads(text)


def talked(name, reason, *, stream):
    """Returns the calls that ran, the turns, the warnings, and the requests."""
    wire, *_ = FORMATS[name]
    client, asked = answers(name, reason, stream=stream)
    chat = ec.Chat(wire(model="m", base_url="http://x"), client=client, max_tries=1)
    ran = []

    @chat.register_tool
    def wipe() -> str:
        """Erases everything."""
        ran.append(1)
        return "gone"

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        if stream:
            list(chat.stream("Go"))
        else:
            chat.chat("Go")
    return ran, chat.get_turns(), [w for w in warned if w.category is ec.EllmerWarning], asked


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("name", "reason"), CUT)
def test_a_cut_call_is_never_run(name, reason, stream):
    if (name, reason, stream) == ("gemini", None, True):
        with pytest.raises(ec.IncompleteResponseError):  # the reason is the end mark of its streams
            talked(name, reason, stream=stream)
        return
    ran, turns, warned, asked = talked(name, reason, stream=stream)

    assert not ran
    [_, cut, told, *_] = turns
    assert isinstance(cut, AssistantPartialTurn)
    assert cut.finish_reason == FORMATS[name][0].endings.neutral(reason)
    assert cut.reason == (cut.finish_reason or "incomplete")
    assert cut.text == "So"
    assert "cut off" in cut.tool_requests[0].problem
    assert "The call was not run" in str(told.tool_results[0].error)
    assert warned
    assert len(asked) == 2


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("name", "reason"), WHOLE)
def test_a_whole_call_is_run(name, reason, stream):
    ran, turns, _, _ = talked(name, reason, stream=stream)

    assert ran == [1]
    assert not isinstance(turns[1], AssistantPartialTurn)


def test_an_ollama_that_is_not_done_is_cut():
    body = ollama_body("stop") | {"done": False}
    turn = OllamaChat(model="m").turn(body)

    assert isinstance(turn, AssistantPartialTurn)
    assert turn.tool_requests[0].problem


@pytest.mark.parametrize("status", ["in_progress", "incomplete", "cancelled", "failed", UNKNOWN])
def test_an_item_that_is_not_completed_is_cut(status):
    body = responses_body("completed")
    body["output"][1]["status"] = status
    assert OpenAIResponses(model="m").turn(body).tool_requests[0].problem


def test_a_call_of_gemini_that_goes_on_is_cut():
    body = gemini_body("STOP")
    body["candidates"][0]["content"]["parts"][1]["functionCall"]["willContinue"] = True
    assert Gemini(model="m").turn(body).tool_requests[0].problem


@pytest.mark.parametrize(("reason", "ran"), [(1, [1]), (True, []), (2, [])])
def test_a_number_of_gemini_is_a_reason_and_a_boolean_is_none(reason, ran):
    assert talked("gemini", reason, stream=False)[0] == ran


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("reason", [False, 0, []])
def test_a_reason_of_another_type_is_not_the_empty_reason_of_snowflake(reason, stream):
    with pytest.raises(ec.errors.ResponseError, match="a finish reason is a string"):
        talked("snowflake", reason, stream=stream)


def test_an_item_that_was_never_done_is_cut():
    merger = OpenAIResponses(model="m").merger()
    _, call = responses_body("completed")["output"]
    merger.add({"type": "response.output_item.added", "output_index": 0, "item": call})
    merger.add({"type": "response.completed", "response": {"status": "completed", "output": []}})

    assert OpenAIResponses(model="m").turn(merger.response()).tool_requests[0].problem


def test_what_a_partial_answer_of_a_provider_used_is_counted():
    ran, turns, *_ = talked("anthropic", "max_tokens", stream=False)
    chat = ec.Chat(AnthropicMessages(model="m"))
    chat.set_turns(turns)

    assert not ran
    assert len(chat.get_tokens()) == 2
    assert "assistant [0] [max_tokens]" in str(chat) or "assistant [?] [max_tokens]" in str(chat)


def test_every_reason_has_a_source():
    for wire, *_ in FORMATS.values():
        endings = wire.endings
        assert endings.sources
        assert all(isinstance(source, str) and source for source in endings.sources)
        assert not endings.whole.keys() & endings.cut.keys()
