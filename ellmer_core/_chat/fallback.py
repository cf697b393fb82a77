"""A chat with several providers: the next one answers where one is overloaded or out of order."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UsageError
from .chat import Chat

__all__ = ["chat_fallback"]


def chat_fallback(chats: Sequence[Chat]) -> Chat:
    """A chat that asks the first of `chats`, and on overload, outage or a lost connection the next.

        chat = chat_fallback([chat_anthropic(max_tries=1), chat_openai()])

    The system prompt, the tools and what was said are those of the first; of the others it takes the provider, the
    model, the parameters and the connection. Each is tried as often as its own `max_tries` says. What was said is
    carried over; once something of an answer was shown, its error is raised. The next call begins with the first again.
    """
    chats = list(chats)
    if not chats or not all(isinstance(chat, Chat) for chat in chats):
        raise UsageError("chat_fallback() takes a list of chats: [chat_anthropic(…), chat_openai(…)].")
    first, *others = chats
    return first.with_fallbacks(others)
