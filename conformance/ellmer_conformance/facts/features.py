"""The features that a program decides by: how each looks in a request of each wire format.

A feature has an example request for each wire format that can express it. `found()` tells which features a recorded
request uses, and where. The table, the pages and the data all use these two.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from ..contract import readers
from ..contract.exchange import Item, Json, Request

__all__ = ["FEATURES", "Feature", "example", "found"]

_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_PNG = "image/png"
_IMAGE_URL = f"data:{_PNG};base64,{_PIXEL}"
_SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


class Feature(NamedTuple):
    """One feature: its name, its group, its title, and the fields that express it, by wire format.

    Args:
        id: The name, such as `"temperature"`.
        group: What it belongs to, such as `"sampling"`.
        title: A short title.
        fields: By wire format, the path of the field (names joined with dots) and a value for an example.
    """

    id: str
    group: str
    title: str
    fields: Mapping[str, tuple[str, Any]] = {}


def _fields(openai: Any = None, **others: Any) -> dict[str, tuple[str, Any]]:
    """Returns the fields by wire format. Names of formats have underscores here; `openai` stands for Chat Completions."""
    fields = {"openai-chat": openai, **{name.replace("_", "-"): field for name, field in others.items()}}
    return {wire: field for wire, field in fields.items() if field}


def _same(
    name: str, value: Any, gemini: str = "", bedrock: str = "", *without: str
) -> dict[str, tuple[str, Any]]:
    """Returns the fields of a parameter that most formats name alike."""
    alike = ("openai-chat", "openai-responses", "anthropic", "mistral", "cohere")
    found = {wire: (name, value) for wire in alike if wire not in without}
    found |= {"gemini": (f"generationConfig.{gemini}", value)} if gemini else {}
    found |= {"bedrock": (f"inferenceConfig.{bedrock}", value)} if bedrock else {}
    return found | ({"ollama": (f"options.{name}", value)} if "ollama" not in without else {})


_FUNCTION = {"name": "f", "description": "It returns a word.", "parameters": _SCHEMA}
_CALLED = {"type": "function", "function": _FUNCTION}
_CHAT_TOOLS = ("tools", [_CALLED])
_STRICT = ("tools", [{"type": "function", "function": {**_FUNCTION, "strict": True}}])
_JSON_SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": _SCHEMA, "strict": True}}
_A, _R, _NO = "anthropic", "openai-responses", ("anthropic", "openai-responses", "cohere", "mistral")

FEATURES: tuple[Feature, ...] = (
    Feature("text", "content", "Text"),
    Feature("system", "content", "System prompt"),
    Feature("image_in_user", "content", "Image in a user message"),
    Feature("image_by_url", "content", "Image by URL"),
    Feature("pdf_in_user", "content", "PDF in a user message"),
    Feature("audio_in_user", "content", "Audio in a user message"),
    Feature("video_in_user", "content", "Video in a user message"),
    Feature("image_in_result", "content", "Image in a tool result"),
    Feature("pdf_in_result", "content", "PDF in a tool result"),
    Feature(
        "tools",
        "tools",
        "Tools",
        _fields(
            _CHAT_TOOLS,
            mistral=_CHAT_TOOLS,
            cohere=_CHAT_TOOLS,
            ollama=_CHAT_TOOLS,
            openai_responses=("tools", [{"type": "function", "strict": False, **_FUNCTION}]),
            anthropic=(
                "tools",
                [{"name": "f", "description": "It returns a word.", "input_schema": _SCHEMA}],
            ),
            gemini=(
                "tools",
                [{"functionDeclarations": [{"name": "f", "description": "It returns a word."}]}],
            ),
            bedrock=(
                "toolConfig.tools",
                [{"toolSpec": {"name": "f", "description": "It.", "inputSchema": {"json": _SCHEMA}}}],
            ),
        ),
    ),
    Feature("tool_results", "tools", "Results of tools"),
    Feature("parallel_calls", "tools", "Several calls in one turn"),
    Feature(
        "forced_call",
        "tools",
        "Forced tool call",
        _fields(
            ("tool_choice", "required"),
            mistral=("tool_choice", "any"),
            cohere=("tool_choice", "REQUIRED"),
            openai_responses=("tool_choice", "required"),
            anthropic=("tool_choice", {"type": "any"}),
            gemini=("toolConfig.functionCallingConfig", {"mode": "ANY"}),
            bedrock=("toolConfig.toolChoice", {"any": {}}),
        ),
    ),
    Feature(
        "strict_tools",
        "tools",
        "Strict tools",
        _fields(
            _STRICT,
            mistral=_STRICT,
            openai_responses=("tools", [{"type": "function", "strict": True, **_FUNCTION}]),
            anthropic=(
                "tools",
                [{"name": "f", "strict": True, "description": "It.", "input_schema": _SCHEMA}],
            ),
        ),
    ),
    Feature(
        "parallel_switch",
        "tools",
        "Parallel calls switched off",
        _fields(
            ("parallel_tool_calls", False),
            openai_responses=("parallel_tool_calls", False),
            mistral=("parallel_tool_calls", False),
        ),
    ),
    Feature("server_tools", "tools", "Tools that the provider runs"),
    Feature(
        "structured_output",
        "output",
        "Structured output by a schema",
        _fields(
            ("response_format", _JSON_SCHEMA),
            mistral=("response_format", _JSON_SCHEMA),
            cohere=("response_format", {"type": "json_object", "schema": _SCHEMA}),
            ollama=("format", _SCHEMA),
            openai_responses=(
                "text.format",
                {"type": "json_schema", "name": "a", "schema": _SCHEMA, "strict": True},
            ),
            anthropic=("output_config.format", {"type": "json_schema", "schema": _SCHEMA}),
            gemini=("generationConfig.responseJsonSchema", _SCHEMA),
        ),
    ),
    Feature(
        "json_mode",
        "output",
        "JSON without a schema",
        _fields(
            ("response_format", {"type": "json_object"}),
            mistral=("response_format", {"type": "json_object"}),
            cohere=("response_format", {"type": "json_object"}),
            ollama=("format", "json"),
            openai_responses=("text.format", {"type": "json_object"}),
            gemini=("generationConfig.responseMimeType", "application/json"),
        ),
    ),
    Feature("stream", "output", "Streaming"),
    Feature(
        "temperature", "sampling", "Temperature", _same("temperature", 0.5, "temperature", "temperature")
    ),
    Feature(
        "top_p", "sampling", "top_p", _same("top_p", 0.5, "topP", "topP", "cohere") | {"cohere": ("p", 0.5)}
    ),
    Feature(
        "top_k",
        "sampling",
        "top_k",
        _same("top_k", 5, "topK", "", "cohere", "mistral") | {"cohere": ("k", 5)},
    ),
    Feature("seed", "sampling", "Seed", _same("seed", 5, "seed", "", *_NO) | {"mistral": ("random_seed", 5)}),
    Feature(
        "frequency_penalty",
        "sampling",
        "Frequency penalty",
        _same("frequency_penalty", 0.5, "frequencyPenalty", "", _A, _R),
    ),
    Feature(
        "presence_penalty",
        "sampling",
        "Presence penalty",
        _same("presence_penalty", 0.5, "presencePenalty", "", _A, _R),
    ),
    Feature(
        "stop",
        "sampling",
        "Stop sequences",
        _same("stop", ["x"], "stopSequences", "stopSequences", _A, _R, "cohere")
        | {"anthropic": ("stop_sequences", ["x"]), "cohere": ("stop_sequences", ["x"])},
    ),
    Feature(
        "logprobs",
        "sampling",
        "Log probabilities",
        _fields(
            ("logprobs", True),
            cohere=("logprobs", True),
            gemini=("generationConfig.responseLogprobs", True),
            openai_responses=("include", ["message.output_text.logprobs"]),
        ),
    ),
    Feature(
        "choices",
        "sampling",
        "Several choices",
        _fields(("n", 2), mistral=("n", 2), gemini=("generationConfig.candidateCount", 2)),
    ),
    Feature(
        "max_tokens",
        "limits",
        "max_tokens",
        _fields(
            ("max_tokens", 1024),
            mistral=("max_tokens", 1024),
            cohere=("max_tokens", 1024),
            anthropic=("max_tokens", 1024),
            openai_responses=("max_output_tokens", 1024),
            gemini=("generationConfig.maxOutputTokens", 1024),
            bedrock=("inferenceConfig.maxTokens", 1024),
            ollama=("options.num_predict", 1024),
        ),
    ),
    Feature(
        "max_completion_tokens", "limits", "max_completion_tokens", _fields(("max_completion_tokens", 1024))
    ),
    Feature(
        "effort",
        "thinking",
        "Effort of thinking",
        _fields(
            ("reasoning_effort", "low"),
            openai_responses=("reasoning.effort", "low"),
            anthropic=("output_config.effort", "low"),
            gemini=("generationConfig.thinkingConfig.thinkingLevel", "low"),
            mistral=("reasoning_effort", "high"),
        ),
    ),
    Feature(
        "thinking_budget",
        "thinking",
        "Budget of thinking",
        _fields(
            anthropic=("thinking", {"type": "enabled", "budget_tokens": 1024}),
            gemini=("generationConfig.thinkingConfig.thinkingBudget", 1024),
        ),
    ),
    Feature(
        "adaptive_thinking",
        "thinking",
        "Adaptive thinking",
        _fields(anthropic=("thinking", {"type": "adaptive"})),
    ),
    Feature(
        "thinking_off",
        "thinking",
        "Thinking switched off",
        _fields(anthropic=("thinking", {"type": "disabled"})),
    ),
    Feature("thinking_back", "thinking", "Thinking sent back"),
    Feature("cache_marks", "caching", "Marks for the cache"),
    Feature("prefill", "order", "An answer that the client begins"),
    Feature("two_user_turns", "order", "Two user messages in a row"),
    Feature("system_in_the_middle", "order", "System message in the middle"),
)

_BASE: Mapping[str, Json] = {
    "openai-chat": {"messages": [{"role": "user", "content": "Hi"}]},
    "mistral": {"messages": [{"role": "user", "content": "Hi"}]},
    "cohere": {"messages": [{"role": "user", "content": "Hi"}]},
    "ollama": {"messages": [{"role": "user", "content": "Hi"}]},
    "openai-responses": {"input": [{"role": "user", "content": "Hi"}]},
    "anthropic": {"max_tokens": 2048, "messages": [{"role": "user", "content": "Hi"}]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    "bedrock": {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]},
}
_IN_NAME = ("gemini", "bedrock")  # the URL names the model

#: The user's content with an image.
_IMAGES: Mapping[str, Any] = {
    "openai-chat": {"type": "image_url", "image_url": {"url": _IMAGE_URL}},
    "mistral": {"type": "image_url", "image_url": {"url": _IMAGE_URL}},
    "cohere": {"type": "image_url", "image_url": {"url": _IMAGE_URL}},
    "openai-responses": {"type": "input_image", "detail": "auto", "image_url": _IMAGE_URL},
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": _PNG, "data": _PIXEL}},
    "gemini": {"inlineData": {"mimeType": _PNG, "data": _PIXEL}},
    "bedrock": {"image": {"format": "png", "source": {"bytes": _PIXEL}}},
}


def example(feature: Feature, wire: str, model: str) -> Json | None:
    """Returns a small request that uses a feature, or `None` if the format cannot express it or no example is kept.

    Args:
        feature: The feature.
        wire: Name of the wire format.
        model: Name of the model.

    Examples:
        >>> temperature = next(each for each in FEATURES if each.id == "temperature")
        >>> example(temperature, "openai-chat", "gpt-4.1")["temperature"]
        0.5
    """
    body: dict[str, Any] = copy.deepcopy(dict(_BASE[wire]))
    body |= {} if wire in _IN_NAME else {"model": model}
    if feature.id == "text":
        return dict(body)
    if feature.id == "prefill":
        return _prefilled(body)
    if feature.id == "image_in_user":
        return _with_image(body, wire)
    if wire not in feature.fields:
        return None
    if feature.id in {"forced_call", "parallel_switch"}:
        _set(body, *next(each for each in FEATURES if each.id == "tools").fields[wire])
    _set(body, *feature.fields[wire])
    return dict(body)


def _prefilled(body: dict[str, Any]) -> Json | None:
    if "messages" not in body:
        return None
    last = body["messages"][-1]
    content = [{"text": "Well"}] if isinstance(last["content"], list) else "Well"
    return {**body, "messages": [last, {"role": "assistant", "content": content}]}


def _with_image(body: dict[str, Any], wire: str) -> Json | None:
    if wire == "ollama":
        body["messages"][0]["images"] = [_PIXEL]
        return body
    if wire == "gemini":
        body["contents"][0]["parts"].append(_IMAGES[wire])
        return body
    kind = {"openai-responses": "input_text"}.get(wire, "text")
    text = {"text": "Hi"} if wire == "bedrock" else {"type": kind, "text": "Hi"}
    body["input" if wire == "openai-responses" else "messages"][0]["content"] = [text, _IMAGES[wire]]
    return body


def _set(body: dict[str, Any], path: str, value: Any) -> None:
    *above, last = path.split(".")
    for name in above:
        body = body.setdefault(name, {})
    body[last] = value


# --- What a request uses ---------------------------------------------------------------------------------


def found(request: Request) -> dict[str, str]:
    """Returns the features that a request uses, with a JSON pointer of each.

    A value that is the API's default says nothing, and is left out: `temperature: 1`, `n: 1`, `logprobs: false`.

    Args:
        request: The request.
    """
    items = readers.read(request)
    used = dict(_content(items)) | dict(_parameters(request)) | dict(_tools(request)) | dict(_order(items))
    if request.stream or request.body.get("stream") is True:
        used["stream"] = "/stream"
    return used


def _parameters(request: Request) -> Iterator[tuple[str, str]]:
    for feature in FEATURES:
        path, shown = feature.fields.get(request.wire, ("", None))
        value: Any = request.body
        for name in path.split(".") if path else ():
            value = value.get(name) if isinstance(value, dict) else None
        if path and _says(feature.id, value, shown):
            yield feature.id, "/" + path.replace(".", "/")


#: Values that say nothing, because they are the API's default.
_DEFAULTS: Mapping[str, Any] = {"temperature": 1, "top_p": 1, "frequency_penalty": 0, "presence_penalty": 0}


def _says(feature: str, value: Any, shown: Any) -> bool:
    """Tells whether a value of a field uses the feature, and not what holds without it."""
    if value is None or feature in {"strict_tools", "tools"}:
        return False
    if feature == "parallel_switch":
        return value is False
    if feature == "choices":
        return isinstance(value, int) and value > 1
    if feature == "forced_call":
        return _forces(value)
    if isinstance(shown, list) and feature == "logprobs":
        return isinstance(value, list) and shown[0] in value
    return _differs(feature, value, shown)


def _differs(feature: str, value: Any, shown: Any) -> bool:
    """Tells whether a value is the feature's, and neither empty nor the default."""
    if isinstance(shown, dict) and "type" in shown and isinstance(value, dict):
        return _alike(feature, value, shown)
    if feature in _DEFAULTS:
        return bool(value != _DEFAULTS[feature])
    return value not in ("", [], {}) and value is not False


def _alike(feature: str, value: dict[str, Any], shown: dict[str, Any]) -> bool:
    if feature == "structured_output" and shown["type"] == "json_object":
        return "schema" in value
    if feature == "structured_output" and shown["type"] == "object":
        return True
    plain = feature != "json_mode" or "schema" not in value
    return bool(value.get("type") == shown["type"] and plain)


def _forces(value: Any) -> bool:
    if isinstance(value, dict):
        mode = value.get("type") or value.get("mode") or next(iter(value), "")
        return mode in {"any", "tool", "ANY", "function"}
    return value in {"required", "any", "REQUIRED"}


def _tools(request: Request) -> Iterator[tuple[str, str]]:
    tools = request.body.get("tools") or (request.body.get("toolConfig") or {}).get("tools")
    own = "/toolConfig/tools" if request.wire == "bedrock" else "/tools"
    for at, tool in enumerate(tools if isinstance(tools, list) else ()):
        if not isinstance(tool, dict):
            continue
        if _is_function(tool, request.wire):
            yield "tools", own
        else:
            yield "server_tools", f"{own}/{at}"
        if tool.get("strict") is True or (tool.get("function") or {}).get("strict") is True:
            yield "strict_tools", f"{own}/{at}"
    if '"cache_control"' in (text := json.dumps(request.body)) or '"cachePoint"' in text:
        yield "cache_marks", ""


def _is_function(tool: dict[str, Any], wire: str) -> bool:
    if wire == "anthropic":
        return "input_schema" in tool
    if wire == "gemini":
        return "functionDeclarations" in tool or "function_declarations" in tool
    return "toolSpec" in tool if wire == "bedrock" else tool.get("type", "function") in {"function", "custom"}


def _content(items: list[Item]) -> Iterator[tuple[str, str]]:
    for item in items:
        if item.kind == "system":
            yield "system", item.pointer
        elif item.kind == "text" and item.role == "user":
            yield "text", item.pointer
        elif item.kind == "result":
            yield "tool_results", item.pointer
        elif item.kind == "thinking":
            yield "thinking_back", item.pointer
        elif item.media:
            yield from _media(item)


def _media(item: Item) -> Iterator[tuple[str, str]]:
    media = item.media
    kind = media.type if media else ""
    named = "image" if kind.startswith("image/") or item.kind == "image" else ""
    named = named or {"application/pdf": "pdf"}.get(kind, kind.partition("/")[0])
    if named in {"image", "pdf", "audio", "video"} and (item.within is None or named in {"image", "pdf"}):
        yield f"{named}_in_{'user' if item.within is None else 'result'}", item.pointer
    if named == "image" and item.within is None and media and media.url.startswith("http") and not media.data:
        yield "image_by_url", item.pointer


def _order(items: list[Item]) -> Iterator[tuple[str, str]]:
    calls: dict[int, int] = {}
    for item in items:
        if item.kind == "call":
            calls[item.turn] = calls.get(item.turn, 0) + 1
    if several := [turn for turn, count in calls.items() if turn >= 0 and count > 1]:
        yield "parallel_calls", next(i.pointer for i in items if i.turn == several[0] and i.kind == "call")
    if items and items[-1].role == "assistant" and items[-1].kind == "text":
        yield "prefill", items[-1].pointer
    for before, item in pairwise(items):
        if (
            before.role == item.role == "user"
            and item.kind == before.kind == "text"
            and item.turn > before.turn >= 0
        ):
            yield "two_user_turns", item.pointer
        if item.kind == "system" and before.role != "system":
            yield "system_in_the_middle", item.pointer
