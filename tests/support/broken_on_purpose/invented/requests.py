"""Adapters that send other messages than the caller's. They were invented after the rules."""

from __future__ import annotations

import html
import json
from typing import ClassVar

import httpx

from ellmer_conformance.contract.observed.exchange import Json

from ..base import BrokenAdapter, is_media
from ..lost_or_added_content import assistants, changed, is_call, parts, texts_of
from ..messages import conversation

_CHAT = ("openai-chat", "anthropic")


class SaysAnswersAsUser(BrokenAdapter):
    """Sends the model's answers as user messages."""

    case, caught_by, also = "plain_text", ("HIS-006",), ("HIS-009",)
    on = ("openai-chat", "anthropic", "gemini")

    def body(self, body: Json) -> Json:
        for message in assistants(body):
            message["role"] = "user"
        return body


class KeepsTenMessages(BrokenAdapter):
    """Sends only the last ten messages."""

    case, caught_by, also, on = "many_turns", ("HIS-002",), ("HIS-006", "HIS-009"), _CHAT

    def body(self, body: Json) -> Json:
        found = conversation(body)
        system = [message for message in found if message["role"] == "system"]
        found[:] = [*system, *[m for m in found if m["role"] != "system"][-9:]]
        return body


class AsksTwice(BrokenAdapter):
    """Repeats the question at its end."""

    case, caught_by = "plain_text", ("HIS-009",)
    on = ("openai-chat", "gemini")

    def body(self, body: Json) -> Json:
        last = conversation(body)[-1]
        conversation(body).append(json.loads(json.dumps(last)))
        return body


class EscapesMarkup(BrokenAdapter):
    """Escapes the user's text as HTML."""

    case, caught_by = "odd_text", ("UNI-001",)
    also = ("HIS-009",)

    def body(self, body: Json) -> Json:
        return texts_of(body, "user", html.escape)


class NormalisesLines(BrokenAdapter):
    """Replaces CRLF by LF in the user's text."""

    case, caught_by, on = "odd_text", ("UNI-001",), _CHAT

    def body(self, body: Json) -> Json:
        return texts_of(body, "user", lambda text: text.replace("\r\n", "\n"))


class CutsQuestions(BrokenAdapter):
    """Truncates questions to 32,768 characters."""

    case, caught_by, on = "long_values", ("UNI-001",), _CHAT

    def body(self, body: Json) -> Json:
        return texts_of(body, "user", lambda text: text[:32_768])


class ReversesCalls(BrokenAdapter):
    """Sends the calls of an answer back in reverse order."""

    case, caught_by = "unlike_calls", ("HIS-006",)
    on = ("openai-chat", "anthropic")

    def body(self, body: Json) -> Json:
        for message in assistants(body):
            if message.get("tool_calls"):
                message["tool_calls"].reverse()
            elif all(is_call(part) for part in parts(message)):
                parts(message).reverse()
        return body


class EndsAnswersWithALine(BrokenAdapter):
    """Appends a line break to answers that it sends back."""

    case, caught_by = "plain_text", ("HIS-006",)

    def body(self, body: Json) -> Json:
        return texts_of(body, "assistant", lambda text: f"{text}\n\n")


class ChangesTheModel(BrokenAdapter):
    """Uses a cheaper model."""

    case, caught_by, also = "plain_text", ("OPT-002",), ("REQ-043",)  # the cheaper one has no reasoning
    on = ("openai-chat", "openai-responses", "anthropic")
    cheaper: ClassVar[dict[str, str]] = {"anthropic": "claude-haiku-4-5"}

    def body(self, body: Json) -> Json:
        return body | {"model": self.cheaper.get(self.endpoint.wire, "gpt-4.1-mini")}


class DropsThoughts(BrokenAdapter):
    """Drops the model's thinking."""

    case, caught_by, on = "thinking_with_tools", ("HIS-008",), ("anthropic",)

    def body(self, body: Json) -> Json:
        for message in assistants(body):
            kept = [p for p in parts(message) if p.get("type") != "thinking"]
            parts(message)[:] = kept
        return body


class RenamesTools(BrokenAdapter):
    """Sends tools under other names."""

    case, caught_by, on = "one_tool", ("OPT-003",), _CHAT

    def body(self, body: Json) -> Json:
        for tool in body["tools"]:
            tool.get("function", tool)["name"] = "my_" + tool.get("function", tool)["name"]
        return body


class ForgetsToolsLater(BrokenAdapter):
    """Sends the tools only until the first call."""

    case, caught_by, on = "one_tool", ("OPT-003",), ("openai-chat", "openai-responses")

    def body(self, body: Json) -> Json:
        return {k: v for k, v in body.items() if k != "tools"} if len(conversation(body)) > 1 else body


class RelabelsImages(BrokenAdapter):
    """Declares every image as a JPEG."""

    case, caught_by, on = "image_from_user", ("IMG-030",), ("openai-chat", "anthropic", "gemini")

    def body(self, body: Json) -> Json:
        found: Json = changed(body, lambda text: text.replace("image/png", "image/jpeg"))
        return found


class RetriesAnyway(BrokenAdapter):
    """Retries more often than the caller allows."""

    case, caught_by = "error_inside_the_answer", ("ERR-012",)
    also = ("ERR-009", "STR-010", "ERR-005")

    def exchange(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        response = transport.handle_request(request)
        if response.status_code >= 500:
            response.close()
            response = transport.handle_request(request)
        return response


class NamesItsUser(BrokenAdapter):
    """Sends the name of the local machine."""

    gently = True
    case, caught_by, on = "plain_text", ("OPT-001",), ("openai-chat", "anthropic")

    def body(self, body: Json) -> Json:
        if self.endpoint.wire == "anthropic":
            return body | {"metadata": {"user_id": "root-at-some-host"}}
        return body | {"user": "root-at-some-host"}


class TellsItsName(BrokenAdapter):
    """Sends the key in the user agent."""

    case, caught_by, on = "plain_text", ("AUT-002",), ("openai-chat", "gemini")

    def request(self, request: httpx.Request) -> httpx.Request:
        request.headers["user-agent"] = f"some-library/1.0 (key {self.endpoint.api_key})"
        return request


class SaysSystemOnce(BrokenAdapter):
    """Sends the system prompt only with the first request."""

    case, caught_by, also, on = "system_prompt", ("SYS-001",), ("HIS-002",), ("openai-chat", "anthropic")

    def body(self, body: Json) -> Json:
        if len(conversation(body)) > 2:
            body.pop("system", None)
            found = conversation(body)
            found[:] = [message for message in found if message["role"] != "system"]
        return body


class AppendsToTheSystem(BrokenAdapter):
    """Appends the date to the system prompt."""

    case, caught_by = "system_prompt", ("SYS-010",)

    def body(self, body: Json) -> Json:
        told = "You are terse. Answer in one word."
        found: Json = changed(body, lambda text: f"{told} Today is Sunday." if text == told else text)
        return found


class SendsImagesAsLinks(BrokenAdapter):
    """Sends an image as a URL."""

    case, caught_by, on = "image_from_user", ("IMG-001",), ("openai-chat", "anthropic")
    also = ("IMG-002", "IMG-004")

    def body(self, body: Json) -> Json:
        link = "https://example.org/image.png"
        for message in conversation(body):
            for part in parts(message):
                if is_media(part):
                    key = "image_url" if "image_url" in part else "source"
                    part[key] = {"url": link} if key == "image_url" else {"type": "url", "url": link}
        return body
