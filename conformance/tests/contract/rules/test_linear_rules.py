"""A conversation that is twice as long takes each rule at most 2.3 times the lines of Python, at a provider of each wire format."""

import json
from functools import partial

import pytest
from counted_lines import lines_of

import ellmer_core as ec
from ellmer_conformance.contract import readers, rules
from ellmer_conformance.contract.rule import verdict

pytestmark = pytest.mark.invariants

MOST, FIXED = 2.3, 200
CHATS = {
    "openai-chat": ec.chat_openai_completions,
    "openai-responses": ec.chat_openai_responses,
    "anthropic": ec.chat_anthropic,
    "gemini": ec.chat_google_gemini,
    "bedrock": ec.chat_aws_bedrock,
    "ollama": ec.chat_ollama,
    "mistral": ec.chat_mistral,
    "cohere": ec.chat_cohere,
}


@ec.tool
def look(place: int) -> str:
    """Looks at a place."""
    return f"It is {place}."


def rounds(count):
    """Returns a conversation with two calls and their results in each round."""
    for number in range(count):
        calls = [ec.ContentToolRequest(f"call_{number}_{n}", "look", {"place": n}) for n in range(2)]
        yield ec.UserTurn(f"Question {number}?")
        yield ec.AssistantTurn(["I look.", *calls])
        yield ec.UserTurn([ec.ContentToolResult("It is 1.", request=call) for call in calls])
        yield ec.AssistantTurn(f"Answer {number}.")
    yield ec.UserTurn("And now?")


def at_once(count):
    """Returns a conversation with many calls in one answer, whose results come in the other order."""
    calls = [ec.ContentToolRequest(f"call_{n}", "look", {"place": n}) for n in range(count)]
    results = [ec.ContentToolResult("It is 1.", request=call) for call in reversed(calls)]
    return [
        ec.UserTurn("?"),
        ec.AssistantTurn(calls),
        ec.UserTurn(results),
        ec.AssistantTurn("."),
        ec.UserTurn("?"),
    ]


def asked(wire, turns):
    """Returns the request of a conversation."""
    key = {} if wire == "ollama" else {"api_key": "any-key"}
    place = {"base_url": "https://bedrock-runtime.us-east-1.amazonaws.com"} if wire == "bedrock" else {}
    model = {"bedrock": "us.anthropic.claude-sonnet-5", "ollama": "qwen3"}.get(wire)
    chat = CHATS[wire](echo="none", **key, **place, **({"model": model} if model else {}))
    sent = chat.wire.request([*turns], [look])
    body = json.dumps(sent.json).encode()
    return readers.request("POST", sent.url, {"content-type": "application/json"}, body)


def lines_by_rule(request):
    """Returns how many lines each rule takes. What all rules share has been read before."""
    book = rules.book(request.wire, request.provider)
    book.judge(request)
    return {rule.id: lines_of(partial(verdict, rule, request)) for rule in book.rules.values()}


@pytest.mark.parametrize("made", [rounds, at_once])
@pytest.mark.parametrize("wire", CHATS)
def test_a_rule_takes_as_long_as_the_conversation_is(wire, made):
    few, many = (lines_by_rule(asked(wire, made(count))) for count in (20, 40))

    assert {id: (few[id], many[id]) for id in few if many[id] > MOST * few[id] + FIXED} == {}
    assert sum(many.values()) > sum(few.values())
