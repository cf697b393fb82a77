"""Mistral chat, requests: converts one content at a time. PDFs are document URLs, and ids have nine characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...contents import content as ours
from ...contents.turns import AssistantTurn, Turn
from ..interfaces import Json, Request
from ..openai_chat.to_wire import OpenAIChat, with_ok_after_results
from ..shared import content_parts, tool_calls
from ..shared.json_objects import Shape, Tagged

_REFERENCE = {"reference_ids": [(int, str)]}


@dataclass(frozen=True, eq=False, repr=False)
class MistralChat(OpenAIChat):
    """The wire format of Mistral's chat API. Servers of open models (and, until spring 2026, Mistral's own) refuse a user message right
    after a tool message. With `strict_order`, an assistant message "OK" separates the two.
    """

    name: ClassVar[str] = "mistral"
    provider: ClassVar[str] = "Mistral"
    param_names: ClassVar[Mapping[str, str]] = {
        **{
            name: name
            for name in ("temperature", "top_p", "top_k", "max_tokens", "top_logprobs", "tool_choice")
        },
        **{name: name for name in ("frequency_penalty", "presence_penalty", "parallel_tool_calls")},
        "seed": "random_seed",
        "stop_sequences": "stop",
        "log_probs": "logprobs",
        "reasoning_effort": "reasoning_effort",
    }

    base_url: str = "https://api.mistral.ai/v1"
    strict_order: bool = False

    # requests -------------------------------------------------------------------------------------------

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        """Returns the finished request. Usage needs no parameter."""
        return super().post(url, {k: v for k, v in body.items() if k != "stream_options"}, stream=stream)

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns the messages. With `strict_order`, it prevents: `Unexpected role 'user' after role 'tool'`."""
        messages = super().messages(turns)
        return with_ok_after_results(messages) if self.strict_order else messages

    def forced(self, *, alone: bool) -> Json:  # noqa: ARG002 - any call is the one call
        return {"tool_choice": "any"}  # https://docs.mistral.ai/api/endpoint/chat

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the assistant message. Its content is a string or a list, because no recording shows that `null` is
        accepted.
        """
        return [{**message, "content": message["content"] or ""} for message in super().assistant(turn)]

    # contents -------------------------------------------------------------------------------------------

    returned: ClassVar[Shape] = Tagged(
        {
            "text": {"text": str},
            "thinking": {"thinking": [Tagged({"text": {"text": str}, "reference": _REFERENCE})]},
            "reference": _REFERENCE,
            "image_url": {"image_url": (str, {"url": str})},
            "document_url": {"document_url": str},
            "file": {"file_id": str},
        }
    )

    def file(self, file: ours.ContentFile) -> Json | None:  # noqa: ARG002 - whatever it is
        """Returns the text of documents. This format has neither audio nor documents."""
        return None

    def call_id(self, id: str) -> str:
        """Returns a valid id: `Tool call id was turn1_0 but must be a-z, A-Z, 0-9, with a length of 9.`"""
        return tool_calls.legal_id(id, r"[a-zA-Z0-9]{9}", 9)

    def call(self, request: ours.ContentToolRequest) -> Json:
        """Returns a call without unknown fields, which Mistral refuses."""
        call = super().call(request)
        return {key: call[key] for key in ("id", "type", "function", "index") if key in call}

    def content(self, content: ours.Content) -> Json:
        match content:
            case ours.ContentPDF() as pdf:
                url, name = content_parts.data_url(pdf), pdf.filename
                return {"type": "document_url", "document_url": url, "document_name": name}
            case ours.ContentImageRemote(url=url):
                return {"type": "image_url", "image_url": {"url": url}}
            case ours.ContentUploaded(uri=uri, wire=self.name):
                return {"type": "file", "file_id": uri}
            case _:
                return super().content(content)
