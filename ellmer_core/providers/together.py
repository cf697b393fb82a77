"""Together AI, https://docs.together.ai/reference/chat-completions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ._chat_completions import ChatCompletions
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class Together(ChatCompletions):
    """Together AI's Chat Completions API for open models."""

    provider: ClassVar[str] = "Together AI"
    default_model: ClassVar[str] = "openai/gpt-oss-120b"
    key_vars: ClassVar[tuple[str, ...]] = ("TOGETHER_API_KEY",)

    base_url: str = "https://api.together.xyz/v1"


def chat_together(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with an open model on Together AI.

    Key: `TOGETHER_API_KEY`. Default model: `openai/gpt-oss-120b`. API:
    https://docs.together.ai/reference/chat-completions.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_together(api_key="any-key").get_model()
        'openai/gpt-oss-120b'
    """
    return construct(Together, system_prompt, options)
