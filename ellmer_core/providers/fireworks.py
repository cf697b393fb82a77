"""Fireworks AI, https://docs.fireworks.ai/api-reference/post-chatcompletions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ._chat_completions import ChatCompletions
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class Fireworks(ChatCompletions):
    """Open models, which are named by their path."""

    provider: ClassVar[str] = "Fireworks AI"
    default_model: ClassVar[str] = "accounts/fireworks/models/gpt-oss-120b"
    key_vars: ClassVar[tuple[str, ...]] = ("FIREWORKS_API_KEY",)

    base_url: str = "https://api.fireworks.ai/inference/v1"


def chat_fireworks(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with an open model on Fireworks AI.

    Key: `FIREWORKS_API_KEY`. Default model: `accounts/fireworks/models/gpt-oss-120b`. Models are named by their path.
    API: https://docs.fireworks.ai/api-reference/post-chatcompletions.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_fireworks(api_key="any-key").get_model()
        'accounts/fireworks/models/gpt-oss-120b'
    """
    return construct(Fireworks, system_prompt, options)
