"""A client's requests to the strict server for each provider, and the scripts of its answers."""

import base64
import itertools
from hashlib import sha256

from ellmer_conformance.scenarios.script import Answer, AnswerByMedia, Call, Cut, Failure, Say, Script, Think

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DATA_URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
WEATHER = Call("get_weather", {"city": "Zürich"})
CALLS = Answer((Say("Let me look."), WEATHER, Call("get_time", {"zone": "CET"})))
SCRIPTS = {
    "two": Script((Answer((Say("first"),)), Answer((Say("second"),)))),
    "calls": Script((CALLS, Answer((Say("Sunny."),)))),
    "sees": Script((AnswerByMedia((sha256(PNG).hexdigest(),), Answer((Say("one pixel"),))),)),
    "thinks": Script((Answer((Think("A thought."), WEATHER)), Answer((Say("done"),)))),
    "cut": Script((Cut(CALLS),)),
    "cut-inside": Script((Cut(CALLS, at="inside-arguments"),)),
    "fails": Script((Failure("overloaded", after=Answer((Say("One moment"),))),)),
}

USER = {"role": "user", "content": "Hello"}
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "Weather", "parameters": PARAMETERS}


class Provider:
    """The requests for one provider."""

    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body

    def stream_path(self):
        return self.path.replace(":generateContent", ":streamGenerateContent?alt=sse")

    def stream_body(self):
        return self.body if "generateContent" in self.path else self.body | {"stream": True}


OPENAI = {"authorization": "Bearer any-key"}
PROVIDERS = {
    "openai-chat": Provider(
        "/v1/chat/completions",
        OPENAI,
        {"model": "gpt-4.1", "messages": [USER], "tools": [{"type": "function", "function": FUNCTION}]},
    ),
    "openai-responses": Provider(
        "/v1/responses",
        OPENAI,
        {"model": "gpt-5.6-terra", "input": "Hello", "tools": [{"type": "function", **FUNCTION}]},
    ),
    "anthropic": Provider(
        "/v1/messages",
        {"x-api-key": "any-key", "anthropic-version": "2023-06-01"},
        {
            "model": "claude-sonnet-5",
            "max_tokens": 999,
            "messages": [USER],
            "tools": [{"name": "get_weather", "input_schema": PARAMETERS}],
        },
    ),
    "gemini": Provider(
        "/v1beta/models/gemini-3.5-flash:generateContent",
        {"x-goog-api-key": "any-key"},
        {
            "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
            "tools": [{"functionDeclarations": [FUNCTION]}],
        },
    ),
}
CHAT, MESSAGES = PROVIDERS["openai-chat"], PROVIDERS["anthropic"]
NONCES = map(str, itertools.count())


def chat(*messages, **more):
    return CHAT.body | {"messages": list(messages), **more}


def assistant(*ids):
    call = {"type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    return {"role": "assistant", "tool_calls": [{"id": id, **call} for id in ids]}


def result(id):
    return {"role": "tool", "tool_call_id": id, "content": "sunny"}
