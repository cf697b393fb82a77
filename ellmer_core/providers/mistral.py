"""Mistral, https://docs.mistral.ai/api/endpoint/chat."""

from __future__ import annotations

from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.mistral.request import MistralChat
from ._construction import Options, construct

__all__ = ["Mistral", "chat_mistral"]


class Mistral(MistralChat):
    """Mistral's own service."""

    default_model: ClassVar[str] = "mistral-large-latest"
    key_vars: ClassVar[tuple[str, ...]] = ("MISTRAL_API_KEY",)


def chat_mistral(
    system_prompt: str | None = None, *, strict_order: bool = False, **options: Unpack[Options]
) -> Chat:
    """A chat with Mistral. Options as in `Options`; key in `MISTRAL_API_KEY`. `strict_order` is for other hosts
    of its models, which refuse a user message right after a tool's."""
    return construct(Mistral, system_prompt, options, strict_order=strict_order)
