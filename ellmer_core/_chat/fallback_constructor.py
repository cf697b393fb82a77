"""A chat with several providers: the next one answers if one is overloaded or unavailable."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UsageError
from .chat import Chat

__all__ = ["chat_fallback"]


def chat_fallback(chats: Sequence[Chat]) -> Chat:
    """Makes a chat that asks the first chat, and on overload, outage or a lost connection the next.

    The system prompt, tools and history are those of the first chat. Provider, model, parameters and connection are
    each chat's own. A chat is tried as often as its own `max_tries` says. Once a part of an answer was shown, its error
    is raised. The next call starts with the first chat again.

    Args:
        chats: The chats, in the order in which they are tried.

    Returns:
        The chat.

    Raises:
        UsageError: The list is empty.

    Examples:
        >>> chat = chat_fallback([chat_anthropic(max_tries=1), chat_openai()])
        >>> chat.get_model() == chat_anthropic().get_model()
        True
    """
    chats = list(chats)
    if not chats or not all(isinstance(chat, Chat) for chat in chats):
        raise UsageError("chat_fallback() takes a list of chats: [chat_anthropic(…), chat_openai(…)].")
    first, *others = chats
    return first.with_fallbacks(others)
