"""What came out after the rules were written is unknown to them: lint reports it, and does not call it a violation."""

import json
from copy import deepcopy
from datetime import date, timedelta
from pathlib import Path

import pytest

from ellmer_conformance.contract.changes.known_until import KNOWN_UNTIL, NOTE
from ellmer_conformance.facts import documents
from ellmer_conformance.facts.pages import pages
from ellmer_conformance.recordings.lint import lint

LATER = KNOWN_UNTIL + timedelta(days=90)
SCHEMA = {"type": "object", "properties": {}}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
CHAT = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], "tools": [FUNCTION]}
NEW_PART, NEW_TOOL = (
    {"type": "hologram", "hologram": {"url": "https://x/y"}},
    {"type": "swarm", "name": "swarm"},
)
CLAUDE = {
    "model": "claude-opus-4-8",
    "max_tokens": 9,
    "messages": CHAT["messages"],
    "tools": [{"name": "f", "input_schema": {"type": "object"}}],
}
GPT = {
    "model": "gpt-6",
    "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}],
    "tools": [{"type": "function", "name": "f", "parameters": SCHEMA}],
}
GEMINI = {
    "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
    "tools": [{"functionDeclarations": [{"name": "f", "description": "It does."}]}],
}
CONVERSE = {
    "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
    "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}]},
}
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/models/gemini-9-pro:generateContent"
AWS = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-opus-9-v1:0/converse"
#: The address, a request that every rule accepts, the list with its content, and a new part, tool and role in it.
WIRES = {
    "openai-chat": ("https://api.openai.com/v1/chat/completions", {"model": "gpt-6", **CHAT}, "messages"),
    "groq": ("https://api.groq.com/openai/v1/chat/completions", {"model": "new-9", **CHAT}, "messages"),
    "cerebras": ("https://api.cerebras.ai/v1/chat/completions", {"model": "new-9", **CHAT}, "messages"),
    "deepseek": ("https://api.deepseek.com/chat/completions", {"model": "deepseek-v9", **CHAT}, "messages"),
    "openai-responses": ("https://api.openai.com/v1/responses", GPT, "input"),
    "anthropic": ("https://api.anthropic.com/v1/messages", CLAUDE, "messages"),
    "gemini": (GOOGLE, GEMINI, "contents"),
    "bedrock": (AWS, CONVERSE, "messages"),
    "ollama": ("http://localhost:11434/api/chat", {"model": "new", "messages": [{"role": "user", "content": "Hi"}]}, "messages"),
    "mistral": ("https://api.mistral.ai/v1/chat/completions", {"model": "mistral-9", **CHAT}, "messages"),
    "cohere": ("https://api.cohere.com/v2/chat", {"model": "command-z-03-2027", **CHAT}, "messages"),
}  # fmt: skip


def variants(body, key):
    """Yields the request with something new at each place where providers add something."""
    yield {**body, "foresight": {"type": "auto"}}
    yield {**body, key: [*body[key], {**body[key][0], "role": "supervisor"}]}
    yield {**body, key: [{**body[key][0], "importance": "high"}]}
    inner = "parts" if key == "contents" else "content"
    if isinstance(body[key][0][inner], list):
        new = NEW_PART if "type" in body[key][0][inner][0] else {"hologram": {"uri": "x"}}
        yield {**body, key: [{**body[key][0], inner: [*body[key][0][inner], new]}]}
    if "tools" in body:
        yield {**body, "tools": [*body["tools"], {"swarm": {}} if key == "contents" else NEW_TOOL]}
        changed = deepcopy(body)
        changed["tools"][0]["latency"] = "fast"
        yield changed
    yield {**body, "model": "neo-9-20270201"} if "model" in body else body


def exchange(url, body, status=200, headers=(), day=LATER):
    told = {"content-type": "application/json", "anthropic-version": "2023-06-01", **dict(headers)}
    request = {"method": "POST", "url": url, "headers": told, "body": body}
    answer = {"status": status, "headers": {"date": f"{day:%a, %d %b %Y} 10:00:00 GMT"}, "body": {}}
    return json.dumps({"request": request, "response": answer})


def found(tmp_path, *exchanges):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(exchanges))
    result = lint([path])
    assert result.judged == len(exchanges)
    return [complaint for _, complaint in result.complaints if complaint.kind == "reject"]


@pytest.mark.parametrize("wire", WIRES)
def test_what_an_api_takes_later_is_unknown_and_no_violation(tmp_path, wire):
    url, body, key = WIRES[wire]
    complaints = found(tmp_path, *(exchange(url, each) for each in variants(body, key)))
    assert not [each for each in complaints if each.outcome == "violation"]
    assert all(NOTE in each.message for each in complaints if each.level == "MUST")
    if wire not in {"bedrock", "ollama"}:  # their types take fields that they do not know
        assert complaints


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "gemini", "mistral", "cohere"])
def test_the_same_is_a_violation_while_the_rules_know_the_api(tmp_path, wire):
    url, body, _ = WIRES[wire]
    [first, *_] = found(tmp_path, exchange(url, {**body, "foresight": 1}, day=KNOWN_UNTIL))
    assert first.outcome == "violation"
    assert NOTE not in first.message


@pytest.mark.parametrize(
    ("headers", "changed"),
    [
        ({"anthropic-version": "2027-02-01"}, {}),
        ({"anthropic-beta": "swarm-2027-02-01"}, {}),
        ({}, {"tools": [{"type": "swarm_20270201", "name": "swarm"}]}),
    ],
)
def test_a_name_with_a_later_date_is_unknown_on_any_day(tmp_path, headers, changed):
    url, body, _ = WIRES["anthropic"]
    told = exchange(url, {**body, **changed}, headers=headers, day=KNOWN_UNTIL)
    assert {each.outcome for each in found(tmp_path, told)} == {"warning"}


def test_a_name_with_an_earlier_date_is_known_to_be_wrong(tmp_path):
    url, body, _ = WIRES["anthropic"]
    told = exchange(url, body, headers={"anthropic-version": "2024-02-01"}, day=KNOWN_UNTIL)
    assert {each.outcome for each in found(tmp_path, told)} == {"violation"}


def test_lost_data_are_lost_on_any_day(tmp_path):
    url = WIRES["gemini"][0]
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    text = {"role": "user", "parts": [{"functionResponse": {"name": "g", "response": {"a": 1}}}]}
    body = {"contents": [*GEMINI["contents"], call, text]}
    path = tmp_path / "log.jsonl"
    path.write_text(exchange(url, body))
    assert [each.kind for _, each in lint([path]).complaints if each.outcome == "violation"] == ["loss"]


def test_the_day_is_not_before_the_last_page_that_was_read():
    read = [date.fromisoformat(str(each.day)) for each in (*documents(), *pages().values())]
    assert max(read) <= KNOWN_UNTIL
    news = Path(__file__).parents[3] / "docs/conformance/news.md"
    assert NOTE in news.read_text("utf-8")
