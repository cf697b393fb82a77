"""DeepSeek, https://api-docs.deepseek.com: Chat Completions for text, with the reasoning shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Unpack

from .._chat import Chat
from .._vendors import Options, construct
from ..content import Content, is_media
from ..errors import ContentError
from ..tools import ToolDef
from ..turns import AssistantTurn, Turn, UserTurn
from ..types import Type
from ..wire import Json, Request
from ..wire._shared import json_text
from ..wire.openai_chat import OpenAIChat

__all__ = ["DeepSeek", "chat_deepseek"]


@dataclass(frozen=True)
class DeepSeek(OpenAIChat):
    """Text only: `unknown variant image_url, expected text`. Reasoning of a tool call must go back, if only as
    an empty string (`The reasoning_content in the thinking mode must be passed back to the API.`)."""

    vendor: ClassVar[str] = "DeepSeek"
    default_model: ClassVar[str] = "deepseek-v4-flash"
    key_vars: ClassVar[tuple[str, ...]] = ("DEEPSEEK_API_KEY",)
    param_names: ClassVar[Mapping[str, str]] = {**OpenAIChat.param_names, "max_tokens": "max_tokens"}

    tool_media: Literal["pointer", "native", "refused"] = "refused"
    base_url: str = "https://api.deepseek.com"

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        if type is not None:  # the API knows JSON, but no schema: the prompt says it
            schema = f"Answer only with JSON according to this JSON Schema: {json_text(self.schema(type))}"
            turns = [*turns, UserTurn(schema)]
        return super().request(turns, tools, stream=stream, type=type)

    def response_format(self, type: Type) -> Json:  # noqa: ARG002 - see request()
        return {"type": "json_object"}

    def content(self, content: Content) -> Json:
        if is_media(content):
            raise ContentError(f"{self.vendor} takes text only, no {content.__class__.__name__}.")
        return super().content(content)

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        messages = super().assistant(turn)
        return [{"reasoning_content": "", **m} if "tool_calls" in m else m for m in messages]


def chat_deepseek(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """A chat with DeepSeek: text only. Options as in `Options`; key in `DEEPSEEK_API_KEY`."""
    return construct(DeepSeek, system_prompt, options)
