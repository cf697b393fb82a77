"""Ollama, https://docs.ollama.com/api/chat: open models on the user's machine, or in Ollama's cloud."""

from __future__ import annotations

from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.ollama.to_wire import OllamaChat
from ._construction import Options, construct


class Ollama(OllamaChat):
    """The server on this machine. The base URL https://ollama.com is the cloud, which needs a key."""

    key_vars: ClassVar[tuple[str, ...]] = ("OLLAMA_API_KEY",)
    key_optional: ClassVar[bool] = True
    base_url_var: ClassVar[str] = "OLLAMA_BASE_URL"


def chat_ollama(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with a model in Ollama, on your own machine or in Ollama's cloud.

    Key: `OLLAMA_API_KEY`, only for the cloud (`base_url="https://ollama.com"`). There is no default model: `model` is
    required. The server's address can be in `OLLAMA_BASE_URL`. API: https://docs.ollama.com/api/chat.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: `model` is missing, or an option is wrong.

    Examples:
        >>> chat_ollama(model="llama3.2").get_model()
        'llama3.2'
    """
    return construct(Ollama, system_prompt, options)
