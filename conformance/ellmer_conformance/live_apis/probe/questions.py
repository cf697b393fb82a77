"""The questions that a server is asked, and their requests in each wire format."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from ...contract.observed.exchange import Json
from ...scenarios.cases._media_and_tools import RED

# --- Questions -------------------------------------------------------------------------------------------


TOOL = ("get_weather", "Current weather in a city.")
SCHEMA: Json = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "The city."}},
    "required": ["city"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Question:
    """One request. `needs` is a feature that the server must have, which earlier answers show; `after` is the earlier
    request that it continues.

    `told` is the answered call: its id, its name and its arguments.
    """

    name: str
    text: str = "Say hello in French, in one short sentence."
    stream: bool = False
    tool: bool = False
    image: bool = False
    schema: bool = False
    needs: str = ""
    after: str = ""
    told: tuple[str, str, Json] | None = None


_WEATHER = "What is the weather in Paris? Use the tool."
_PLAIN = (
    Question("text"),
    Question("text_again"),
    Question("tool_call", _WEATHER, tool=True, needs="tools"),
    Question("tool_result", _WEATHER, tool=True, needs="tools", after="tool_call"),
    Question("image", "Which colour is this? One word.", image=True, needs="images"),
    Question("structured", "Name the capital of France.", schema=True, needs="structured output"),
)
#: In the order in which they are asked.
QUESTIONS = tuple(
    replace(question, stream=stream)
    for question in _PLAIN
    for stream in (False, True)
    if not (stream and question.name == "text_again")
)

#: Requests that no API takes, by name, with what is done to the body of a plain one.
MALFORMED = ("no_json", "no_conversation", "wrong_type", "unknown_model", "wrong_key")


# --- Requests --------------------------------------------------------------------------------------------


_IMAGE = b64encode(RED.data).decode()
_RESULT = "21C, sunny"
_NAME, _WHAT = TOOL

#: The field that holds the conversation.
CONVERSATIONS = {"openai-responses": "input", "gemini": "contents"}


def path(wire: str, model: str, *, stream: bool) -> str:
    """Returns the path after the base URL."""
    named = quote(model, safe="")
    return {
        "openai-chat": "/chat/completions",
        "mistral": "/chat/completions",
        "openai-responses": "/responses",
        "anthropic": "/messages",
        "gemini": f"/models/{named}:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}",
        "bedrock": f"/model/{named}/converse{'-stream' if stream else ''}",
        "ollama": "/api/chat",
        "cohere": "/chat",
    }[wire]


def headers(wire: str, key: str) -> dict[str, str]:
    """Returns the headers with the key and the format's other headers."""
    found = {"content-type": "application/json", "accept": "*/*"}
    if wire == "anthropic":
        return found | {"anthropic-version": "2023-06-01", "x-api-key": key}
    return found | ({"x-goog-api-key": key} if wire == "gemini" else {"authorization": f"Bearer {key}"})


def body(wire: str, model: str, question: Question) -> Json:
    """Returns the request's body."""
    return _BODIES[wire](model, question)


def _function(more: Mapping[str, Any] | None = None) -> Json:
    return {"name": _NAME, "description": _WHAT, "parameters": SCHEMA, **(more or {})}


def _chat(model: str, asked: Question, *, forced: str = "required") -> Json:
    content: Any = asked.text
    if asked.image:
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_IMAGE}"}}
        content = [{"type": "text", "text": asked.text}, picture]
    found: Json = {"model": model, "messages": [{"role": "user", "content": content}]}
    if asked.told:
        id, name, arguments = asked.told
        call = {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        found["messages"] += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": _RESULT},
        ]
    if asked.tool:
        found["tools"] = [{"type": "function", "function": _function()}]
        found |= {} if asked.told else {"tool_choice": forced}
    if asked.schema:
        form = {"name": "answer", "schema": SCHEMA, "strict": True}
        found["response_format"] = {"type": "json_schema", "json_schema": form}
    return found | ({"stream": True} if asked.stream else {})


def _openai(model: str, asked: Question) -> Json:
    more = {"stream_options": {"include_usage": True}} if asked.stream else {}
    return _chat(model, asked) | more


def _mistral(model: str, asked: Question) -> Json:
    return _chat(model, asked, forced="any")


def _cohere(model: str, asked: Question) -> Json:
    found = _chat(model, asked, forced="REQUIRED")
    if asked.schema:
        found["response_format"] = {"type": "json_object", "schema": SCHEMA}
    return found


def _responses(model: str, asked: Question) -> Json:
    content: list[Json] = [{"type": "input_text", "text": asked.text}]
    if asked.image:
        content.append({"type": "input_image", "image_url": f"data:image/png;base64,{_IMAGE}"})
    found: Json = {"model": model, "input": [{"role": "user", "content": content}]}
    if asked.told:
        id, name, arguments = asked.told
        call = {"type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(arguments)}
        found["input"] += [call, {"type": "function_call_output", "call_id": id, "output": _RESULT}]
    if asked.tool:
        found["tools"] = [{"type": "function", **_function({"strict": True})}]
        found |= {} if asked.told else {"tool_choice": "required"}
    if asked.schema:
        form = {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}
        found["text"] = {"format": form}
    return found | ({"stream": True} if asked.stream else {})


def _anthropic(model: str, asked: Question) -> Json:
    content: list[Json] = [{"type": "text", "text": asked.text}]
    if asked.image:
        source = {"type": "base64", "media_type": "image/png", "data": _IMAGE}
        content.append({"type": "image", "source": source})
    found: Json = {"model": model, "max_tokens": 512, "messages": [{"role": "user", "content": content}]}
    if asked.told:
        id, name, arguments = asked.told
        use = {"type": "tool_use", "id": id, "name": name, "input": arguments}
        result = {"type": "tool_result", "tool_use_id": id, "content": _RESULT}
        found["messages"] += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    if asked.tool:
        found["tools"] = [{"name": _NAME, "description": _WHAT, "input_schema": SCHEMA}]
        found |= {} if asked.told else {"tool_choice": {"type": "any"}}
    if asked.schema:
        found["output_config"] = {"format": {"type": "json_schema", "schema": SCHEMA}}
    return found | ({"stream": True} if asked.stream else {})


def _gemini(model: str, asked: Question) -> Json:  # noqa: ARG001 - the URL names the model
    parts: list[Json] = [{"text": asked.text}]
    if asked.image:
        parts.append({"inlineData": {"mimeType": "image/png", "data": _IMAGE}})
    found: Json = {"contents": [{"role": "user", "parts": parts}]}
    if asked.told:
        id, name, arguments = asked.told
        call = {"functionCall": {"id": id, "name": name, "args": arguments}}
        signed = call | {"thoughtSignature": "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="}
        response = {"functionResponse": {"id": id, "name": name, "response": {"output": _RESULT}}}
        found["contents"] += [{"role": "model", "parts": [signed]}, {"role": "user", "parts": [response]}]
    if asked.tool:
        declared = {"name": _NAME, "description": _WHAT, "parametersJsonSchema": SCHEMA}
        found["tools"] = [{"functionDeclarations": [declared]}]
        mode = {"functionCallingConfig": {"mode": "ANY"}}
        found |= {} if asked.told else {"toolConfig": mode}
    if asked.schema:
        found["generationConfig"] = {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    return found


def _bedrock(model: str, asked: Question) -> Json:  # noqa: ARG001 - the URL names the model
    content: list[Json] = [{"text": asked.text}]
    if asked.image:
        content.append({"image": {"format": "png", "source": {"bytes": _IMAGE}}})
    found: Json = {"messages": [{"role": "user", "content": content}]}
    if asked.told:
        id, name, arguments = asked.told
        use = {"toolUse": {"toolUseId": id, "name": name, "input": arguments}}
        result = {"toolResult": {"toolUseId": id, "content": [{"text": _RESULT}], "status": "success"}}
        found["messages"] += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    if asked.tool:
        spec = {"name": _NAME, "description": _WHAT, "inputSchema": {"json": SCHEMA}}
        choice: Json = {} if asked.told else {"toolChoice": {"any": {}}}
        found["toolConfig"] = {"tools": [{"toolSpec": spec}], **choice}
    if asked.schema:
        form = {"name": "answer", "schema": json.dumps(SCHEMA)}
        found["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": form}}}
    return found


def _ollama(model: str, asked: Question) -> Json:
    message: Json = {"role": "user", "content": asked.text}
    found: Json = {"model": model, "stream": asked.stream}
    found["messages"] = [message | ({"images": [_IMAGE]} if asked.image else {})]
    if asked.told:
        id, name, arguments = asked.told
        call = {"id": id, "function": {"name": name, "arguments": arguments}}
        found["messages"] += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_name": name, "content": _RESULT},
        ]
    found |= {"tools": [{"type": "function", "function": _function()}]} if asked.tool else {}
    return found | ({"format": SCHEMA} if asked.schema else {})


_BODIES: Mapping[str, Callable[[str, Question], Json]] = {
    "openai-chat": _openai,
    "mistral": _mistral,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "ollama": _ollama,
    "cohere": _cohere,
}
