"""A chat in the terminal."""

from .._chat import Chat


def talk(chat: Chat) -> None: ...
