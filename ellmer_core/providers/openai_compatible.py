"""Any server that speaks OpenAI's Chat Completions: vLLM, llama.cpp, LM Studio, a gateway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.openai_chat.request import OpenAIChat
from ._construction import Options, construct

__all__ = ["OpenAICompatible", "chat_openai_compatible"]


@dataclass(frozen=True)
class OpenAICompatible(OpenAIChat):
    """A server of somebody's. It gets a key only if one is given: no variable of another vendor is read."""

    example_url: ClassVar[str] = "http://localhost:8080/v1"

    base_url: str = ""

    def call_id(self, id: str) -> str:
        """As it came: such servers give longer ids than OpenAI takes, and take them back (Baseten: 46 characters)."""
        return id


def chat_openai_compatible(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """A chat over Chat Completions with the server at `base_url`. Options as in `Options`; `base_url` and
    `model` are required."""
    return construct(OpenAICompatible, system_prompt, options)
