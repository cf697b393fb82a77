"""The agent's tests, with the answers of a script."""

import agent
import pytest

from ellmer_conformance.pytest.llm_server import LLMServer

pytestmark = pytest.mark.llm_server(script="../answers.yaml", strict=True)


def test_it_asks_the_tool(llm_server: LLMServer) -> None:
    assert agent.answer("How is the weather in Paris?") == "It is 21 °C in Paris."
    result = llm_server.requests[-1].request.body["messages"][-1]
    assert (result["role"], result["content"]) == ("tool", "21")


def test_it_tries_again_after_a_rate_limit(llm_server: LLMServer) -> None:
    assert agent.answer("Are you busy?") == "Not any more."
    assert [entry.exchange.response.status for entry in llm_server.requests] == [429, 200]
