"""The suite catches a broken library through the whole chain: recording, replay, verdict."""

import json
from pathlib import Path

import pytest

from ellmer_conformance.adapters.endpoints import CANARY
from ellmer_conformance.runner.from_cassettes import cassette_path, play
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.runner.selection import find_adapter
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.server import StrictServer
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_harness import Refused

CASES = all_cases()


@pytest.fixture(scope="module")
def strict_server():
    with StrictServer(scripts()) as server:
        yield server


@pytest.fixture
def on_stage(tmp_path, strict_server, monkeypatch):
    """Plays a case with our adapter; `record=True` first records it, from the strict server."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    numbers = iter(range(100))

    def act(wire, provider, name, mode="sync", *, record=False):
        return play(
            find_adapter("ellmer-core"),
            wire,
            provider,
            CASES[name],
            mode,
            cassettes=tmp_path,
            record=record,
            server=(lambda case: strict_server.url(case, f"{tmp_path.name}-{next(numbers)}"))
            if record
            else None,
        )

    return act


def failures(run):
    return {v.rule.id: v.violations[0] for v in judge(run) if v.outcome == "fail"}


def user_first(self, turn):
    """Sends the user's text before the results, which OpenAI refuses."""
    messages = right(self, turn)
    return sorted(messages, key=lambda m: m["role"] == "tool")


right = OpenAIChat.message


@pytest.mark.parametrize("mode", ["sync", "async", "stream", "async-stream"])
@pytest.mark.parametrize("case", ["result_then_text", "dangling_call", "tool_returns_image"])
def test_flipping_the_order_in_one_wire_module_names_the_rule(on_stage, monkeypatch, case, mode):
    on_stage("openai-chat", "openai", case, "stream" if "stream" in mode else "sync", record=True)
    assert not failures(on_stage("openai-chat", "openai", case, mode))

    monkeypatch.setattr(OpenAIChat, "message", user_first)
    found = failures(on_stage("openai-chat", "openai", case, mode))

    assert {"ORD-002", "ORD-003", "CAS-01"} <= set(found)
    assert "/request/messages/" in found["ORD-002"].pointer
    assert "must be followed by tool messages" in found["ORD-002"].refusal.message


def test_a_recording_that_breaks_a_rule_is_not_saved(on_stage, monkeypatch, tmp_path):
    monkeypatch.setattr(OpenAIChat, "message", user_first)

    with pytest.raises(Refused, match="ORD-002"):
        on_stage("openai-chat", "openai", "result_then_text", record=True)

    assert not (tmp_path / cassette_path("openai-chat", "openai", CASES["result_then_text"], "sync")).exists()


def test_lost_media_make_the_model_blind(on_stage, monkeypatch):
    on_stage("anthropic", "anthropic", "tool_returns_image", record=True)
    original = AnthropicMessages.content

    def one_byte_changed(self, content):
        block = original(self, content)
        if block.get("type") == "image":
            data = block["source"]["data"]
            block["source"]["data"] = data[:-8] + "AAAA" + data[-4:]
        return block

    monkeypatch.setattr(AnthropicMessages, "content", one_byte_changed)
    run = on_stage("anthropic", "anthropic", "tool_returns_image", record=True)

    assert run.replies[0].text == "no image received"
    assert {"TRM-001", "TXT-005"} <= set(failures(run))


def test_recording_twice_changes_nothing(on_stage, tmp_path):
    def record():
        for mode in ("sync", "stream"):
            on_stage("openai-chat", "openai", "parallel_tools_return_images", mode, record=True)
        return {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}

    once, twice = record(), record()

    assert once == twice
    assert len([p for p in once if p.suffix == ".png"]) == 2


def test_a_cassette_says_where_it_came_from_and_holds_no_key(on_stage, tmp_path):
    on_stage("openai-chat", "openai", "plain_text", record=True)

    text = Path(tmp_path, cassette_path("openai-chat", "openai", CASES["plain_text"], "sync")).read_text(
        "utf-8"
    )

    assert json.loads(text)["metadata"]["ellmer_harness"]["recorded_from"] == "strict-server"
    assert CANARY not in text
    assert "127.0.0.1" not in text
    assert "https://api.openai.com/v1/chat/completions" in text
