"""Adapters that skip approvals, ignore edited arguments, hide sources, send uploaded files again, and lose signatures and counts of Gemini."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx

import ellmer_core as ec
from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Approve, Reply, Tool

from .answer_events import objects, rewritten
from .base import BrokenAdapter, is_result


class AsksNobody(BrokenAdapter):
    """Runs every tool without asking for approval."""

    case, caught_by = "approved_and_denied", ("APR-001", "APR-002")
    also = ("PAR-001",)

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, needs_approval=False)


class KeepsItsArguments(BrokenAdapter):
    """Runs an approved call with the model's arguments instead of the edited ones."""

    case, caught_by = "approved_with_other_arguments", ("APR-003",)
    also = ("PAR-005",)

    def decision(self, approve: Approve) -> Approve:
        def decide(name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
            return None if approve(name, arguments) is None else arguments

        return decide


class HidesItsSources(BrokenAdapter):
    """Does not report the sources of an answer."""

    case, caught_by = "cited_answer", ("CIT-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, sources=())


class HidesItsResults(HidesItsSources):
    """Does not report a tool's result as a source."""

    case, on = "cited_tool_result", ("cohere",)


class SendsFilesAgain(BrokenAdapter):
    """Uploads a file, and sends its bytes, too."""

    case, caught_by = "uploaded_file", ("UPL-001",)

    def uploaded(self, content: ec.ContentUploaded) -> ec.Content:
        assert content.source is not None
        return content.source


class ReplaysStaleThoughts(BrokenAdapter):
    """Sends thinking from before a changed system prompt, without allowing the API to drop it."""

    case, caught_by, on = "changed_prompt_after_thinking", ("THK-025",), ("anthropic",)

    def body(self, body: Json) -> Json:
        thinking = {key: value for key, value in body.get("thinking", {}).items() if key != "block_binding"}
        return body | ({"thinking": thinking} if thinking else {})


class DropsPendingSearches(BrokenAdapter):
    """Drops the blocks of tools that the provider runs itself."""

    case, caught_by, on = "paused_search", ("HIS-016",), ("anthropic",)

    def body(self, body: Json) -> Json:
        for message in body["messages"]:
            message["content"] = [part for part in message["content"] if part["type"] != "server_tool_use"]
        return body


class DropsSearches(BrokenAdapter):
    """Drops the searches of complete answers, and the references of citations."""

    case, caught_by, on = "cited_answer", ("HIS-017",), ("anthropic",)

    def body(self, body: Json) -> Json:
        for message in body["messages"]:
            kept = [part for part in message["content"] if part["type"] == "text"]
            message["content"] = [{"type": "text", "text": part["text"]} for part in kept]
        return body


class DropsPhases(BrokenAdapter):
    """Sends messages of the model without their phase."""

    case, caught_by, on = "text_then_tool", ("HIS-017",), ("openai-responses",)

    def body(self, body: Json) -> Json:
        for item in body["input"]:
            item.pop("phase", None)
        return body


class LeavesStrictnessOpen(BrokenAdapter):
    """Does not say whether its tools are strict."""

    case, caught_by, on = "nested_schema", ("SCH-029",), ("openai-responses",)

    def body(self, body: Json) -> Json:
        for tool in body["tools"]:
            tool.pop("strict", None)
            tool["parameters"]["required"] = []
        return body


class HidesRefusals(BrokenAdapter):
    """Reports a refusal as an empty answer."""

    case, caught_by, on = "refused_answer", ("STP-007",), ("openai-chat", "openai-responses")

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, text="", stop="stop") if reply.stop == "filter" else reply


class SetsOptionsOnce(BrokenAdapter):
    """Sends the options of a turn with its first request, and not with its results."""

    case, caught_by, on = "thinking_asked_for", ("OPT-008",), ("anthropic", "openai-responses")

    def capabilities(self, wire: str, provider: str) -> Capabilities:
        return replace(super().capabilities(wire, provider), thinking="native")

    def body(self, body: Json) -> Json:
        has_results = any(is_result(each) for each in objects(body))
        gone = {"thinking", "reasoning", "output_config"} if has_results else set()
        return {name: value for name, value in body.items() if name not in gone}


class SendsText(BrokenAdapter):
    """Declares its JSON as text."""

    case, caught_by = "plain_text", ("AUT-011",)

    def request(self, request: httpx.Request) -> httpx.Request:
        request.headers["content-type"] = "text/plain;charset=UTF-8"
        return request


class LooksAtTheReasonAlone(BrokenAdapter):
    """Runs calls only if the stop reason says that there are some."""

    case, caught_by, on = "news", ("STP-008",), ("openai-chat", "mistral")

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        return [rewritten(b"".join(chunks), _no_calls_without_a_reason)]


def _no_calls_without_a_reason(events: Sequence[Json]) -> None:
    if any(found.get("finish_reason") == "stop" for found in objects(list(events))):
        for found in objects(list(events)):
            found.pop("tool_calls", None)


class VersionTwice(BrokenAdapter):
    """Adds the version to a base URL that has one."""

    case, caught_by, on = "plain_text", ("RUN-004",), ("openai-chat", "anthropic", "gemini", "cohere")

    def request(self, request: httpx.Request) -> httpx.Request:
        path = re.sub(r"/(v1beta|v1|v2)/", r"/\1/\1/", request.url.path)
        request.url = request.url.copy_with(path=path)
        return request


class AsksAgainIfEmpty(BrokenAdapter):
    """Asks again if an answer is empty."""

    case, caught_by, also, gently = "empty_answer", ("ERR-013",), ("TXT-005",), True

    def exchange(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        response = transport.handle_request(request)
        words = [each for each in objects(json.loads(response.read())) if _says_something(each)]
        return response if words else transport.handle_request(request)


def _says_something(part: Json) -> bool:
    """Tells whether a part of a whole answer has words or a call."""
    return any(part.get(name) and isinstance(part[name], str) for name in ("text", "content"))


class DropsSignaturesOfTexts(BrokenAdapter):
    """Sends the texts of answers back without their signatures."""

    case, caught_by, on = "thinking_with_tools", ("THK-033",), ("gemini",)

    def body(self, body: Json) -> Json:
        for part in (part for content in body["contents"] for part in content["parts"]):
            if "functionCall" not in part:
                part.pop("thoughtSignature", None)
        return body


class CountsToolsAsOutput(BrokenAdapter):
    """Takes all tokens beside the prompt for output, also those of the provider's own tools."""

    case, caught_by, on = "reasons_and_counts", ("USG-007",), ("gemini",)

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        return [rewritten(b"".join(chunks), _add_tokens_of_tools)]


def _add_tokens_of_tools(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if "candidatesTokenCount" in found:
            found["candidatesTokenCount"] += found.pop("toolUsePromptTokenCount", 0)
