# ruff: noqa: INP001 - an example, not a package
"""The server answers for the model, and refuses what the API would refuse."""

import pytest

openai = pytest.importorskip("openai")
ASK = {"role": "user", "content": "Name a colour."}


def test_the_model_answers() -> None:
    answer = openai.OpenAI().chat.completions.create(model="gpt-4.1", messages=[ASK])
    assert answer.choices[0].message.content


def test_a_wrong_request_is_refused() -> None:
    result = {"role": "tool", "tool_call_id": "call_1", "content": "21 °C"}
    with pytest.raises(openai.BadRequestError, match="preceeding message with 'tool_calls'"):
        openai.OpenAI().chat.completions.create(model="gpt-4.1", messages=[ASK, result])
