"""The features that a program decides by, and which of them a request uses.

`found()` tells which features a recorded request uses, and where. `examples.example()` builds a request that uses a feature.
The table, the pages and the data all use these two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from ..contract import readers
from ..contract.observed.exchange import Item, Json, Media, Request

__all__ = ["BY_NAME", "FEATURES", "SCHEMA", "Feature", "found"]

#: The schema of the examples.
SCHEMA = {
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


_FUNCTION = {"name": "f", "description": "It returns a word.", "parameters": SCHEMA}
_CALLED = {"type": "function", "function": _FUNCTION}
_CHAT_TOOLS = ("tools", [_CALLED])
_STRICT = ("tools", [{"type": "function", "function": {**_FUNCTION, "strict": True}}])
_STRUCTURED = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA, "strict": True}}
_A, _R, _NO = "anthropic", "openai-responses", ("anthropic", "openai-responses", "cohere", "mistral")

FEATURES: tuple[Feature, ...] = (
    Feature("text", "content", "Text"),
    Feature("system", "content", "System prompt"),
    Feature("image_in_user", "content", "Image in a user message"),
    Feature("image_by_url", "content", "Image by URL"),
    Feature("pdf_in_user", "content", "PDF in a user message"),
    Feature("pdf_by_url", "content", "PDF by URL"),
    Feature("file_by_id", "content", "Uploaded file, named by its id"),
    Feature("audio_in_user", "content", "Audio in a user message"),
    Feature("video_in_user", "content", "Video in a user message"),
    Feature("image_in_result", "content", "Image in a tool result"),
    Feature("pdf_in_result", "content", "PDF in a tool result"),
    Feature("audio_in_result", "content", "Audio in a tool result"),
    Feature("video_in_result", "content", "Video in a tool result"),
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
                [{"name": "f", "description": "It returns a word.", "input_schema": SCHEMA}],
            ),
            gemini=(
                "tools",
                [{"functionDeclarations": [{"name": "f", "description": "It returns a word."}]}],
            ),
            bedrock=(
                "toolConfig.tools",
                [{"toolSpec": {"name": "f", "description": "It.", "inputSchema": {"json": SCHEMA}}}],
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
                [{"name": "f", "strict": True, "description": "It.", "input_schema": SCHEMA}],
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
            anthropic=("tool_choice.disable_parallel_tool_use", True),
        ),
    ),
    Feature("server_tools", "tools", "Tools that the provider runs"),
    Feature(
        "structured_output",
        "output",
        "Structured output by a schema",
        _fields(
            ("response_format", _STRUCTURED),
            mistral=("response_format", _STRUCTURED),
            cohere=("response_format", {"type": "json_object", "schema": SCHEMA}),
            ollama=("format", SCHEMA),
            openai_responses=(
                "text.format",
                {"type": "json_schema", "name": "a", "schema": SCHEMA, "strict": True},
            ),
            anthropic=("output_config.format", {"type": "json_schema", "schema": SCHEMA}),
            gemini=("generationConfig.responseJsonSchema", SCHEMA),
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
    Feature("streamed_arguments", "output", "Arguments of calls in pieces while streaming"),
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
    Feature("stop_sequences_5", "limits", "Five stop sequences"),
    Feature("tools_129", "limits", "More than 128 tools"),
    Feature("tool_name_65", "limits", "Name of a tool with 65 characters"),
    Feature("temperature_1_5", "limits", "Temperature above 1"),
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
        _fields(
            ("reasoning_effort", "none"),
            openai_responses=("reasoning.effort", "none"),
            anthropic=("thinking", {"type": "disabled"}),
            gemini=("generationConfig.thinkingConfig.thinkingBudget", 0),
            mistral=("reasoning_effort", "none"),
        ),
    ),
    Feature("thinking_shown", "thinking", "Thinking, or its summary, in the answer"),
    Feature("thinking_back", "thinking", "Thinking sent back"),
    Feature("thinking_unsigned", "thinking", "Thinking sent back without its signature"),
    Feature("cache_marks", "caching", "Marks for the cache"),
    Feature("prefill", "order", "An answer that the client begins"),
    Feature("two_user_turns", "order", "Two user messages in a row"),
    Feature("system_in_the_middle", "order", "System message in the middle"),
    Feature("call_without_result", "order", "Call without its result"),
    Feature("result_without_call", "order", "Result without its call"),
    Feature("text_before_results", "order", "Text before the results of calls"),
    Feature("foreign_call_id", "ids", "Id of a call as another provider makes it"),
    Feature("call_id_65", "ids", "Id of a call with 65 characters"),
)
BY_NAME = {feature.id: feature for feature in FEATURES}

# --- What a request uses ---------------------------------------------------------------------------------


def found(request: Request) -> dict[str, str]:
    """Returns the features that a request uses, with a JSON pointer of each.

    A value that is the API's default says nothing, and is left out: `temperature: 1`, `n: 1`, `logprobs: false`.

    Args:
        request: The request.
    """
    items = readers.read(request)
    used = dict(_content(items)) | dict(_parameters(request)) | dict(_tools(request)) | dict(_order(items))
    used |= dict(_counts(request, items)) | dict(_pairs(request, items)) | dict(_unsigned(request))
    if request.stream or request.body.get("stream") is True:
        used["stream"] = "/stream"
    return used


def _parameters(request: Request) -> Iterator[tuple[str, str]]:
    for feature in FEATURES:
        path, shown = feature.fields.get(request.wire, ("", None))
        if path and _says(feature.id, _value(request.body, path), shown):
            yield feature.id, "/" + path.replace(".", "/")
    schema = _value(request.body, "generationConfig.responseSchema") if request.wire == "gemini" else None
    if schema:  # the older field for a schema
        yield "structured_output", "/generationConfig/responseSchema"


#: Values that say nothing, because they are the API's default.
_DEFAULTS: Mapping[str, Any] = {"temperature": 1, "top_p": 1, "frequency_penalty": 0, "presence_penalty": 0}


def _says(feature: str, value: Any, shown: Any) -> bool:
    """Tells whether a value of a field uses the feature, and not what holds without it."""
    if value is None or feature in {"strict_tools", "tools"}:
        return False
    if feature == "parallel_switch" or (feature == "thinking_off" and not isinstance(shown, dict)):
        return bool(value == shown)
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
    return value not in ("", [], {}, 0) and not (feature == "effort" and value == "none")


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
    text = json.dumps(request.body)
    if any(f'"{name}"' in text for name in ("cache_control", "cachePoint", "prompt_cache_breakpoint")):
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
        elif item.kind == "other" and item.name == "video":
            yield f"video_in_{'user' if item.within is None else 'result'}", item.pointer
        elif item.media:
            yield from _media(item)


def _media(item: Item) -> Iterator[tuple[str, str]]:
    media = item.media or Media("")
    kind = media.type
    named = "image" if kind.startswith("image/") or item.kind == "image" else ""
    named = named or {"application/pdf": "pdf"}.get(kind, kind.partition("/")[0])
    if named in {"image", "pdf", "audio", "video"}:
        yield f"{named}_in_{'user' if item.within is None else 'result'}", item.pointer
    pointed = media.url and not media.data and item.within is None
    if pointed and named in {"image", "pdf"} and media.url.startswith("http") and not _uploaded(media.url):
        yield f"{named}_by_url", item.pointer
    elif _uploaded(media.url) or (pointed and not media.url.startswith(("http", "data:", "gs://", "s3://"))):
        yield "file_by_id", item.pointer


def _uploaded(url: str) -> bool:
    """Tells whether a URL names a file that was uploaded to Google."""
    return url.startswith("https://generativelanguage.googleapis.com/") and "/files/" in url


def _order(items: list[Item]) -> Iterator[tuple[str, str]]:
    calls: dict[int, int] = {}
    for item in items:
        if item.kind == "call":
            calls[item.turn] = calls.get(item.turn, 0) + 1
    if several := [turn for turn, count in calls.items() if turn >= 0 and count > 1]:
        yield "parallel_calls", next(i.pointer for i in items if i.turn == several[0] and i.kind == "call")
    elif beside := [call for call, after in pairwise(items) if call.kind == after.kind == "call"]:
        yield "parallel_calls", beside[0].pointer  # in the Responses API, each call is an item of its own
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


# --- Counts, ids and pairs -------------------------------------------------------------------------------


def _counts(request: Request, items: list[Item]) -> Iterator[tuple[str, str]]:
    """Yields the features that are a number or a size beyond what some provider takes."""
    at = {each.id: each.fields.get(request.wire, ("", None))[0] for each in FEATURES}
    stops, heat = _value(request.body, at["stop"]), _value(request.body, at["temperature"])
    if isinstance(stops, list) and len(stops) > 4:
        yield "stop_sequences_5", "/" + at["stop"].replace(".", "/")
    if isinstance(heat, int | float) and 1 < heat <= 2:  # more is wrong everywhere
        yield "temperature_1_5", "/" + at["temperature"].replace(".", "/")
    names = list(_names(_value(request.body, at["tools"])))
    if len(names) > 128:
        yield "tools_129", "/" + at["tools"].replace(".", "/")
    if any(len(name) > 64 for name in names):
        yield "tool_name_65", "/" + at["tools"].replace(".", "/")
    if long := [item for item in items if item.kind == "call" and len(item.id) > 64]:
        yield "call_id_65", long[0].pointer


def _value(body: Any, path: str) -> Any:
    """Returns the value at a path. Google's API takes its names also with underscores."""
    for name in path.split(".") if path else ():
        under = _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)
        body = body.get(name, body.get(under)) if isinstance(body, dict) else None
    return body if path else None


_CAPITAL = re.compile("[A-Z]")


def _names(tools: Any) -> Iterator[str]:
    """Yields the names of the functions of a list of tools."""
    for tool in tools if isinstance(tools, list) else ():
        told = tool if isinstance(tool, dict) else {}
        own = told.get("function") or told.get("toolSpec") or told
        for each in told.get("functionDeclarations") or told.get("function_declarations") or [own]:
            yield str(each.get("name") or "") if isinstance(each, dict) else ""


#: How the ids of calls begin that a provider makes.
_OWN_IDS: Mapping[str, str] = {
    "openai-chat": r"call_|chatcmpl-tool|fc_",
    "openai-responses": r"call_|fc_",
    "anthropic": r"toolu_",
    "bedrock": r"tooluse_",
    "mistral": r"[a-zA-Z0-9]{9}$",
}


def _pairs(request: Request, items: list[Item]) -> Iterator[tuple[str, str]]:
    """Yields what is unusual about calls and their results. Google's calls need no ids, and are counted."""
    called = {item.id: item for item in items if item.kind == "call" and item.id}
    answered = {item.id: item for item in items if item.kind == "result" and item.id}
    if request.wire == "gemini":
        yield from _uncounted(request.body.get("contents"))
    elif not _continues(request.body):
        hosted = _hosted(request)
        last = max((item.turn for item in items), default=0)
        unusual = _unpaired(called, answered, last)
        yield from ((feature, place) for feature, place in unusual if place not in hosted)
    own = _OWN_IDS.get(request.wire)
    if own and (foreign := [item for id, item in called.items() if not re.match(own, id)]):
        yield "foreign_call_id", foreign[0].pointer
    yield from _text_first(items)


def _uncounted(contents: Any) -> Iterator[tuple[str, str]]:
    """Yields Google's turns with more calls, or fewer, than results follow before the model's next turn."""
    turns = [each for each in contents if isinstance(each, dict)] if isinstance(contents, list) else []
    at = called = place = 0
    for of_model, group in groupby(turns, key=lambda turn: turn.get("role") == "model"):
        members = list(group)
        results = sum(_parts(each, "Response") for each in members)
        if of_model:
            called, place = sum(_parts(each, "Call") for each in members), at
        elif called > results:
            yield "call_without_result", f"/contents/{place}"
        elif called < results:
            yield "result_without_call", f"/contents/{at}"
        at += len(members)


def _parts(turn: dict[str, Any], kind: str) -> int:
    """Returns how many parts of a turn are a `functionCall` or a `functionResponse`."""
    names = {f"function{kind}", f"function_{kind.lower()}"}
    return sum(bool(isinstance(part, dict) and names & part.keys()) for part in turn.get("parts") or ())


def _hosted(request: Request) -> set[str]:
    """Returns the places of calls that the provider of the Responses API answers itself, and of their results."""
    items = request.body.get("input") if request.wire == "openai-responses" else ()
    client = {"function_call", "custom_tool_call", "function_call_output", "custom_tool_call_output"}
    return {
        f"/input/{at}"
        for at, item in enumerate(items if isinstance(items, list) else ())
        if isinstance(item, dict) and item.get("type") not in client
    }


def _continues(body: dict[str, Any]) -> bool:
    """Tells whether a request has a part of its conversation at the provider."""
    sent = body.get("input")
    referred = isinstance(sent, list) and any(
        isinstance(each, dict) and each.get("type") == "item_reference" for each in sent
    )
    return bool(referred or body.get("previous_response_id") or body.get("conversation"))


def _unpaired(called: dict[str, Item], answered: dict[str, Item], last: int) -> Iterator[tuple[str, str]]:
    for id, item in called.items():
        if id not in answered and item.turn < last:
            yield "call_without_result", item.pointer
    for id, item in answered.items():
        if id not in called:
            yield "result_without_call", item.pointer


def _unsigned(request: Request) -> Iterator[tuple[str, str]]:
    """Yields thinking without a signature; at Gemini, a call has the signature."""
    unsigned = {"anthropic": _unsigned_blocks, "gemini": _unsigned_calls, "openai-responses": _bare_items}
    for place in unsigned[request.wire](request.body) if request.wire in unsigned else ():
        yield "thinking_unsigned", place


def _unsigned_blocks(body: Json) -> Iterator[str]:
    for place, block in _placed_parts(body, "messages", "content"):
        if block.get("type") == "thinking" and not block.get("signature"):
            yield place


def _unsigned_calls(body: Json) -> Iterator[str]:
    """Yields the calls of Gemini without a signature. Of calls side by side, only the first has one."""
    before: tuple[str, Json] = ("", {})
    for place, part in _placed_parts(body, "contents", "parts"):
        beside = before[0].rpartition("/")[0] == place.rpartition("/")[0] and "functionCall" in before[1]
        if "functionCall" in part and not part.get("thoughtSignature") and not beside:
            yield place
        before = (place, part)


def _bare_items(body: Json) -> Iterator[str]:
    """Yields the reasoning items without encrypted content in a request whose answer is not stored."""
    items = body.get("input")
    for at, item in enumerate(items if isinstance(items, list) and body.get("store") is False else ()):
        if isinstance(item, dict) and item.get("type") == "reasoning" and not item.get("encrypted_content"):
            yield f"/input/{at}"


def _placed_parts(body: Json, messages: str, field: str) -> Iterator[tuple[str, Json]]:
    """Yields the parts of all messages, each with its place."""
    for turn, message in enumerate(body.get(messages) or ()):
        parts = message.get(field) if isinstance(message, dict) else None
        for at, part in enumerate(parts if isinstance(parts, list) else ()):
            if isinstance(part, dict):
                yield f"/{messages}/{turn}/{field}/{at}", part


def _text_first(items: list[Item]) -> Iterator[tuple[str, str]]:
    """Yields a text of the user that stands between a call and its result."""
    called: dict[str, int] = {}
    texts: list[tuple[int, Item]] = []
    for at, item in enumerate(items):
        if item.kind == "call":
            called[item.id] = at
        elif item.kind == "text" and item.role == "user" and item.within is None:
            texts.append((at, item))
        elif item.kind == "result":
            between = [text for place, text in texts if called.get(item.id, at) < place < at]
            yield from (("text_before_results", text.pointer) for text in between[:1])
