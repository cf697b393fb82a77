"""What a provider attached to its answers (signatures, encrypted reasoning, blocks of its own) may have been changed in a file: the
chat goes on without it, or the file is refused.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import ellmer_core as ec
from ellmer_conformance.server import StrictServer

sys.path.append(str(Path(__file__).parents[1]))  # the sweep is a package of these tests

from sweep.grid import Provider, places

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
GONE_ON = {"text": "Fine."}
SCRIPTS: dict[str, list[dict[str, Any]]] = {
    "thinks": [
        {
            "when": {"result": False, "nth": 1},
            "thinking": "I need the weather.",
            "calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}],
        },
        {"when": {"result": "get_weather"}, "thinking": "Now I know it.", "text": "It is 21 °C."},
    ],
    "searches": [
        {"searches": [{"query": "cats", "found": [{"url": "https://example.com/a", "title": "A"}]}]},
    ],
    "cites": [
        {
            "text": "Cats purr.",
            "citations": [
                {"url": "https://example.com/a", "title": "A", "quote": "Cats purr", "cited": "Cats purr"}
            ],
        }
    ],
    "runs code": [{"code": [{"code": "1+1", "output": "2"}], "text": "2"}],
    "draws": [{"media": [{"data": PNG, "type": "image/png"}], "text": "here"}],
}
PROVIDERS = {p.name: p for p in places()}
PLAYS = [
    *((name, script) for name in ("openai", "google_gemini") for script in SCRIPTS),
    *(("anthropic", script) for script in SCRIPTS if script != "draws"),
    *(
        (name, script)
        for name in ("aws_bedrock", "mistral", "cohere", "deepseek")
        for script in ("thinks", "cites")
    ),
    ("ollama", "thinks"),
]


def get_weather(city: str) -> str:
    """Returns the weather.

    Args:
        city: A city.
    """
    return f"21 °C in {city}"


def connected(provider: Provider, server: StrictServer) -> ec.Chat:
    key = {"api_key": "k"} if provider.wire.key_vars else {}
    url = server.origin + urlsplit(provider.url).path
    model = provider.wire.default_model or provider.place.model
    chat: ec.Chat = provider.construct(model=model, base_url=url, echo="none", max_tries=1, **key)
    chat.register_tool(get_weather)
    return chat


def attached(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yields the path of each value of a record that a provider attached."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in items:
        yield from attached(each, (*path, name))
    if {"extra", "data", "thinking", "raw"} & {*path}:
        yield path, value


def changed(value: Any) -> list[Any]:
    """Returns what may stand in place of a value."""
    if isinstance(value, str):
        middle = len(value) // 2
        letter = "A" if value[middle : middle + 1] != "A" else "B"
        return [value[:middle] + letter + value[middle + 1 :], "", 5, None, value * 2, "\ud800", {"a": 1}]
    if isinstance(value, dict):
        return [{**value, "more": 1}, {}, None, [], "x"]
    return [[*value, *value], [], [5], None] if isinstance(value, list) else ["x", None]


def with_value(record: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    record = copy.deepcopy(record)
    at: Any = record
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    return record


@pytest.mark.parametrize(("name", "script"), PLAYS)
@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_a_chat_goes_on_after_any_change_of_what_was_attached(name, script, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    first, *rest = SCRIPTS[script]
    first = first if "when" in first else {"when": {"nth": 1}, **first}
    with StrictServer(script=[first, *rest, GONE_ON]) as server, connected(PROVIDERS[name], server) as chat:
        chat.chat("What is the weather?")
        record = json.loads(json.dumps(chat.record()))
        places = list(attached(record["props"]["turns"], ("props", "turns")))
        answered = 0
        for turn, (path, value) in enumerate(places):
            for other in changed(value)[turn % 2 :: 2]:
                fork = chat.fork()
                try:
                    fork.restore(with_value(record, path, other))
                except ec.EllmerError:
                    continue  # the file is refused
                said = "".join(map(str, fork.stream("And now?"))) if answered % 2 else fork.chat("And now?")
                assert said, (path, other)
                answered += 1
        assert answered >= len(places) / 2


def changed_letter(text: str) -> str:
    return text[:40] + ("A" if text[40] != "A" else "B") + text[41:]


@pytest.fixture
def forged():
    """A chat with Claude, which has a changed signature in its history."""
    script = [
        {"when": {"nth": 1}, "thinking": "I greet.", "text": "Hello."},
        {"thinking": "Again.", "text": "Fine."},
    ]
    with StrictServer(script=script) as server:
        chat = ec.chat_anthropic(
            model="claude-sonnet-4-6", base_url=server.origin, api_key="k", thinking="low"
        )
        chat.chat("Hi")
        record = json.loads(json.dumps(chat.record()))
        block = record["props"]["turns"][-1]["props"]["contents"][0]["$record"]["props"]["extra"][
            "anthropic"
        ]["block"]
        block["signature"] = changed_letter(block["signature"])
        chat.restore(record)
        yield chat, server


def thoughts(entry: Any) -> int:
    blocks = [block for message in entry.request.body["messages"] for block in message["content"]]
    return sum(isinstance(block, dict) and block["type"] == "thinking" for block in blocks)


def test_the_provider_is_asked_again_once_and_the_chat_remembers(forged):
    chat, server = forged
    asked = len(server.requests)
    with pytest.warns(
        ec.EllmerWarning, match="refused what it attached to earlier answers.*Invalid `signature`"
    ) as caught:
        assert chat.chat("And now?") == "Fine."
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert [thoughts(entry) for entry in server.requests[asked:]] == [1, 0]
    assert chat.fork().chat("And then?") == "Fine."
    assert [thoughts(entry) for entry in server.requests[asked + 2 :]] == [1], (
        "the new thought goes back, and only once"
    )


def test_the_history_keeps_the_original(forged):
    chat, _ = forged
    before = chat.record()["props"]["turns"]
    with pytest.warns(ec.EllmerWarning):
        chat.chat("And now?")
    assert chat.record()["props"]["turns"][: len(before)] == before


@pytest.mark.parametrize("then", [400, 401, 429, 500])
def test_another_cause_raises_the_first_error(server, reply, then):
    chat = ec.chat_anthropic(model="claude-sonnet-4-6", base_url=server.url, api_key="k", max_tries=1)
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    extra = {"anthropic": {"issuer": "Anthropic", "block": thought}}
    turns = [ec.UserTurn("Hi"), ec.AssistantTurn([ec.ContentThinking("Hm.", extra=extra), "Hello."])]
    chat.set_turns(turns)
    answers = {"first": 400, "second": then}
    errors = {text: {"error": {"type": "invalid_request_error", "message": text}} for text in answers}
    server.answers(
        *(reply([json.dumps(errors[text]).encode()], status=status) for text, status in answers.items())
    )
    with pytest.raises(ec.BadRequestError, match="first"):
        chat.chat("And now?")
    assert chat.get_turns() == turns
