"""Mutated requests to the strict server, and mutated files for lint: neither fails.

`nox -s fuzz` uses tens of thousands, the tests some. The seed is fixed, so that each run is the same.
"""

import json
import os
import time
from random import Random

import pytest

from ellmer_conformance.recordings.lint import lint_file
from ellmer_conformance.server.engine import Engine
from ellmer_conformance.server.http.connection import Reader
from ellmer_conformance.server.http.messages import HttpRequest, KnownRequests

COUNT = int(os.environ.get("FUZZ", "320")) // 8
SLOW = 20.0  # seconds of the processor for one request or file; milliseconds are usual
STRANGE = [
    b"null",
    b"1e999",
    b"[]",
    b"{}",
    b'"\\ud83d"',
    b"NaN",
    b"9" * 5000,
    b"[" * 300,
    b'"',
    b"\x00",
    b"\xff",
    b"\r\n",
    b"\x1b",
    b"<<: *a",
    b"- ",
]

TOOL = {
    "name": "f",
    "description": "F.",
    "parameters": {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"$ref": "#/$defs/a"}},
    },
}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CHAT = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "a", "content": "1"},
]
BODIES = {
    "/v1/chat/completions": {
        "model": "gpt-4.1",
        "messages": CHAT,
        "tools": [{"type": "function", "function": TOOL}],
    },
    "/v1/responses": {
        "model": "gpt-5",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "1"},
        ],
    },
    "/v1/messages": {
        "model": "claude-sonnet-4-5",
        "max_tokens": 99,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}],
            }
        ],
        "tools": [{"name": "f", "strict": True, "input_schema": TOOL["parameters"]}],
    },
    "/v1beta/models/gemini-3-pro:generateContent": {
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "Hi"}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}],
            }
        ],
        "tools": [{"functionDeclarations": [TOOL]}],
        "generationConfig": {"thinkingConfig": {"thinkingBudget": 1}},
    },
    "/model/anthropic.claude-sonnet-4-5-20250929-v1:0/converse": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"text": "Hi"},
                    {"document": {"name": "a", "format": "pdf", "source": {"bytes": "aGk="}}},
                ],
            }
        ],
        "inferenceConfig": {"maxTokens": 9},
    },
    "/api/chat": {
        "model": "llama3",
        "messages": [{"role": "user", "content": "Hi", "images": ["aGk="]}],
        "stream": False,
    },
    "/v2/chat": {"model": "command-a-03-2025", "messages": CHAT, "citation_options": {"mode": "fast"}},
    "/c/any/1@mistral/v1/chat/completions": {"model": "mistral-large-latest", "messages": CHAT},
}
HEADERS = {
    "host": "127.0.0.1",
    "content-type": "application/json",
    "authorization": "Bearer k",
    "x-api-key": "k",
    "x-goog-api-key": "k",
    "anthropic-version": "2023-06-01",
}


def mutated(data, chance):
    """Returns the bytes with one error."""
    at, size = chance.randrange(len(data) + 1), chance.choice([1, 1, 8, 64])
    match chance.randrange(6):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[at + size :]
        case 2:
            return data[:at] + data[at : at + size] * 2 + data[at + size :]
        case 3:
            return data[:at] + chance.choice(STRANGE) + data[at:]
        case 4:
            return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        case _:
            colons = [i for i, byte in enumerate(data) if byte == 58] or [0]
            start = chance.choice(colons) + 1
            end = min(
                (i for i in (data.find(mark, start) for mark in (b",", b"}", b"\n")) if i > 0),
                default=len(data),
            )
            return data[:start] + chance.choice(STRANGE) + data[end:]


def wrong(data, chance):
    for _ in range(chance.choice([1, 1, 2, 4])):
        data = mutated(data, chance)
    return data


@pytest.mark.parametrize("mode", ["reject", "observe"])
@pytest.mark.parametrize("path", BODIES)
def test_a_mutated_request_is_answered(path, mode):
    engine, chance, body = Engine({}, mode), Random(path + mode), json.dumps(BODIES[path]).encode()
    for _ in range(COUNT):
        headers = HEADERS if chance.random() < 0.8 else {**HEADERS, chance.choice([*HEADERS]): "\u00ff\x00"}
        target = path if chance.random() < 0.8 else wrong(path.encode(), chance).decode("latin-1")
        request = HttpRequest("POST", target, headers, wrong(body, chance))
        began = time.process_time()
        try:
            reply = engine.answer(request)
        except Exception as error:
            error.add_note(f"{request!r:.3000}")
            raise
        assert reply.status  # also 500, where that is what the provider says
        assert time.process_time() - began < SLOW, request
    assert json.loads(engine.journal.report("any", None))
    assert json.loads(engine.journal.index())


class Told:
    """Records the calls of a reader."""

    def __init__(self):
        self.said = []

    def came(self, request):
        self.said.append(request)

    def waits(self):
        """Notes that the client may continue."""

    def too_large(self, request):
        self.said.append(request)

    def nonsense(self, status, message):
        self.said.append((status, message))


def test_mutated_http_is_read_or_refused():
    chance = Random("http")
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    for _ in range(COUNT * 4):
        data, told = wrong(head * chance.choice([1, 2]), chance), Told()
        reader = Reader(told, KnownRequests())
        at = chance.randrange(len(data) + 1)
        reader.feed(data[:at])
        if not any(isinstance(each, tuple) for each in told.said):
            reader.feed(data[at:])
        for each in told.said:
            if isinstance(each, HttpRequest):
                Engine({}).answer(each)


def recordings():
    exchange = {
        "request": {
            "method": "POST",
            "uri": "https://api.openai.com/v1/chat/completions",
            "headers": {"content-type": ["application/json"]},
            "body": json.dumps(BODIES["/v1/chat/completions"]),
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"date": ["Sun, 06 Nov 1994 08:49:37 GMT"], "content-encoding": ["gzip"]},
            "body": {"string": "{}"},
        },
        "recorded_at": "2025-01-01T00:00:00",
    }
    har = {
        "log": {
            "entries": [
                {
                    "startedDateTime": "2025-01-01",
                    "request": {
                        "method": "POST",
                        "url": exchange["request"]["uri"],
                        "headers": [],
                        "postData": {"mimeType": "application/json", "text": exchange["request"]["body"]},
                    },
                    "response": {"status": 200, "headers": [], "content": {"text": "{}"}},
                }
            ]
        }
    }
    body = json.dumps(BODIES["/v1/chat/completions"]).replace("'", "")
    yield "a.json", json.dumps({"version": 1, "interactions": [exchange]})
    yield "a.har", json.dumps(har)
    yield "a.jsonl", f"{json.dumps(exchange)}\n{json.dumps(exchange)}\n"
    yield (
        "a.yaml",
        f"interactions:\n- request: &r\n    body: '{body}'\n    headers: {{a: [b]}}\n    method: POST\n    uri: https://api.openai.com/v1/chat/completions\n  response: {{status: {{code: 200}}, body: {{string: !!binary aGk=}}}}\n- request: *r\n  response: {{}}\n",
    )


@pytest.mark.parametrize(("name", "text"), [*recordings()])
def test_a_mutated_file_is_judged_or_is_a_problem_of_its_own(tmp_path, name, text):
    chance, path = Random(name), tmp_path / name
    for _ in range(COUNT):
        data = wrong(text.encode(), chance)
        path.write_bytes(data)
        began = time.process_time()
        try:
            report = lint_file(path)
        except Exception as error:
            error.add_note(f"{data!r:.3000}")
            raise
        assert report.problem is None or "cannot be judged" not in report.problem, (report.problem, data)
        assert time.process_time() - began < SLOW, data
