"""Portkey, https://portkey.ai/docs/api-reference/inference-api/chat: a gateway to the models of many providers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.openai_chat.to_wire import OpenAIChat
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class Portkey(OpenAIChat):
    """Models are named `@provider/model`. Their features depend on the provider."""

    provider: ClassVar[str] = "Portkey"
    key_vars: ClassVar[tuple[str, ...]] = ("PORTKEY_API_KEY",)

    base_url: str = "https://api.portkey.ai/v1"

    def headers(self) -> dict[str, str]:
        return {"x-portkey-api-key": self.credentials()} if self.credentials else {}


def chat_portkey(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with a model of any provider through Portkey's gateway.

    Key: `PORTKEY_API_KEY`. There is no default model: `model` is required. Models are named `@provider/model`. API:
    https://portkey.ai/docs/api-reference/inference-api/chat.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: The key or `model` is missing, or an option is wrong.

    Examples:
        >>> chat_portkey(model="@openai/gpt-4.1", api_key="any-key").get_model()
        '@openai/gpt-4.1'
    """
    return construct(Portkey, system_prompt, options)
