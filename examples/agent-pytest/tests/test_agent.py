"""The agent's tests: recorded once, replayed offline."""

import pytest
from agent import agent


@pytest.mark.cassette
def test_it_looks_temperatures_up():
    chat = agent()
    answer = chat.chat("How was the weather in Oslo?")
    assert "-3" in answer


@pytest.mark.cassette
def test_it_sees_its_own_chart():
    chat = agent()
    answer = chat.chat("Draw the temperatures of Oslo, and say what the chart shows.")
    assert "bars" in answer
