"""Hugging Face, https://huggingface.co/docs/inference-providers/tasks/chat-completion: open models at many hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ._chat_completions import ChatCompletions
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class HuggingFace(ChatCompletions):
    """A router. Errors and streams are those of the chosen host (`model:host` chooses one)."""

    provider: ClassVar[str] = "Hugging Face"
    default_model: ClassVar[str] = "openai/gpt-oss-120b"
    key_vars: ClassVar[tuple[str, ...]] = ("HF_TOKEN", "HUGGINGFACE_API_KEY")

    longest_id: ClassVar[int] = 46  # recorded

    base_url: str = "https://router.huggingface.co/v1"


def chat_huggingface(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with an open model of Hugging Face's inference providers.

    Key: `HF_TOKEN` or `HUGGINGFACE_API_KEY`. Default model: `openai/gpt-oss-120b`. Hugging Face is a router: `model:host` chooses
    the host, and errors are those of the host. API:
    https://huggingface.co/docs/inference-providers/tasks/chat-completion.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_huggingface(api_key="any-key").get_model()
        'openai/gpt-oss-120b'
    """
    return construct(HuggingFace, system_prompt, options)
