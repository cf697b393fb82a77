"""Custom tools, whose argument is a text, are called by the server's model: read by OpenAI's SDK."""

from __future__ import annotations

import openai
import pytest

from ellmer_conformance.server import StrictServer

CUSTOM = {"name": "run_code", "description": "Runs a program."}
PROGRAM = "Use run_code for `print(1)`"


@pytest.mark.parametrize("stream", [False, True])
def test_a_custom_tool_is_called_with_a_text(stream):
    with StrictServer() as server:
        client = openai.OpenAI(api_key="any-key", base_url=f"{server.origin}/v1")
        asked = {"model": "gpt-5.6-terra", "input": PROGRAM, "tools": [{"type": "custom", **CUSTOM}]}
        if stream:
            events = [*client.responses.create(**asked, stream=True)]
            (done,) = [each for each in events if each.type == "response.custom_tool_call_input.done"]
            pieces = [each.delta for each in events if each.type == "response.custom_tool_call_input.delta"]
            assert "".join(pieces) == done.input == "print(1)"
            output = events[-1].response.output
        else:
            output = client.responses.create(**asked).output
        assert [(item.type, item.name, item.input) for item in output] == [
            ("custom_tool_call", "run_code", "print(1)")
        ]


@pytest.mark.parametrize("stream", [False, True])
def test_a_custom_tool_of_chat_completions(stream):
    with StrictServer() as server:
        client = openai.OpenAI(api_key="any-key", base_url=f"{server.origin}/v1")
        asked = {
            "model": "gpt-5.6-terra",
            "messages": [{"role": "user", "content": PROGRAM}],
            "reasoning_effort": "none",
            "tools": [{"type": "custom", "custom": CUSTOM}],
        }
        if stream:
            deltas = [
                choice.delta.model_dump()
                for chunk in client.chat.completions.create(**asked, stream=True)
                for choice in chunk.choices
            ]
            calls = [call for delta in deltas for call in delta.get("tool_calls") or []]
            assert "".join(call["custom"]["input"] for call in calls) == "print(1)"
            assert calls[0]["type"] == "custom"
        else:
            (call,) = client.chat.completions.create(**asked).choices[0].message.tool_calls
            assert (call.type, call.custom.name, call.custom.input) == ("custom", "run_code", "print(1)")
