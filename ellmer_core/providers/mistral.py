"""Mistral, https://docs.mistral.ai/api/endpoint/chat."""

from __future__ import annotations

from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.mistral.to_wire import MistralChat
from ._construction import Options, construct


class Mistral(MistralChat):
    """Mistral's own service."""

    default_model: ClassVar[str] = "mistral-large-latest"
    key_vars: ClassVar[tuple[str, ...]] = ("MISTRAL_API_KEY",)


def chat_mistral(
    system_prompt: str | None = None, *, strict_order: bool = False, **options: Unpack[Options]
) -> Chat:
    """Makes a chat with a model of Mistral.

    Key: `MISTRAL_API_KEY`. Default model: `mistral-large-latest`. API: https://docs.mistral.ai/api/endpoint/chat.

    Args:
        system_prompt: The system prompt. Default: none.
        strict_order: True for other hosts of Mistral's models that refuse a user message directly after a tool's.
            Default: False.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_mistral(api_key="any-key").get_model()
        'mistral-large-latest'
    """
    return construct(Mistral, system_prompt, options, strict_order=strict_order)
