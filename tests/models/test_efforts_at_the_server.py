"""The efforts that a profile lists are those that the strict server accepts, over both APIs of OpenAI."""

import httpx
import pytest

from ellmer_conformance.server import StrictServer
from ellmer_core.providers.openai import chat_openai
from ellmer_core.providers.openai_completions import chat_openai_completions

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
ASK = [{"role": "user", "content": "Hi."}]
MODELS = (
    *("gpt-5", "gpt-5.1", "gpt-5.2", "gpt-5.4", "gpt-5.4-mini", "gpt-5.6-sol", "gpt-5.6-luna"),
    *(
        "gpt-6-astra",
        "gpt-6-sol",
        "gpt-6-luna",
        "gpt-6.1-sol",
        "gpt-6.1-terra",
        "gpt-6.2-sol",
        "gpt-6.2-astra",
    ),
)


@pytest.fixture(scope="module")
def server():
    with StrictServer() as server:
        yield server


def accepted(server, path, **body):
    reply = httpx.post(server.origin + path, json=body, headers={"authorization": "Bearer any-key"})
    assert reply.status_code in {200, 400}, reply.text
    return reply.status_code == 200


@pytest.mark.parametrize("model", MODELS)
def test_responses_takes_the_efforts_of_the_profile_and_no_others(server, model):
    efforts = chat_openai(api_key="k", model=model).profile.efforts
    taken = [
        effort
        for effort in EFFORTS
        if accepted(server, "/v1/responses", model=model, input="Hi.", reasoning={"effort": effort})
    ]
    assert taken == [effort for effort in EFFORTS if effort in efforts]


@pytest.mark.parametrize("model", MODELS)
def test_chat_completions_takes_each_effort_of_the_profile(server, model):
    """Whether it takes `max` of a model that can do without reasoning is not on record: the client does not send it."""
    efforts = chat_openai_completions(api_key="k", model=model).profile.efforts
    for effort in EFFORTS[:-1]:
        taken = accepted(server, "/v1/chat/completions", model=model, messages=ASK, reasoning_effort=effort)
        assert taken == (effort in efforts), effort
    assert "max" not in efforts
