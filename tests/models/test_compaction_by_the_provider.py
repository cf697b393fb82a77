"""`params(compact_at=…)`: the provider itself makes a long conversation shorter, where it can."""

import json

import httpx
import pytest

import ellmer_core as ec
from ellmer_conformance.server.strict_server import StrictServer

MAKES = {
    "anthropic": (ec.chat_anthropic, "claude-opus-4-6"),
    "openai-responses": (ec.chat_openai_responses, "gpt-5.6"),
}
SUMMARY = {"type": "compaction", "content": "The user greeted the assistant."}
ITEM = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"}
EVENTS = [
    {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 9}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "compaction", "content": None}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "compaction_delta", "content": SUMMARY["content"]},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hello."}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
]
STREAMED = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in EVENTS)
TEXT = {"type": "text", "text": "Hello."}
WHOLE = {"role": "assistant", "content": [SUMMARY, TEXT], "stop_reason": "end_turn", "usage": {}}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
RESPONSE = {
    "status": "completed",
    "output": [ITEM, {**SAID, "content": [{"type": "output_text", "text": "Hello.", "annotations": []}]}],
}


def chat_of(wire, tokens, **options):
    make, model = MAKES[wire]
    return make(
        model=options.pop("model", model), api_key="k", params=ec.params(compact_at=tokens), **options
    )


def said(chat, text, streamed):
    return "".join(chat.stream(text)) if streamed else chat.chat(text)


def answering(answer):
    """Returns clients that get this answer, and the requests that they will have sent."""
    sent = []

    def handle(request):
        sent.append(json.loads(request.content))
        return (
            httpx.Response(200, text=answer) if isinstance(answer, str) else httpx.Response(200, json=answer)
        )

    line = httpx.MockTransport(handle)
    return (httpx.Client(transport=line), httpx.AsyncClient(transport=line)), sent


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("wire", "asked"),
    [
        (
            "anthropic",
            {"edits": [{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 90_000}}]},
        ),
        ("openai-responses", [{"type": "compaction", "compact_threshold": 90_000}]),
    ],
)
def test_the_provider_is_asked_as_it_wants_to_be(wire, asked, streamed):
    with StrictServer() as server:
        chat = chat_of(wire, 90_000, base_url=f"{server.origin}/v1", max_tries=1)
        said(chat, "Hi", streamed)

        assert [entry.answer.status for entry in server.requests] == [200]
        assert server.requests[0].request.body["context_management"] == asked
        betas = server.requests[0].request.headers.get("anthropic-beta", "").split(",")
    assert ("compact-2026-01-12" in betas) == (wire == "anthropic")


def test_betas_of_the_caller_stay():
    with StrictServer() as server:
        own = {"anthropic-beta": "context-management-2025-06-27"}
        chat_of("anthropic", 90_000, base_url=f"{server.origin}/v1", api_headers=own).chat("Hi")
        betas = server.requests[0].request.headers["anthropic-beta"].split(",")
    assert {"context-management-2025-06-27", "compact-2026-01-12"} <= set(betas)


@pytest.mark.parametrize(
    ("wire", "answer", "place"),
    [
        ("anthropic", WHOLE, lambda body: body["messages"][1]["content"][0]),
        ("anthropic", STREAMED, lambda body: body["messages"][1]["content"][0]),
        ("openai-responses", RESPONSE, lambda body: body["input"][1]),
    ],
    ids=["anthropic", "anthropic, streamed", "openai-responses"],
)
def test_a_compaction_goes_back_as_it_came(wire, answer, place):
    clients, sent = answering(answer)
    chat = chat_of(wire, 90_000, client=clients)
    assert said(chat, "Hi", isinstance(answer, str)) == "Hello."
    again = chat_of(wire, 90_000, client=clients)
    again.restore(json.loads(json.dumps(chat.record())))
    said(again, "And?", isinstance(answer, str))

    assert place(sent[-1]) == (ITEM if wire == "openai-responses" else SUMMARY)


@pytest.mark.parametrize(
    ("make", "model", "reason"),
    [
        (ec.chat_anthropic, "claude-opus-4-1", "the provider does not compact its conversations"),
        (ec.chat_openai_completions, "gpt-4.1", "there is no such parameter"),
        (ec.chat_google_gemini, "gemini-3-flash-preview", "there is no such parameter"),
    ],
)
def test_elsewhere_it_is_left_out_with_a_reason(make, model, reason):
    with StrictServer() as server:
        path = "/v1beta" if make is ec.chat_google_gemini else "/v1"
        with pytest.warns(UserWarning, match=f"compact_at is left out, because {reason}"):
            chat = make(
                model=model, api_key="k", base_url=f"{server.origin}{path}", params={"compact_at": 90_000}
            )
        chat.chat("Hi")
        assert "context_management" not in server.requests[0].request.body


@pytest.mark.parametrize(("wire", "least"), [("anthropic", 50_000), ("openai-responses", 1_000)])
def test_too_few_tokens_become_the_least(wire, least):
    clients, sent = answering(WHOLE if wire == "anthropic" else RESPONSE)
    with pytest.warns(UserWarning, match=f"compact_at is {least}, because the model takes {least} to"):
        chat_of(wire, 10, client=clients).chat("Hi")
    assert str(least) in json.dumps(sent[0]["context_management"])
