"""A small request that uses a feature, in each wire format that can express it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from ..contract.observed.exchange import Json
from .features import FEATURES, Feature

__all__ = ["example", "foreign"]

_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_PNG = "image/png"
_IMAGE_URL = f"data:{_PNG};base64,{_PIXEL}"
_PDF, _WAV, _MP4 = "JVBERi0xLjQK", "UklGRiQAAABXQVZF", "AAAAGGZ0eXBtcDQy"
_HTTP = "https://example.com/a"

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

#: Parts of a message, by wire format and what they hold.
_PARTS: Mapping[str, Mapping[str, Any]] = {
    "openai-chat": {
        "text": {"type": "text", "text": "Hi"},
        "image": {"type": "image_url", "image_url": {"url": _IMAGE_URL}},
        "image_by_url": {"type": "image_url", "image_url": {"url": f"{_HTTP}.png"}},
        "pdf": {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{_PDF}"},
        },
        "file_by_id": {"type": "file", "file": {"file_id": "file-a"}},
        "audio": {"type": "input_audio", "input_audio": {"format": "wav", "data": _WAV}},
    },
    "mistral": {
        "text": {"type": "text", "text": "Hi"},
        "image": {"type": "image_url", "image_url": {"url": _IMAGE_URL}},
        "image_by_url": {"type": "image_url", "image_url": {"url": f"{_HTTP}.png"}},
        "pdf": {"type": "document_url", "document_url": f"data:application/pdf;base64,{_PDF}"},
        "pdf_by_url": {"type": "document_url", "document_url": f"{_HTTP}.pdf"},
        "audio": {"type": "input_audio", "input_audio": _WAV},
    },
    "cohere": {
        "text": {"type": "text", "text": "Hi"},
        "image": {"type": "image_url", "image_url": {"url": _IMAGE_URL}},
        "image_by_url": {"type": "image_url", "image_url": {"url": f"{_HTTP}.png"}},
    },
    "openai-responses": {
        "text": {"type": "input_text", "text": "Hi"},
        "image": {"type": "input_image", "detail": "auto", "image_url": _IMAGE_URL},
        "image_by_url": {"type": "input_image", "detail": "auto", "image_url": f"{_HTTP}.png"},
        "pdf": {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": f"data:application/pdf;base64,{_PDF}",
        },
        "pdf_by_url": {"type": "input_file", "file_url": f"{_HTTP}.pdf"},
        "file_by_id": {"type": "input_file", "file_id": "file-a"},
        "audio": {"type": "input_audio", "input_audio": {"format": "wav", "data": _WAV}},
    },
    "anthropic": {
        "text": {"type": "text", "text": "Hi"},
        "image": {"type": "image", "source": {"type": "base64", "media_type": _PNG, "data": _PIXEL}},
        "image_by_url": {"type": "image", "source": {"type": "url", "url": f"{_HTTP}.png"}},
        "pdf": {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": _PDF},
        },
        "pdf_by_url": {"type": "document", "source": {"type": "url", "url": f"{_HTTP}.pdf"}},
        "file_by_id": {"type": "document", "source": {"type": "file", "file_id": "file_a"}},
    },
    "gemini": {
        "text": {"text": "Hi"},
        "image": {"inlineData": {"mimeType": _PNG, "data": _PIXEL}},
        "image_by_url": {"fileData": {"mimeType": _PNG, "fileUri": f"{_HTTP}.png"}},
        "pdf": {"inlineData": {"mimeType": "application/pdf", "data": _PDF}},
        "pdf_by_url": {"fileData": {"mimeType": "application/pdf", "fileUri": f"{_HTTP}.pdf"}},
        "audio": {"inlineData": {"mimeType": "audio/wav", "data": _WAV}},
        "video": {"inlineData": {"mimeType": "video/mp4", "data": _MP4}},
        "file_by_id": {
            "fileData": {
                "mimeType": _PNG,
                "fileUri": "https://generativelanguage.googleapis.com/v1beta/files/a",
            }
        },
    },
    "bedrock": {
        "text": {"text": "Hi"},
        "image": {"image": {"format": "png", "source": {"bytes": _PIXEL}}},
        "pdf": {"document": {"format": "pdf", "name": "a", "source": {"bytes": _PDF}}},
        "video": {"video": {"format": "mp4", "source": {"bytes": _MP4}}},
    },
}

#: Parts that another format has, which show what happens to them in a format that has none for it.
_FOREIGN: Mapping[str, Any] = {
    "audio": {"type": "input_audio", "input_audio": {"format": "wav", "data": _WAV}},
    "video": {"type": "video_url", "video_url": {"url": f"{_HTTP}.mp4"}},
    "pdf_by_url": {"type": "input_file", "file_url": f"{_HTTP}.pdf"},
}

#: What the content of a user message holds, by feature.
_IN_USER = {
    "image_in_user": "image",
    "image_by_url": "image_by_url",
    "pdf_in_user": "pdf",
    "pdf_by_url": "pdf_by_url",
    "file_by_id": "file_by_id",
    "audio_in_user": "audio",
    "video_in_user": "video",
}
_IN_RESULT = {
    "image_in_result": "image",
    "pdf_in_result": "pdf",
    "audio_in_result": "audio",
    "video_in_result": "video",
}
#: Features with a call of a tool and its result.
_CALLED = {
    "tool_results",
    "parallel_calls",
    "call_without_result",
    "result_without_call",
    "text_before_results",
    "foreign_call_id",
    "call_id_65",
    *_IN_RESULT,
}
_SERVER_TOOLS: Mapping[str, Any] = {
    "openai-chat": {"type": "web_search"},
    "mistral": {"type": "web_search"},
    "openai-responses": {"type": "web_search"},
    "anthropic": {"type": "web_search_20250305", "name": "web_search"},
    "gemini": {"googleSearch": {}},
}
#: The id of a call as the provider makes it.
_OWN_ID = {"anthropic": "toolu_1", "mistral": "abcdefghi", "bedrock": "tooluse_1"}
_FOREIGN_ID = {"anthropic": "call_1", "mistral": "call_1", "bedrock": "call_1"}


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
    body = _base(wire, model)
    if feature.id in _IN_USER:
        return _with_part(body, wire, _IN_USER[feature.id])
    if feature.id in _CALLED:
        return _with_call(body, wire, feature.id)
    if feature.id in _OTHERS:
        return _OTHERS[feature.id](body, wire)
    if wire not in feature.fields:
        return None
    if feature.id in {"forced_call", "parallel_switch"}:
        _set(body, *_field("tools", wire))
    if feature.id == "json_mode" and wire.startswith("openai"):
        _turns(body)[0]["content"] = "Say hi, in JSON."  # the API asks for the word
    _set(body, *copy.deepcopy(feature.fields[wire]))
    if (wire, feature.id) == ("anthropic", "parallel_switch"):
        body["tool_choice"]["type"] = "auto"
    return dict(body)


def _base(wire: str, model: str) -> dict[str, Any]:
    """Returns the smallest request to a model."""
    body = copy.deepcopy(dict(_BASE[wire]))
    return body if wire in _IN_NAME else {**body, "model": model}


def foreign(feature: Feature, wire: str, model: str) -> Json | None:
    """Returns a request that asks for a feature as another format does, or `None` if the format has a way of its own.

    Args:
        feature: The feature.
        wire: Name of the wire format.
        model: Name of the model.

    Examples:
        >>> video = next(each for each in FEATURES if each.id == "video_in_user")
        >>> foreign(video, "anthropic", "claude-sonnet-5")["messages"][0]["content"][1]["type"]
        'video_url'
    """
    if example(feature, wire, model) is not None:
        return None
    body = _base(wire, model)
    if feature.id in _FOREIGN_FIELDS:
        return _FOREIGN_FIELDS[feature.id](body, wire)
    kind = _IN_USER.get(feature.id) or _IN_RESULT.get(feature.id) or ""
    if kind not in _FOREIGN or wire in {*_IN_NAME, "ollama"}:
        return None
    if feature.id in _IN_RESULT:
        return _with_call(body, wire, feature.id, _FOREIGN[kind])
    _turns(body)[0]["content"] = [_PARTS[wire]["text"], _FOREIGN[kind]]
    return body


def _foreign_marks(body: dict[str, Any], wire: str) -> Json | None:
    if wire == "ollama":
        return None
    marked = {**_PARTS[wire]["text"], "cache_control": {"type": "ephemeral"}}
    _turns(body)[0]["parts" if wire == "gemini" else "content"] = [marked]
    return body


def _foreign_switch(body: dict[str, Any], wire: str) -> Json | None:
    _set(body, *_field("tools", wire))
    return None if wire == "bedrock" else {**body, "parallel_tool_calls": False}


def _foreign_strictness(body: dict[str, Any], wire: str) -> Json | None:
    path, tools = _field("tools", wire)
    if wire != "gemini":
        return None
    tools[0]["functionDeclarations"][0]["strict"] = True
    _set(body, path, tools)
    return body


def _foreign_role(body: dict[str, Any], wire: str) -> Json | None:
    if wire != "gemini":
        return None
    _turns(body).extend(_message(wire, *each) for each in _LATE_SYSTEM)
    return body


def _foreign_json(body: dict[str, Any], wire: str) -> Json | None:
    return {**body, "output_config": {"format": {"type": "json_object"}}} if wire == "anthropic" else None


_FOREIGN_FIELDS: Mapping[str, Callable[[dict[str, Any], str], Json | None]] = {
    "cache_marks": _foreign_marks,
    "parallel_switch": _foreign_switch,
    "strict_tools": _foreign_strictness,
    "system_in_the_middle": _foreign_role,
    "json_mode": _foreign_json,
    "stop_sequences_5": lambda body, _: {**body, "stop": list("abcde")},
}


def _field(name: str, wire: str) -> tuple[str, Any]:
    return copy.deepcopy(next(each for each in FEATURES if each.id == name).fields[wire])


def _set(body: dict[str, Any], path: str, value: Any) -> None:
    *above, last = path.split(".")
    for name in above:
        body = body.setdefault(name, {})
    body[last] = value


def _turns(body: dict[str, Any]) -> list[Any]:
    found: list[Any] = next(body[name] for name in ("messages", "input", "contents") if name in body)
    return found


# --- Messages --------------------------------------------------------------------------------------------


def _with_part(body: dict[str, Any], wire: str, kind: str) -> Json | None:
    if wire == "ollama":
        body["messages"][0]["images"] = [_PIXEL]
        return body if kind == "image" else None
    parts = _PARTS[wire]
    if kind not in parts:
        return None
    _turns(body)[0]["parts" if wire == "gemini" else "content"] = copy.deepcopy([parts["text"], parts[kind]])
    return body


def _prefilled(body: dict[str, Any], wire: str) -> Json:
    _turns(body).append(_message(wire, "assistant", "Well"))
    return body


def _message(wire: str, role: str, text: str) -> Json:
    """Returns a message with a text."""
    if wire == "gemini":
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}
    return {"role": role, "content": [{"text": text}] if wire == "bedrock" else text}


def _two_user_turns(body: dict[str, Any], wire: str) -> Json:
    _turns(body).append(_message(wire, "user", "Are you there?"))
    return body


def _system_in_the_middle(body: dict[str, Any], wire: str) -> Json | None:
    if wire in {"gemini", "bedrock"}:
        return None
    late = (
        sorted(_LATE_SYSTEM) if wire == "mistral" else _LATE_SYSTEM
    )  # there, the last message is the user's
    _turns(body).extend(_message(wire, *each) for each in late)
    return body


_LATE_SYSTEM = (("assistant", "Hello"), ("user", "Are you there?"), ("system", "Be brief."))


def _with_marks(body: dict[str, Any], wire: str) -> Json | None:
    marks = {
        "anthropic": {"cache_control": {"type": "ephemeral"}},
        "openai-chat": {"prompt_cache_breakpoint": {"mode": "explicit"}},
        "openai-responses": {"prompt_cache_breakpoint": {"mode": "explicit"}},
    }
    if wire == "bedrock":
        body["messages"][0]["content"].append({"cachePoint": {"type": "default"}})
        return body
    if wire not in marks:
        return None
    _turns(body)[0]["content"] = [{**_PARTS[wire]["text"], **marks[wire]}]
    return body


def _unsigned(body: dict[str, Any], wire: str) -> Json | None:
    """Returns a request that sends thinking back without what the provider signed it with."""
    if wire == "anthropic":
        content = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Well"}]
        _turns(body).extend([{"role": "assistant", "content": content}, _message(wire, "user", "Go on.")])
        return body
    if wire == "openai-responses":
        thought = {"type": "reasoning", "id": "rs_1", "summary": []}
        body["input"] += [thought, _message(wire, "assistant", "Well"), _message(wire, "user", "Go on.")]
        return {**body, "store": False}
    if wire == "gemini":
        _with_call(body, wire, "tool_results")
        del body["contents"][1]["parts"][0]["thoughtSignature"]
        return body
    return None


def _searching(body: dict[str, Any], wire: str) -> Json | None:
    if wire not in _SERVER_TOOLS:
        return None
    return {**body, "tools": [_SERVER_TOOLS[wire]]}


# --- Calls and results -----------------------------------------------------------------------------------


def _with_call(body: dict[str, Any], wire: str, feature: str, part: Any = None) -> Json | None:
    """Returns a conversation with a call of a tool, as the feature has it."""
    part = part or _PARTS.get(wire, {}).get(_IN_RESULT.get(feature, ""))
    if (feature in _IN_RESULT and part is None) or feature in _WITHOUT_IDS.get(wire, ()):
        return None
    own = _OWN_ID.get(wire, "call_1")
    id = {"foreign_call_id": _FOREIGN_ID.get(wire, "toolu_1"), "call_id_65": own.ljust(65, "a")}.get(
        feature, own
    )
    call, result = _call(wire, id), _result(wire, id, part)
    turns = _turns(body)
    _set(body, *_field("tools", wire))
    if feature == "parallel_calls":
        turns += _parallel(wire, own)
    elif feature == "call_without_result":
        turns += [call, _message(wire, "user", "Go on.")]
    elif feature == "result_without_call":
        turns += [result]
    elif feature == "text_before_results":
        turns += [call, *_with_text(wire, result)]
    else:
        turns += [call, result]
    return body


_IDS = {"foreign_call_id", "call_id_65"}
#: Features that a format cannot have, because its calls have no ids, or ids of no form of their own.
_WITHOUT_IDS = {
    "gemini": _IDS,
    "cohere": {"foreign_call_id"},
    "ollama": _IDS | {"call_without_result", "result_without_call"},
}
_SKIPS = (
    "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="  # a signature that Google names for calls of other models
)


def _call(wire: str, id: str) -> dict[str, Any]:
    if wire == "openai-responses":
        return {"type": "function_call", "call_id": id, "name": "f", "arguments": '{"a":"b"}'}
    if wire == "anthropic":
        return {"role": "assistant", "content": [_use(id)]}
    if wire == "gemini":
        part = {"functionCall": {"name": "f", "args": {"a": "b"}}, "thoughtSignature": _SKIPS}
        return {"role": "model", "parts": [part]}
    if wire == "bedrock":
        return {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": id, "name": "f", "input": {"a": "b"}}}],
        }
    if wire == "ollama":
        return {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": "b"}}}]}
    return {"role": "assistant", "tool_calls": [_function_call(id)]}


def _use(id: str) -> Json:
    return {"type": "tool_use", "id": id, "name": "f", "input": {"a": "b"}}


def _function_call(id: str) -> Json:
    return {"id": id, "type": "function", "function": {"name": "f", "arguments": '{"a":"b"}'}}


def _result(wire: str, id: str, part: Any = None) -> dict[str, Any]:
    """Returns the result of a call; with a part, the result has it."""
    if wire == "openai-responses":
        return {"type": "function_call_output", "call_id": id, "output": [part] if part else "c"}
    if wire == "anthropic":
        block = {"type": "tool_result", "tool_use_id": id, "content": [part] if part else "c"}
        return {"role": "user", "content": [block]}
    if wire == "gemini":
        response = {"name": "f", "response": {"output": "c"}}
        return {
            "role": "user",
            "parts": [{"functionResponse": response | ({"parts": [part]} if part else {})}],
        }
    if wire == "bedrock":
        return {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": id, "content": [part or {"text": "c"}]}}],
        }
    if wire == "ollama":
        return {"role": "tool", "tool_name": "f", "content": "c"}
    return {"role": "tool", "tool_call_id": id, "content": [part] if part else "c"}


def _parallel(wire: str, own: str) -> list[Any]:
    """Returns two calls of one turn, and their results."""
    ids = (own, f"{own[:-1]}2")
    calls: list[Any] = [_call(wire, id) for id in ids]
    results: list[Any] = [_result(wire, id) for id in ids]
    name = {"anthropic": "content", "bedrock": "content", "gemini": "parts"}.get(wire, "tool_calls")
    if wire == "openai-responses":
        return [*calls, *results]
    if wire == "gemini":
        del calls[1]["parts"][0]["thoughtSignature"]
    calls[0][name] += calls[1][name]
    if name == "tool_calls":
        return [calls[0], *results]
    results[0][name] += results[1][name]
    return [calls[0], results[0]]


def _with_text(wire: str, result: dict[str, Any]) -> list[Any]:
    """Returns a text of the user and a result: in one message if results are in the user's messages."""
    said = _message(wire, "user", "Here it is.")
    name = {"anthropic": "content", "bedrock": "content", "gemini": "parts"}.get(wire)
    if name is None:
        return [said, result]
    words = [{"type": "text", "text": "Here it is."}] if wire == "anthropic" else said[name]
    return [{**result, name: [*words, *result[name]]}]


# --- Counts and sizes ------------------------------------------------------------------------------------


def _with_tools(body: dict[str, Any], wire: str, names: list[str]) -> Json:
    path, [tool] = _field("tools", wire)
    listed = [_named(tool, name) for name in names]
    if wire == "gemini":
        listed = [{"functionDeclarations": [each["functionDeclarations"][0] for each in listed]}]
    _set(body, path, listed)
    return body


def _named(tool: dict[str, Any], name: str) -> dict[str, Any]:
    """Returns a tool with another name, which is in the tool itself or in what it holds."""
    for key in ("function", "toolSpec"):
        if key in tool:
            return {**tool, key: {**tool[key], "name": name}}
    if "functionDeclarations" in tool:
        return {"functionDeclarations": [{**tool["functionDeclarations"][0], "name": name}]}
    return {**tool, "name": name}


def _stops(body: dict[str, Any], wire: str) -> Json | None:
    feature = next(each for each in FEATURES if each.id == "stop")
    if wire not in feature.fields:
        return None
    _set(body, feature.fields[wire][0], list("abcde"))
    return body


def _hot(body: dict[str, Any], wire: str) -> Json:
    _set(body, _field("temperature", wire)[0], 1.5)
    return body


def _streamed(body: dict[str, Any], wire: str) -> Json | None:
    return None if wire in _IN_NAME else {**body, "stream": True}


_OTHERS: Mapping[str, Callable[[dict[str, Any], str], Json | None]] = {
    "text": lambda body, _: body,
    "prefill": _prefilled,
    "two_user_turns": _two_user_turns,
    "system_in_the_middle": _system_in_the_middle,
    "cache_marks": _with_marks,
    "thinking_unsigned": _unsigned,
    "server_tools": _searching,
    "stream": _streamed,
    "stop_sequences_5": _stops,
    "temperature_1_5": _hot,
    "tools_129": lambda body, wire: _with_tools(body, wire, [f"f{at}" for at in range(129)]),
    "tool_name_65": lambda body, wire: _with_tools(body, wire, ["f" * 65]),
}
