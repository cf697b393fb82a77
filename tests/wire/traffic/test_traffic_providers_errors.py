"""Every recorded refusal and error of the other wire formats and of providers is raised with its class and message."""

import json

import pytest
from chats.error_classes import error_class
from traffic.of_providers import CHAT, NATIVE, REFUSALS, wire_of
from traffic.recorded import absent, by_family, errors, judge

from ellmer_core.errors import (
    ProviderError,
)
from ellmer_core.providers.mistral import Mistral
from ellmer_core.providers.openai_compatible import OpenAICompatible


@absent
@pytest.mark.parametrize("refusals", by_family(REFUSALS))
def test_a_refusal_becomes_a_typed_error(refusals):
    judge(refusals, becomes_a_typed_error)


def becomes_a_typed_error(interaction):
    response = interaction["response"]
    body = response["text"] if "text" in response else json.dumps(response.get("body"))
    error = wire_of(interaction).error(response["status"], response["headers"], body.encode())
    assert type(error) is error_class(response["status"], error.message)
    assert error.status == response["status"]
    assert error.message


@absent
def test_every_error_inside_a_200_is_raised():
    checked = 0
    for record in errors():
        if record["where"] == "http-status" or record["protocol"] not in {"openai-chat", "ollama"}:
            continue
        wire = NATIVE.get(record["protocol"], CHAT.get(record["provider"], OpenAICompatible))(model="m")
        read = wire.turn if record["where"] == "http-200-body" else wire.merger().add
        said = record["body"] if "body" in record else record["error_events"][0]["data"]
        with pytest.raises(ProviderError) as raised:
            read(said)
        assert raised.value.message.startswith(record["message"])
        checked += 1
    assert checked > 15


@absent
def test_every_error_of_these_formats_says_what_the_provider_said():
    checked = 0
    for record in errors():
        kind = NATIVE.get(record["protocol"]) or (Mistral if record["provider"] == "mistral" else None)
        if kind is None or record["where"] != "http-status":
            continue
        body = record["body"]
        error = kind().error(record["status"], record["headers"], json.dumps(body).encode())
        assert type(error) is error_class(record["status"], error.message)
        said = body.get("message") or body.get("error") or body["detail"]
        if isinstance(said, str):
            assert error.message == said
        assert error.message.strip()
        if "x-amzn-errortype" in record["headers"]:
            assert error.code == record["headers"]["x-amzn-errortype"].split(":")[0]
        assert error.code == (body.get("code") or error.code)
        checked += 1
    assert checked > 50
