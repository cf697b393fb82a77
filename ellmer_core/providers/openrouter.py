"""OpenRouter, https://openrouter.ai/docs/api/reference/overview: many models of many providers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.interfaces import Supports
from ._chat_completions import ChatCompletions
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class OpenRouter(ChatCompletions):
    """OpenRouter translates to each model's own API. PDFs, images in tool results (tested with Claude) and reasoning
    are passed on.
    """

    provider: ClassVar[str] = "OpenRouter"
    default_model: ClassVar[str] = "openai/gpt-5.6-terra"
    key_vars: ClassVar[tuple[str, ...]] = ("OPENROUTER_API_KEY",)
    param_names: ClassVar[Mapping[str, str]] = {
        **ChatCompletions.param_names,
        "reasoning_effort": "reasoning.effort",
        "reasoning_tokens": "reasoning.max_tokens",
    }
    supports: ClassVar[Supports] = Supports()

    base_url: str = "https://openrouter.ai/api/v1"

    def call_id(self, id: str) -> str:
        """Returns the id unchanged: models behind it send longer ids than OpenAI accepts, and OpenRouter accepts
        them back."""
        return id


def chat_openrouter(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with one of the models of many providers on OpenRouter.

    Key: `OPENROUTER_API_KEY`. Default model: `openai/gpt-5.6-terra`. OpenRouter translates PDFs, images in tool results
    and reasoning to each model's own API. API: https://openrouter.ai/docs/api/reference/overview.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_openrouter(api_key="any-key").get_model()
        'openai/gpt-5.6-terra'
    """
    return construct(OpenRouter, system_prompt, options)
