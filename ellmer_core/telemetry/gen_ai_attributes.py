"""Converts turns and wires to OpenTelemetry's conventions for generative AI. It does no I/O.

https://github.com/open-telemetry/semantic-conventions-genai: `docs/gen-ai/` has the names of attributes, and
`gen-ai-input-messages.json` and `gen-ai-output-messages.json` have the shape of messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, assert_never
from urllib.parse import urlsplit

from ..contents import content as ours
from ..contents.turns import AssistantTurn, SystemTurn, Tokens, Turn
from ..schemas.type_functions import to_json_schema
from ..tools.results import flatten, result_text, split
from ..wire.base import Wire

Json = dict[str, Any]

#: Providers whose name in the conventions is not theirs in small letters.
PROVIDERS = {
    "AWS/Bedrock": "aws.bedrock",
    "Azure/OpenAI": "azure.ai.openai",
    "Google/Gemini": "gcp.gemini",
    "Google/Vertex": "gcp.vertex_ai",
    "Mistral": "mistral_ai",
    "Moonshot AI": "moonshot_ai",
    "xAI": "x_ai",
}
#: Neutral parameters that have a name in the conventions.
PARAMETERS = {
    *("temperature", "top_p", "top_k", "max_tokens", "seed", "stop_sequences"),
    *("frequency_penalty", "presence_penalty"),
}
FINISH = {
    "success": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_call",
    "max_tokens": "length",
    "context_window": "length",
}


def of_request(wire: Wire) -> Json:
    """Returns the attributes of a request."""
    parameters = {name: wire.params[name] for name in sorted(PARAMETERS & wire.params.keys())}
    provider = PROVIDERS.get(wire.provider) or wire.provider.lower().replace(" ", "_")
    return {
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": wire.model,
        **{f"gen_ai.request.{name}": value for name, value in parameters.items() if value is not None},
    }


def where(url: str) -> Json:
    """Returns the attributes of a server: the host and the port of its URL."""
    parts = urlsplit(url)
    port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    return {"server.address": parts.hostname or "", **({"server.port": port} if port else {})}


_LONGEST = 256


def short(name: object) -> str:
    """Returns an id or a name that a provider, a model or an MCP server chose, cut to a length that each backend stores; `""` if it is not a
    text.
    """
    if not isinstance(name, str):
        return ""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def of_response(turn: AssistantTurn) -> Json:
    """Returns the attributes of an answer."""
    body: Mapping[str, Any] = turn.json or {}
    attributes = {
        "gen_ai.response.id": short(body.get("id") or body.get("responseId")),
        "gen_ai.response.model": short(body.get("model") or body.get("modelVersion")),
        "gen_ai.response.finish_reasons": [short(_finish(turn))],
    }
    return {name: value for name, value in attributes.items() if value} | usage(turn.tokens)


def usage(tokens: Tokens) -> Json:
    """Returns the token counts that the provider gave."""
    counts = {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read.input_tokens": tokens.cached,
        "cache_creation.input_tokens": tokens.cache_write,
        "reasoning.output_tokens": tokens.reasoning,
    }
    return {f"gen_ai.usage.{name}": count for name, count in counts.items() if count is not None}


def conversation(turns: Iterable[Turn]) -> tuple[list[Json], list[Json]]:
    """Returns the system instructions, as parts, and all other messages."""
    instructions, messages = [], []
    for turn in turns:
        if isinstance(turn, SystemTurn):
            instructions += _parts(turn.contents)
        else:
            messages += _messages(turn)
    return instructions, messages


def _messages(turn: Turn) -> list[Json]:
    """Returns a turn as messages. Tool results are a separate message, which comes first."""
    if isinstance(turn, AssistantTurn):
        return [{"role": "assistant", "parts": _parts(turn.contents)}]
    results, rest = split(flatten(turn.contents))
    messages = (("tool", _parts(results)), ("user", _parts(rest)))
    return [{"role": role, "parts": parts} for role, parts in messages if parts]


def output(turn: AssistantTurn) -> list[Json]:
    """Returns an answer as one message."""
    return [{"role": "assistant", "parts": _parts(turn.contents), "finish_reason": _finish(turn)}]


def definitions(tools: Iterable[ours.ToolDef]) -> list[Json]:
    """Returns the tools that the model may call."""
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": to_json_schema(tool.arguments),
        }
        for tool in tools
    ]


def json_of(value: Any) -> str:
    """Returns an attribute's JSON. A value without JSON becomes text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _finish(turn: AssistantTurn) -> str:
    return FINISH.get(turn.finish_reason or "success", turn.finish_reason or "")


def _parts(contents: Iterable[ours.Content]) -> list[Json]:
    return [_part(content) for content in contents]


def _part(content: ours.Content) -> Json:  # noqa: C901, PLR0911 - one case per class
    match ours.any_content(content):
        case ours.ContentText(text=text):
            return {"type": "text", "content": text}
        case ours.ContentThinking(thinking=text):
            return {"type": "reasoning", "content": text}
        case ours.ContentToolRequest(id=id, name=name, arguments=arguments):
            return {"type": "tool_call", "id": id, "name": name, "arguments": dict(arguments)}
        case ours.ContentToolResult(id=id) as result:
            return {"type": "tool_call_response", "id": id, "response": result_text(result)}
        case ours.ContentJson(value=value):
            return {"type": "text", "content": json_of(value)}
        case ours.ContentImageInline(type=kind, data=data):
            return {"type": "blob", "modality": "image", "mime_type": kind, "content": data}
        case ours.ContentPDF(type=kind, data=data):
            return {"type": "blob", "modality": "document", "mime_type": kind, "content": data}
        case ours.ContentImageRemote(url=url):
            return {"type": "uri", "modality": "image", "uri": url}
        case ours.ContentUploaded(uri=uri, type=kind):
            return {"type": "file", "modality": kind.partition("/")[0], "mime_type": kind, "file_id": uri}
        case ours.ContentUnknown(data=data):
            return {**data, "type": str(data.get("type", "unknown"))}
        case ours.ContentCitation() | ours.ContentFile() | None:
            return {"type": type(content).__name__}
        case never:
            assert_never(never)
