"""xAI, https://docs.x.ai/docs/api-reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ._chat_completions import ChatCompletions
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class XAI(ChatCompletions):
    """xAI counts reasoning tokens separately from completion tokens, and answers a wrong key with status 400."""

    provider: ClassVar[str] = "xAI"
    default_model: ClassVar[str] = "grok-4.3"
    key_vars: ClassVar[tuple[str, ...]] = ("XAI_API_KEY",)

    base_url: str = "https://api.x.ai/v1"


def chat_xai(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with xAI's Grok.

    Key: `XAI_API_KEY`. Default model: `grok-4.3`. A wrong key is an error 400, not 401. API:
    https://docs.x.ai/docs/api-reference.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_xai(api_key="any-key").get_model()
        'grok-4.3'
    """
    return construct(XAI, system_prompt, options)
