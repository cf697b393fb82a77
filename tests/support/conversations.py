"""Conversations of many turns in every wire format, as clients that keep the history send them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

Json = dict[str, Any]
KINDS = ("plain", "call", "parallel", "image", "shown", "thinking", "long", "document", "cached")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SIGNATURE = "EqQBCgIYAhIMAQIDBAUGBwgJCgsMGgwBAgMEBQYHCAkKCww="
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
SYSTEM, TOOL, ABOUT = "You know the weather.", "get_weather", "Tells the weather of a city."


def words(number: int, who: str) -> str:
    return f"This is what {who} said in turn {number}, and a bit more, so that it is a sentence."


def long(number: int) -> str:
    """A text that is not plain: lines, quotes and accents."""
    return f'# Turn {number}\n"Voilà", said é.\n' * 40


def cities(number: int, kind: str) -> list[str]:
    count = {"call": 1, "thinking": 1, "parallel": 2, "shown": 1}.get(kind, 0)
    return [f"Town {number} {index}" for index in range(count)]


def asked(number: int, kind: str) -> str:
    return long(number) if kind == "long" else words(number, "the user")


class OpenAIChat:
    path, list = "/v1/chat/completions", "messages"
    model = "gpt-4.1"
    headers: ClassVar[dict[str, str]] = {}
    id = "call_{}_{}"

    def head(self) -> Json:
        function = {"name": TOOL, "description": ABOUT, "parameters": SCHEMA}
        return {"model": self.model, "tools": [{"type": "function", "function": function}]}

    def first(self) -> list[Json]:
        return [{"role": "system", "content": SYSTEM}]

    def question(self, number: int, kind: str) -> list[Json]:
        text = asked(number, kind)
        return [{"role": "user", "content": self.pictured(text) if kind == "image" else text}]

    def pictured(self, text: str) -> Any:
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        return [{"type": "text", "text": text}, image]

    def calls(self, number: int, kind: str) -> list[Json]:
        made = [self.call(self.id.format(number, i), city) for i, city in enumerate(cities(number, kind))]
        return [{"role": "assistant", "content": self.blank(), "tool_calls": made}]

    def blank(self) -> Any:
        return None

    def call(self, id: str, city: str) -> Json:
        return {
            "id": id,
            "type": "function",
            "function": {"name": TOOL, "arguments": json.dumps({"city": city})},
        }

    def results(self, number: int, kind: str) -> list[Json]:
        return [
            {"role": "tool", "tool_call_id": self.id.format(number, i), "content": f"It rains in {city}."}
            for i, city in enumerate(cities(number, kind))
        ]

    def answer(self, number: int, kind: str) -> list[Json]:
        return [{"role": "assistant", "content": words(number, "the model")}]

    def body(self, items: Sequence[Json]) -> Json:
        return {**self.head(), self.list: [*self.first(), *items]}

    def limited(self, body: Json, tokens: int) -> Json:
        return {**body, "max_tokens": tokens}


class Groq(OpenAIChat):
    path, model = "/openai/v1/chat/completions", "meta-llama/llama-4-scout-17b-16e-instruct"
    headers: ClassVar[dict[str, str]] = {"host": "api.groq.com"}


class Mistral(OpenAIChat):
    model = "mistral-large-latest"
    headers: ClassVar[dict[str, str]] = {"host": "api.mistral.ai"}
    id = "c{:04}{:04}"

    def blank(self) -> Any:
        return ""


class Cohere(OpenAIChat):
    path, model = "/v2/chat", "command-a-03-2025"

    def body(self, items: Sequence[Json]) -> Json:
        return {**super().body(items), "stream": False}

    def calls(self, number: int, kind: str) -> list[Json]:
        (message,) = super().calls(number, kind)
        del message["content"]
        return [{**message, "tool_plan": "I look it up."}]

    def pictured(self, text: str) -> Any:
        return text


class Ollama(OpenAIChat):
    path, model = "/api/chat", "llama3.2"

    def limited(self, body: Json, tokens: int) -> Json:
        return {**body, "options": {"num_predict": tokens}}

    def body(self, items: Sequence[Json]) -> Json:
        return {**super().body(items), "stream": False}

    def blank(self) -> Any:
        return ""

    def call(self, id: str, city: str) -> Json:
        return {"function": {"name": TOOL, "arguments": {"city": city}}}

    def results(self, number: int, kind: str) -> list[Json]:
        return [
            {"role": "tool", "tool_name": TOOL, "content": f"It rains in {city}."}
            for city in cities(number, kind)
        ]

    def pictured(self, text: str) -> Any:
        return text


class Responses(OpenAIChat):
    path, list = "/v1/responses", "input"

    def limited(self, body: Json, tokens: int) -> Json:
        return {**body, "max_output_tokens": tokens}

    def head(self) -> Json:
        tool = {"type": "function", "name": TOOL, "description": ABOUT, "parameters": SCHEMA, "strict": False}
        return {"model": self.model, "instructions": SYSTEM, "tools": [tool]}

    def first(self) -> list[Json]:
        return []

    def pictured(self, text: str) -> Any:
        image = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}
        return [{"type": "input_text", "text": text}, image]

    def calls(self, number: int, kind: str) -> list[Json]:
        return [
            {
                "type": "function_call",
                "id": f"fc_{number:024x}{i:024x}",
                "call_id": self.id.format(number, i),
                "name": TOOL,
                "arguments": json.dumps({"city": city}),
            }
            for i, city in enumerate(cities(number, kind))
        ]

    def results(self, number: int, kind: str) -> list[Json]:
        return [
            {
                "type": "function_call_output",
                "call_id": self.id.format(number, i),
                "output": f"It rains in {city}.",
            }
            for i, city in enumerate(cities(number, kind))
        ]


class Anthropic(OpenAIChat):
    path, model = "/v1/messages", "claude-sonnet-4-5"
    id = "toolu_{}_{}"

    def head(self) -> Json:
        tool = {"name": TOOL, "description": ABOUT, "input_schema": SCHEMA}
        thinking = {"type": "enabled", "budget_tokens": 1024}
        return {
            "model": self.model,
            "max_tokens": 2000,
            "system": SYSTEM,
            "thinking": thinking,
            "tools": [tool],
        }

    def first(self) -> list[Json]:
        return []

    def picture(self) -> Json:
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}

    def pictured(self, text: str) -> Any:
        return [self.picture(), {"type": "text", "text": text}]

    def question(self, number: int, kind: str) -> list[Json]:
        if kind != "cached":
            return super().question(number, kind)
        text = {"type": "text", "text": asked(number, kind), "cache_control": {"type": "ephemeral"}}
        return [{"role": "user", "content": [text]}]

    def calls(self, number: int, kind: str) -> list[Json]:
        thought = {"type": "thinking", "thinking": words(number, "nobody"), "signature": SIGNATURE}
        made = [
            {"type": "tool_use", "id": self.id.format(number, i), "name": TOOL, "input": {"city": city}}
            for i, city in enumerate(cities(number, kind))
        ]
        return [{"role": "assistant", "content": [thought, *made]}]

    def results(self, number: int, kind: str) -> list[Json]:
        return [
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": self.id.format(number, i),
                        "content": [
                            {"type": "text", "text": f"It rains in {city}."},
                            *([self.picture()] if kind == "shown" else []),
                        ],
                    }
                    for i, city in enumerate(cities(number, kind))
                ],
            }
        ]


class Gemini(OpenAIChat):
    path, list = "/v1beta/models/gemini-2.5-flash:generateContent", "contents"

    def limited(self, body: Json, tokens: int) -> Json:
        return {**body, "generationConfig": {"maxOutputTokens": tokens}}

    def head(self) -> Json:
        tool = {"name": TOOL, "description": ABOUT, "parameters": SCHEMA}
        return {
            "systemInstruction": {"parts": [{"text": SYSTEM}]},
            "tools": [{"functionDeclarations": [tool]}],
        }

    def first(self) -> list[Json]:
        return []

    def question(self, number: int, kind: str) -> list[Json]:
        image = {"inlineData": {"mimeType": "image/png", "data": PNG}}
        return [
            {"role": "user", "parts": [{"text": asked(number, kind)}, *([image] if kind == "image" else [])]}
        ]

    def calls(self, number: int, kind: str) -> list[Json]:
        made: list[Json] = [
            {"functionCall": {"name": TOOL, "args": {"city": city}}} for city in cities(number, kind)
        ]
        if kind == "thinking":
            made[0]["thoughtSignature"] = SIGNATURE
        return [{"role": "model", "parts": made}]

    def results(self, number: int, kind: str) -> list[Json]:
        given = [
            {"functionResponse": {"name": TOOL, "response": {"result": f"It rains in {city}."}}}
            for city in cities(number, kind)
        ]
        return [{"role": "user", "parts": given}]

    def answer(self, number: int, kind: str) -> list[Json]:
        return [{"role": "model", "parts": [{"text": words(number, "the model")}]}]


class Vertex(Gemini):
    path = "/v1/projects/p/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent"


class Bedrock(OpenAIChat):
    path = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"
    id = "tooluse_{}_{}"

    def limited(self, body: Json, tokens: int) -> Json:
        return {**body, "inferenceConfig": {"maxTokens": tokens}}

    def head(self) -> Json:
        spec = {"name": TOOL, "description": ABOUT, "inputSchema": {"json": SCHEMA}}
        return {
            "system": [{"text": SYSTEM}],
            "inferenceConfig": {"maxTokens": 2000},
            "toolConfig": {"tools": [{"toolSpec": spec}]},
        }

    def first(self) -> list[Json]:
        return []

    def picture(self) -> Json:
        return {"image": {"format": "png", "source": {"bytes": PNG}}}

    def question(self, number: int, kind: str) -> list[Json]:
        document = {"format": "txt", "name": f"page {number}", "source": {"bytes": "UmFpbi4="}}
        more: Json = {"image": [self.picture()], "document": [{"document": document}]}
        more["cached"] = [{"cachePoint": {"type": "default"}}]
        return [{"role": "user", "content": [{"text": asked(number, kind)}, *more.get(kind, [])]}]

    def calls(self, number: int, kind: str) -> list[Json]:
        text = {"text": words(number, "nobody"), "signature": SIGNATURE}
        thought = [{"reasoningContent": {"reasoningText": text}}] if kind == "thinking" else []
        made = [
            {"toolUse": {"toolUseId": self.id.format(number, i), "name": TOOL, "input": {"city": city}}}
            for i, city in enumerate(cities(number, kind))
        ]
        return [{"role": "assistant", "content": [*thought, *made]}]

    def results(self, number: int, kind: str) -> list[Json]:
        return [
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": self.id.format(number, i),
                            "content": [
                                {"text": f"It rains in {city}."},
                                *([self.picture()] if kind == "shown" else []),
                            ],
                        }
                    }
                    for i, city in enumerate(cities(number, kind))
                ],
            }
        ]

    def answer(self, number: int, kind: str) -> list[Json]:
        return [{"role": "assistant", "content": [{"text": words(number, "the model")}]}]


FORMATS = {
    "openai-chat": OpenAIChat(),
    "groq": Groq(),
    "openai-responses": Responses(),
    "anthropic": Anthropic(),
    "gemini": Gemini(),
    "vertex": Vertex(),
    "bedrock": Bedrock(),
    "ollama": Ollama(),
    "mistral": Mistral(),
    "cohere": Cohere(),
}


def bodies(format: OpenAIChat, kinds: Sequence[str], start: int = 0) -> Iterator[Json]:
    """The body of each request of a conversation: one a turn, and another one where a tool is called."""
    items: list[Json] = []
    for number, kind in enumerate(kinds, start):
        items += format.question(number, kind)
        yield format.body(items)
        if cities(number, kind):
            items += [*format.calls(number, kind), *format.results(number, kind)]
            yield format.body(items)
        items += format.answer(number, kind)
