"""Ollama, https://docs.ollama.com/api/chat: open models on one's own machine, or in its cloud."""

from __future__ import annotations

from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.ollama.request import OllamaChat
from ._construction import Options, construct

__all__ = ["Ollama", "chat_ollama"]


class Ollama(OllamaChat):
    """The server on this machine; https://ollama.com as the base URL is the cloud, which wants a key."""

    key_vars: ClassVar[tuple[str, ...]] = ("OLLAMA_API_KEY",)
    key_optional: ClassVar[bool] = True
    base_url_var: ClassVar[str] = "OLLAMA_BASE_URL"


def chat_ollama(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """A chat with a model in Ollama; `model` is required. Options as in `Options`."""
    return construct(Ollama, system_prompt, options)
