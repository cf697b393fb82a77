"""Runs each feature of docs/conformance/mocks-compared.md against the strict server and aimock, and prints the page.

python -m devtools.comparisons.mocks_compared FOLDER_OF_NPM > docs/conformance/mocks-compared.md
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server
from typing import Any, NamedTuple

import httpx

from ellmer_conformance.server import StrictServer

_HI = [{"role": "user", "content": "hello"}]
_PART = [{"role": "user", "parts": [{"text": "hello"}]}]
_CLAUDE = {"x-api-key": "any-key", "anthropic-version": "2023-06-01"}
_GOOGLE = {"x-goog-api-key": "any-key"}
_BEARER = {"authorization": "Bearer any-key"}
_TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
_SCRIPT = [
    {"when": {"user": "hello"}, "text": "Hi there."},
    {"when": {"user": "weather"}, "calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]},
    {
        "when": {"user": "fail"},
        "error": {"status": 429, "message": "Slow down.", "headers": {"retry-after": "7"}},
    },
]
_FIXTURES = {
    "fixtures": [
        {"match": {"userMessage": "hello"}, "response": {"content": "Hi there."}},
        {
            "match": {"userMessage": "weather"},
            "response": {"toolCalls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]},
        },
        {
            "match": {"userMessage": "fail"},
            "response": {
                "error": {"message": "Slow down.", "type": "rate_limit_error"},
                "status": 429,
                "retryAfter": 7,
            },
        },
    ]
}

Send = Callable[..., httpx.Response]


class Feature(NamedTuple):
    """A feature and how it is tried."""

    name: str
    works: Callable[[Send], bool]


def _chat(send: Send, **more: Any) -> httpx.Response:
    return send("/v1/chat/completions", {"model": "gpt-4.1", "messages": _HI, **more})


def _claude(send: Send, **more: Any) -> httpx.Response:
    return send("/v1/messages", {"model": "claude-sonnet-5", "max_tokens": 50, "messages": _HI, **more})


def _answers_with(reply: httpx.Response, *words: str) -> bool:
    return reply.status_code == 200 and all(word in reply.text for word in words)


def _refused(reply: httpx.Response) -> bool:
    return 400 <= reply.status_code < 500 and reply.status_code != 404


def _continues(send: Send) -> bool:
    first = send("/v1/responses", {"model": "gpt-4.1", "input": "hello"}).json()
    asked = {"model": "gpt-4.1", "input": "hello", "previous_response_id": first["id"]}
    return _answers_with(send("/v1/responses", asked), first["id"]) and _refused(
        send("/v1/responses", asked | {"previous_response_id": "resp_unknown"})
    )


def _background(send: Send) -> bool:
    found = send("/v1/responses", {"model": "gpt-4.1", "input": "hello", "background": True}).json()
    states = [
        found["status"],
        *(send(f"/v1/responses/{found['id']}", None).json().get("status") for _ in range(4)),
    ]
    return bool(states[0] == "queued" and states[-1] == "completed")


def _stored(send: Send) -> bool:
    made = _chat(send, store=True).json()
    return _answers_with(send(f"/v1/chat/completions/{made['id']}", None), made["id"])


def _cache(send: Send) -> bool:
    asked = {"model": "models/gemini-2.5-flash", "contents": _PART, "ttl": "300s"}
    made = send("/v1beta/cachedContents", asked)
    return made.status_code == 200 and _answers_with(send(f"/v1beta/{made.json()['name']}", None))


def _image(send: Send) -> bool:
    return _answers_with(
        send("/v1/images/generations", {"model": "gpt-image-1", "prompt": "hello"}), "b64_json"
    )


FEATURES = (
    Feature("a text and a tool call from a script", lambda send: _answers_with(_chat(send), "Hi there.") and _answers_with(_chat(send, messages=[{"role": "user", "content": "weather"}], tools=[_TOOL]), "get_weather")),
    Feature("an error with `retry-after` from a script", lambda send: _chat(send, messages=[{"role": "user", "content": "fail"}]).headers.get("retry-after") == "7"),
    Feature("an answer without a script: it calls a fitting tool", lambda send: _answers_with(_chat(send, messages=[{"role": "user", "content": "How is the weather in Oslo?"}], tools=[_TOOL]), "Oslo")),
    Feature("an answer without a script: it fills a strict schema", lambda send: _answers_with(_chat(send, messages=[{"role": "user", "content": "Ada is 36."}], response_format={"type": "json_schema", "json_schema": {"name": "p", "strict": True, "schema": {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"], "additionalProperties": False}}}), "age")),
    Feature("refuses `temperature: 99`", lambda send: _refused(_chat(send, temperature=99))),
    Feature("refuses a tool message without a call", lambda send: _refused(_chat(send, messages=[*_HI, {"role": "tool", "tool_call_id": "x", "content": "y"}]))),
    Feature("refuses a request without a model", lambda send: _refused(send("/v1/chat/completions", {"messages": _HI}))),
    Feature("refuses a call without its result at Anthropic", lambda send: _refused(_claude(send, messages=[*_HI, {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "a", "input": {}}]}, {"role": "user", "content": "no result"}]))),
    Feature("refuses changed signatures of thoughts", lambda send: _refused(_claude(send, thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2000, messages=[*_HI, {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "abc"}, {"type": "text", "text": "y"}]}, *_HI]))),
    Feature("OpenAI Responses with `previous_response_id`, unknown ones refused", _continues),
    Feature("background answers that are queued and complete", _background),
    Feature("stored chat completions", _stored),
    Feature("compaction", lambda send: _answers_with(send("/v1/responses/compact", {"model": "gpt-4.1", "input": "hello"}), "compaction")),
    Feature("Anthropic's token count", lambda send: _answers_with(send("/v1/messages/count_tokens", {"model": "claude-sonnet-5", "messages": _HI}), "input_tokens")),
    Feature("Anthropic's batches", lambda send: _answers_with(send("/v1/messages/batches", {"requests": [{"custom_id": "a", "params": {"model": "claude-sonnet-5", "max_tokens": 9, "messages": _HI}}]}), "msgbatch")),
    Feature("Gemini", lambda send: _answers_with(send("/v1beta/models/gemini-2.5-flash:generateContent", {"contents": _PART}), "Hi there.")),
    Feature("Gemini Interactions", lambda send: _answers_with(send("/v1beta/interactions", {"model": "gemini-2.5-flash", "input": "hello"}), "Hi there.")),
    Feature("Gemini's cached contents", _cache),
    Feature("Gemini's batches", lambda send: _answers_with(send("/v1beta/models/gemini-2.5-flash:batchGenerateContent", {"batch": {"inputConfig": {"requests": {"requests": [{"request": {"contents": _PART}}]}}}}), "batches/")),
    Feature("Bedrock Converse", lambda send: _answers_with(send("/model/anthropic.claude-3-haiku-20240307-v1:0/converse", {"messages": [{"role": "user", "content": [{"text": "hello"}]}]}), "Hi there.")),
    Feature("Bedrock InvokeModel", lambda send: _answers_with(send("/model/anthropic.claude-3-haiku-20240307-v1:0/invoke", {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": _HI}), "Hi")),
    Feature("Claude on Vertex", lambda send: _answers_with(send("/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5:rawPredict", {"anthropic_version": "vertex-2023-10-16", "max_tokens": 9, "messages": _HI}), "Hi")),
    Feature("Cohere v2", lambda send: _answers_with(send("/v2/chat", {"model": "command-a-03-2025", "messages": _HI}), "Hi there.")),
    Feature("Cohere v1", lambda send: _answers_with(send("/v1/chat", {"message": "hello"}, {"user-agent": "cohere"}), "Hi there.")),
    Feature("Ollama", lambda send: _answers_with(send("/api/chat", {"model": "llama3.2", "messages": _HI, "stream": False}), "Hi there.")),
    Feature("embeddings", lambda send: _answers_with(send("/v1/embeddings", {"model": "text-embedding-3-small", "input": "hello"}), "embedding")),
    Feature("moderations", lambda send: _answers_with(send("/v1/moderations", {"input": "hello"}), "flagged")),
    Feature("Cohere's rerank", lambda send: _answers_with(send("/v2/rerank", {"model": "rerank-v3.5", "query": "a", "documents": ["a", "b"]}), "relevance_score")),
    Feature("images without a script", _image),
    Feature("speech without a script", lambda send: send("/v1/audio/speech", {"model": "tts-1", "voice": "alloy", "input": "hello"}).status_code == 200),
    Feature("fine-tuning jobs", lambda send: send("/v1/fine_tuning/jobs", None).status_code == 200),
    Feature("a journal of requests", lambda send: send("/journal", None).status_code == 200 or send("/__aimock/journal", None).status_code == 200),
)  # fmt: skip


def _sender(origin: str) -> Send:
    def send(path: str, body: Any, headers: dict[str, str] | None = None) -> httpx.Response:
        keys = _CLAUDE if "/v1/messages" in path else _GOOGLE if "v1beta" in path else _BEARER
        return httpx.request(
            "GET" if body is None else "POST",
            origin + path,
            json=body,
            headers={**keys, **(headers or {})},
            timeout=20,
        )

    return send


@contextmanager
def _aimock(npm: Path) -> Iterator[str]:
    """Starts aimock with the fixtures."""
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        fixtures = Path(folder, "fixtures.json")
        fixtures.write_text(json.dumps(_FIXTURES), "utf-8")
        cli = npm / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
        command = ["node", str(cli), "-p", str(port), "-f", str(fixtures), "--log-level", "silent"]
        child = subprocess.Popen(command)  # noqa: S603 - our own list
        try:
            origin = f"http://127.0.0.1:{port}"
            _wait(origin)
            yield origin
        finally:
            child.terminate()
            child.wait()


def _wait(origin: str) -> None:
    for _ in range(200):
        try:
            httpx.get(origin, timeout=5)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("aimock did not start")


def _works(feature: Feature, send: Send) -> bool:
    try:
        return feature.works(send)
    except (httpx.HTTPError, ValueError, KeyError, AttributeError):
        return False


def page(npm: Path) -> str:
    """Returns the page.

    Args:
        npm: The folder with `node_modules/@copilotkit/aimock`.
    """
    about = json.loads((npm / "node_modules" / "@copilotkit" / "aimock" / "package.json").read_text("utf-8"))
    with StrictServer(script=_SCRIPT) as server, _aimock(npm) as other:
        ours, theirs = _sender(server.origin), _sender(other)
        rows = [(each.name, _works(each, ours), _works(each, theirs)) for each in FEATURES]
    cells = "".join(f"| {name} | {_cell(a)} | {_cell(b)} |\n" for name, a, b in rows)
    return _HEAD.replace("VERSION", about["version"]) + cells + _END


def _cell(works: bool) -> str:
    return "yes" if works else "no"


_HEAD = """\
# Mock servers compared

Each cell was run: the same request went to the strict server and to aimock VERSION, each with a script of three
answers. `python -m devtools.comparisons.mocks_compared` runs them again and writes this page. *No* means that the server answered
with an error or without the feature. For a request that the real API refuses, *no* means that it was answered. This project
chose the features and wrote both scripts: its authors might write a script with which a *no* of aimock becomes a *yes*.

| feature | strict server | aimock |
|---|---|---|
"""
_END = """
Speed, on 2026-11-27, as processor time for each request, because other programs used the machine: the least of five
alternating rounds over 16 connections, with aimock 1.43.0. The strict server judges each request and chooses the answer, and
aimock repeats the text of its script.

| different requests | strict server | aimock |
|---|---|---|
| short | 123 µs | 153 µs |
| short, with a script of 200 rules in each | 120 µs | 143 µs |
| short, streamed | 164 µs | 168 µs |
| five tools, of which one is called | 422 µs | 194 µs |
| a history of 20 turns | 376 µs | 179 µs |

`python -m bench server` measures the first two as requests a second. On 2026-11-28, on two quiet cores, the strict server answered
1.00 times as many different requests as aimock, 1.08 times as many with a script of 200 rules in each, and, without uvloop, 5.8 times as many equal requests.

aimock also serves these, which are not compared here: MCP, A2A and AG-UI, vector databases, video, Gemini Live, and WebSockets. If a
program uses these, aimock is the better choice. The strict server answers whether the real API would have accepted
the request.
"""

if __name__ == "__main__":
    sys.stdout.write(page(Path(sys.argv[1])))
