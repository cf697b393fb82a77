"""Adapters that lose the model's messages or add their own. These bugs were planted and not caught at first."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import httpx

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Tool

from .base import BrokenAdapter
from .messages import conversation

__all__ = ["assistants", "changed", "is_call", "texts_of"]

_CALLS = {"tool_use", "function_call"}


def is_call(block: Json) -> bool:
    """Tells whether a block, an item or a message is a call."""
    return block.get("type") in _CALLS or "functionCall" in block or bool(block.get("tool_calls"))


def assistants(body: Json) -> Iterator[Json]:
    """Yields the messages, items and contents of the model."""
    for message in conversation(body):
        if message.get("role") in {"assistant", "model"} or message.get("type") in {
            "function_call",
            "reasoning",
        }:
            yield message


def parts(message: Json) -> list[Json]:
    """Returns the blocks of a message, or nothing if its content is a string."""
    found = message.get("content", message.get("parts"))
    return found if isinstance(found, list) else []


def texts_of(body: Json, role: str, change: Callable[[str], str]) -> Json:
    """Returns the body with every text of a role changed."""
    for message in conversation(body):
        if message.get("role") not in {role, "model" if role == "assistant" else role}:
            continue
        if isinstance(message.get("content"), str):
            message["content"] = change(message["content"])
        for part in parts(message):
            if isinstance(part.get("text"), str):
                part["text"] = change(part["text"])
    return body


def changed(value: Any, change: Callable[[str], str]) -> Any:
    """Returns a JSON value with all its strings changed."""
    if isinstance(value, dict):
        return {key: changed(each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [changed(each, change) for each in value]
    return change(value) if isinstance(value, str) else value


class DropsAnswers(BrokenAdapter):
    """Keeps the user's messages in its history, but not the model's answers."""

    case, caught_by = "plain_text", ("HIS-006",)

    def body(self, body: Json) -> Json:
        found = conversation(body)
        gone = [m for m in assistants(body) if not is_call(m) and not any(is_call(p) for p in parts(m))]
        found[:] = [message for message in found if message not in gone]
        return body


class ForgetsArguments(BrokenAdapter):
    """Sends calls back without their arguments."""

    case, caught_by = "one_tool", ("HIS-006",)

    def body(self, body: Json) -> Json:
        for message in assistants(body):
            for block in [message, *parts(message)]:
                for call in block.get("tool_calls") or ():
                    call["function"]["arguments"] = "{}"
                if block.get("type") == "function_call":
                    block["arguments"] = "{}"
                if block.get("type") == "tool_use":
                    block["input"] = {}
                if "functionCall" in block:
                    block["functionCall"]["args"] = {}
        return body


class DropsTextBesideCalls(BrokenAdapter):
    """Drops the text of an answer that also has calls."""

    case, caught_by = "text_then_tool", ("HIS-006",)

    def body(self, body: Json) -> Json:
        for message in assistants(body):
            if message.get("tool_calls"):
                message["content"] = None
            if any(is_call(part) for part in parts(message)):
                parts(message)[:] = [part for part in parts(message) if "text" not in part]
        if "input" in body and any(is_call(item) for item in body["input"]):
            body["input"] = [item for item in body["input"] if item.get("role") != "assistant"]
        return body


class AddsSystemText(BrokenAdapter):
    """Adds its own text to the system prompt."""

    case, caught_by = "plain_text", ("SYS-010",)

    def body(self, body: Json) -> Json:
        told = "You are a helpful assistant."
        places: dict[str, Json] = {
            "openai-responses": {"instructions": told},
            "anthropic": {"system": told},
            "gemini": {"systemInstruction": {"parts": [{"text": told}]}},
        }
        place = places.get(self.endpoint.wire, {})
        if not place:
            body["messages"].insert(0, {"role": "system", "content": told})
        return body | place


class SetsTheTemperature(BrokenAdapter):
    """Sets a temperature that the caller did not set."""

    gently = True
    case, caught_by = "plain_text", ("OPT-001",)
    on: ClassVar[tuple[str, ...]] = ("openai-chat", "gemini")  # the models of the others take none
    option: ClassVar[Json] = {"temperature": 0.7}

    def body(self, body: Json) -> Json:
        if self.endpoint.wire == "gemini":
            return body | {"generationConfig": {**body.get("generationConfig", {}), **self.option}}
        return body | self.option


class LimitsTokens(SetsTheTemperature):
    """Sets a token limit that the caller did not set."""

    caught_by, on, option = ("OPT-001",), ("openai-chat",), {"max_tokens": 1000}


class CutsLongResults(BrokenAdapter):
    """Truncates long tool results."""

    case, caught_by = "long_values", ("PAR-004",)
    on = ("openai-chat", "anthropic")

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda **arguments: str(tool.run(**arguments))[:100_000])


class WritesTheKey(BrokenAdapter):
    """Prints its configuration, including the key."""

    case, caught_by, on = "plain_text", ("AUT-010",), ("openai-chat",)

    def request(self, request: httpx.Request) -> httpx.Request:
        sys.stderr.write(f"client with key {self.endpoint.api_key}\n")
        return request


class LogsTheKey(BrokenAdapter):
    """Logs every header, including the key."""

    case, caught_by, on = "plain_text", ("AUT-010",), ("openai-chat", "anthropic", "gemini")

    def request(self, request: httpx.Request) -> httpx.Request:
        logging.getLogger("some_library.http").debug("headers: %s", dict(request.headers))
        return request


class ServesFromItsCache(BrokenAdapter):
    """Answers a repeated question from a cache."""

    case, caught_by, also = "asked_again", ("HIS-010", "TXT-005"), ("HIS-004",)

    def exchange(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        kept: dict[bytes, httpx.Response] = self.__dict__.setdefault("kept", {})
        if request.content not in kept:
            response = transport.handle_request(request)
            response.read()
            kept[request.content] = response
        known = kept[request.content]
        return httpx.Response(
            known.status_code, headers={"content-type": "application/json"}, content=known.content
        )


class CoercesArguments(BrokenAdapter):
    """Converts strings that look like numbers or booleans."""

    case, caught_by = "odd_arguments", ("PAR-005",)

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda **told: tool.run(**{k: self.coerced(v) for k, v in told.items()}))

    def coerced(self, value: Any) -> Any:
        """Returns the number or boolean that a string looks like."""
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError:
            return value


class StripsUserText(BrokenAdapter):
    """Strips white space from the user's text."""

    case, caught_by = "odd_text", ("UNI-001",)

    def body(self, body: Json) -> Json:
        return texts_of(body, "user", str.strip)


class MergesBlocks(BrokenAdapter):
    """Joins the text blocks of a turn."""

    gently = True
    case, caught_by, also = "texts_in_blocks", ("HIS-007",), ("THK-033",)  # Gemini signs a text

    def body(self, body: Json) -> Json:
        for message in conversation(body):
            found = parts(message)
            if len(found) > 1 and all("text" in part for part in found):
                found[:] = [{**found[0], "text": "".join(part["text"] for part in found)}]
        return body
