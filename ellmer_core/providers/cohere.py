"""Cohere, https://docs.cohere.com/v2/reference/chat."""

from __future__ import annotations

from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.cohere.to_wire import CohereChat
from ._construction import Options, construct


class Cohere(CohereChat):
    """Cohere's own service, with version 2 of its API."""

    default_model: ClassVar[str] = "command-a-03-2025"
    key_vars: ClassVar[tuple[str, ...]] = ("CO_API_KEY", "COHERE_API_KEY")
    base_url_var: ClassVar[str] = "CO_API_URL"
    base_url_end: ClassVar[str] = "/v2"


def chat_cohere(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with Cohere's Command.

    Key: `CO_API_KEY` or `COHERE_API_KEY`. Address: `CO_API_URL`. Default model: `command-a-03-2025`. It uses version 2 of Cohere's API, whose
    tool results are documents that answers can cite. API: https://docs.cohere.com/v2/reference/chat.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_cohere(api_key="any-key").get_model()
        'command-a-03-2025'
    """
    return construct(Cohere, system_prompt, options)
