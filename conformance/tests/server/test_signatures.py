"""The strict server recognizes its signatures, and refuses changed ones."""

import pytest
from servers.questions import MESSAGES, NONCES, PROVIDERS, USER

from ellmer_conformance.scenarios.script import REDACTED


def anthropic_thought(change=None):
    def body(reply):
        block, *others = reply["content"]
        return MESSAGES.body | {
            "messages": [
                USER,
                {"role": "assistant", "content": [{**block, **(change(block) if change else {})}, *others]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": b["id"], "content": "sunny"}
                        for b in others
                        if b["type"] == "tool_use"
                    ],
                },
            ]
        }

    return body


def swapped(text):
    """Returns the text with one letter in its middle changed."""
    middle = len(text) // 2
    return text[:middle] + ("A" if text[middle] != "A" else "B") + text[middle + 1 :]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (None, 200),
        (lambda block: {"signature": swapped(block["signature"])}, 400),
        (lambda block: {"thinking": block["thinking"] + "!"}, 400),
        (lambda _: {"signature": ""}, 400),
        (lambda _: {"signature": "RXFRQkNrWUlCQmdD" * 9}, 400),
    ],
    ids=["unchanged", "signature", "text", "empty", "foreign"],
)
def test_anthropic_checks_its_signatures(post, change, status):
    nonce, thinking = next(NONCES), {"thinking": {"type": "adaptive", "display": "summarized"}}
    first = post(MESSAGES, "thinks", MESSAGES.body | thinking, nonce=nonce).json()
    reply = post(MESSAGES, "thinks", anthropic_thought(change)(first) | thinking, nonce=nonce)
    assert reply.status_code == status
    if status == 400:
        message = reply.json()["error"]["message"]
        assert message == "messages.1.content.0: Invalid `signature` in `thinking` block"


@pytest.mark.parametrize(
    ("data", "status"), [(REDACTED, 200), (swapped(REDACTED), 400), ("aW52ZW50ZWQ=", 400)]
)
def test_anthropic_takes_its_own_redacted_thoughts_only(post, data, status):
    block = {"type": "redacted_thinking", "data": data}
    said = {"role": "assistant", "content": [block, {"type": "text", "text": "It rains."}]}

    reply = post(MESSAGES, "thinks", MESSAGES.body | {"messages": [USER, said, USER]}, nonce=next(NONCES))

    assert reply.status_code == status
    if status == 400:
        message = reply.json()["error"]["message"]
        assert message == "messages.1.content.0: Invalid `data` in `redacted_thinking` block"


@pytest.mark.parametrize(("changed", "status"), [(False, 200), (True, 400)])
def test_responses_checks_its_encrypted_reasoning(post, changed, status):
    provider, nonce = PROVIDERS["openai-responses"], next(NONCES)
    items = post(provider, "thinks", nonce=nonce).json()["output"]
    if changed:
        items[0]["encrypted_content"] = swapped(items[0]["encrypted_content"])
    output = {"type": "function_call_output", "call_id": items[1]["call_id"], "output": "sunny"}
    reply = post(provider, "thinks", provider.body | {"input": [USER, *items, output]}, nonce=nonce)
    assert reply.status_code == status
    if changed:
        assert reply.json()["error"]["code"] == "invalid_encrypted_content"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (None, 200),
        (lambda signature: signature.replace("+", "-").replace("/", "_").rstrip("="), 200),
        (lambda _: "skip_thought_signature_validator", 200),
        (swapped, 400),
    ],
    ids=["unchanged", "other alphabet", "bypass", "changed"],
)
def test_gemini_checks_its_signatures(post, change, status):
    provider, nonce = PROVIDERS["gemini"], next(NONCES)
    content = post(provider, "thinks", nonce=nonce).json()["candidates"][0]["content"]
    call = content["parts"][0]
    if change:
        call["thoughtSignature"] = change(call["thoughtSignature"])
    answer = {"name": "get_weather", "id": call["functionCall"]["id"], "response": {"output": "sunny"}}
    contents = [
        *provider.body["contents"],
        content,
        {"role": "user", "parts": [{"functionResponse": answer}]},
    ]
    assert post(provider, "thinks", provider.body | {"contents": contents}, nonce=nonce).status_code == status


def test_the_open_case_takes_signatures_that_it_cannot_check(post):
    foreign = anthropic_thought()(
        {
            "content": [
                {"type": "thinking", "thinking": "2 + 3", "signature": "RXFRQkNrWUlCQmdD" * 9},
                {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Oslo"}},
            ]
        }
    )
    assert post(MESSAGES, "any", foreign).status_code == 200
