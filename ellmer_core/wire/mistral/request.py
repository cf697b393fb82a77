"""Mistral chat, `POST {base_url}/chat/completions`. https://docs.mistral.ai/api/endpoint/chat

The format is like Chat Completions, but strict: unknown fields are refused, ids have nine characters, thinking is a
chunk of the content, and a PDF is a document URL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from ...contents.turns import AssistantTurn, Turn
from ..openai_chat.request import OpenAIChat
from ..request_and_stream_merger import Json, Request
from .content import MistralContent

__all__ = ["MistralChat"]


@dataclass(frozen=True, eq=False, repr=False)
class MistralChat(MistralContent, OpenAIChat):
    """The format itself. Servers of open models (and, until spring 2026, Mistral's own) refuse a user message right
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

    # ours → theirs ----------------------------------------------------------------------------------------

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        """Returns the finished request. Usage needs no parameter."""
        return super().post(url, {k: v for k, v in body.items() if k != "stream_options"}, stream=stream)

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns the messages. With `strict_order`, it prevents: `Unexpected role 'user' after role 'tool'`."""
        messages = super().messages(turns)
        bridged = messages[:1]
        for before, message in pairwise(messages):
            if self.strict_order and (before["role"], message["role"]) == ("tool", "user"):
                bridged.append({"role": "assistant", "content": "OK"})
            bridged.append(message)
        return bridged

    def forced(self, *, alone: bool) -> Json:  # noqa: ARG002 - any call is the one call
        return {"tool_choice": "any"}  # https://docs.mistral.ai/api/endpoint/chat

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the assistant message. Its content is a string or a list, because no recording shows that `null` is
        accepted.
        """
        return [{**message, "content": message["content"] or ""} for message in super().assistant(turn)]
