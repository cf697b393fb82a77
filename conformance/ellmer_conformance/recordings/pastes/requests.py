"""Finds the wire format, the provider and the model of a pasted request."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ...contract import readers, rules
from ...contract.observed.exchange import Request
from ..recorded_requests import UNASSUMED, Assumed, Recording, Skip, request_of
from .commands import UNKNOWN_HOST
from .unknown import is_known, is_unknown

__all__ = ["request_in", "wire_of"]

Json = dict[str, Any]


def request_in(recording: Recording, assumed: Assumed = UNASSUMED, model: str = "") -> Request | Skip:
    """Returns the request of a recording in a paste, or the reason why it is not judged. Without a URL, the body shows the wire format.

    Args:
        recording: The recording.
        assumed: The wire format and the provider, in place of those that are found. Default: those are found.
        model: The model in place of the one that the request names. Default: that one.
    """
    wire, provider = assumed.wire, assumed.provider
    found = request_of(recording) if recording.url else Skip("the URL is unknown")
    if not isinstance(found, Skip) and wire in ("", found.wire):
        provider = provider or _provider_of(found)
        return replace(found, provider=provider, model=model or found.model)
    body = _body(recording)
    if isinstance(body, Skip):
        return body
    if recording.url and isinstance(found, Skip) and not wire and not _chats(body):
        return found
    wire = wire or wire_of(body)
    return _bare(recording, body, wire, provider, model)


def _provider_of(request: Request) -> str:
    """Returns the provider that the URL names; the format's own one if the URL begins with a variable."""
    unknown = UNKNOWN_HOST in request.url
    return rules.book(request.wire).provider if unknown else request.provider


def _body(recording: Recording) -> Json | Skip:
    if not recording.body:
        return Skip("the body was not recorded")
    try:
        body = readers.parsed(recording.body)
    except ValueError as error:
        return Skip(f"the body is not JSON: {error}")
    return body if isinstance(body, dict) else Skip("the body is not a JSON object")


def _bare(recording: Recording, body: Json, wire: str, provider: str, model: str) -> Request:
    """Returns a request whose URL says nothing about its format."""
    named = str(body.get("model") or body.get("modelId") or "").removeprefix("models/")
    provider = provider or rules.book(wire).provider
    stream = body.get("stream") is True
    return Request(wire, provider, body, recording.url, "POST", recording.headers, model or named, stream)


# The wire format of a body without a URL -------------------------------------------------------------------------

#: A model's name, and the format in which it is usually asked.
_MODELS = {
    re.compile(r"claude"): "anthropic",
    re.compile(r"gpt|o\d|chatgpt|codex"): "openai-chat",
    re.compile(r"command|c4ai"): "cohere",
    re.compile(
        r"(open-)?(mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)"
    ): "mistral",
    re.compile(r"\A[\w.-]{1,200}:[\w.-]{1,200}$"): "ollama",
    re.compile(r"(models/)?(gemini|gemma)"): "openai-chat",
}


def wire_of(body: Json) -> str:
    """Returns the wire format that a body has: by its own keys, then by its model, then by the fewest broken rules."""
    if wire := _by_keys(body):
        return wire
    if "model" not in body or is_unknown(body["model"]):  # its URL names the model, or a variable
        return min(("openai-chat", "anthropic"), key=lambda wire: _broken(wire, body, "/messages/"))
    named = str(body.get("model") or "")
    usual = next((wire for pattern, wire in _MODELS.items() if pattern.match(named)), "")
    with_messages = [wire for wire in rules.WIRES if wire not in ("gemini", "openai-responses")]
    return usual or min(with_messages, key=lambda wire: _broken(wire, body))


def _by_keys(body: Json) -> str:
    """Returns the wire format whose own keys a body has; an empty text if it has none."""
    if "contents" in body or "input" in body:
        return "gemini" if "contents" in body else "openai-responses"
    if body.keys() & {"modelId", "inferenceConfig", "toolConfig"} or _without_types(body):
        return "bedrock"
    if body.keys() & {"keep_alive", "options", "think"}:
        return "ollama"
    return "anthropic" if "anthropic_version" in body else ""


def _without_types(body: Json) -> bool:
    """Tells whether there are parts of content and none has a type, as on Bedrock."""
    parts = [part for message in _objects(body.get("messages")) for part in _objects(message.get("content"))]
    return bool(parts) and not any("type" in part for part in parts)


def _objects(value: Any) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _broken(wire: str, body: Json, place: str = "") -> int:
    """Returns how many violations of a format's rules there are in a place of a body."""
    book = rules.book(wire)
    request = book.request(body)
    found = (each for verdict in book.judge(request) for each in verdict.violations)
    return sum(each.pointer.startswith(place) and is_known(request, each) for each in found)


def _chats(body: Json) -> bool:
    return bool(body.keys() & {"messages", "contents"})
