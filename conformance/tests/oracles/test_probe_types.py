"""The official SDK's types judge the answers of a probed server."""

from ellmer_conformance.live_apis.probe.answers import complaint

ANSWER = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}],
}


def test_an_answer_of_another_type_is_told_by_the_official_sdk():
    assert complaint("openai-chat", ANSWER) == ""
    assert "choices" in complaint("openai-chat", ANSWER | {"choices": "none"})
