"""Cerebras, https://inference-docs.cerebras.ai/api-reference/chat-completions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.interfaces import Supports
from ._chat_completions import ChatCompletions
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class Cerebras(ChatCompletions):
    """Images go to `gemma-4-31b`, as bytes. Its errors are flat: `{message, type, param, code}`."""

    provider: ClassVar[str] = "Cerebras"
    default_model: ClassVar[str] = "gpt-oss-120b"
    key_vars: ClassVar[tuple[str, ...]] = ("CEREBRAS_API_KEY",)
    supports: ClassVar[Supports] = Supports(pdfs=False, native_tool_media=False)
    fetches: ClassVar[tuple[str, ...]] = ()

    base_url: str = "https://api.cerebras.ai/v1"


def chat_cerebras(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with a model on Cerebras.

    Key: `CEREBRAS_API_KEY`. Default model: `gpt-oss-120b`. Images go to `gemma-4-31b`, as bytes. API:
    https://inference-docs.cerebras.ai/api-reference/chat-completions.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_cerebras(api_key="any-key").get_model()
        'gpt-oss-120b'
    """
    return construct(Cerebras, system_prompt, options)
