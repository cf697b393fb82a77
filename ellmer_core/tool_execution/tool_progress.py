"""The progress that a tool reports while it runs. It is shown to the user, and never sent to the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from ..contents.content import ContentToolRequest
from ..errors import UsageError

__all__ = ["Progress", "calling", "local_shinychat", "say", "showing"]

Show = Callable[[ContentToolRequest, str], object]

_show: ContextVar[Show | None] = ContextVar("ellmer_core_show", default=None)
_call: ContextVar[ContentToolRequest | None] = ContextVar("ellmer_core_call", default=None)


class Progress:
    """The progress line beside a running tool call. It disappears when the result arrives."""

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show
        self._text = ""

    def append(self, text: str, *, operation: Literal["append", "replace"] = "append") -> None:
        """Appends text to the progress. With `operation="replace"`, it replaces the previous text."""
        if operation not in {"append", "replace"}:
            raise UsageError(f'operation= must be "append" or "replace", not {operation!r}.')
        self.replace(text if operation == "replace" else self._text + text)

    def replace(self, text: str) -> None:
        """Replaces the previous text."""
        self._text = text
        self._show(text)


def local_shinychat() -> Progress:
    """Returns the chat on the screen, so that a tool can show its progress.

    Without a UI (`live_browser()`, `live_console()` or `shinychat_stream()`), its methods do nothing. Progress is never
    sent to the model and disappears when the tool returns.

    Returns:
        An object with `append(text)` and `replace(text)`.

    Examples:
        >>> chat_ui = local_shinychat()
        >>> chat_ui.append("Searching…")
        >>> chat_ui.replace("50 %")
    """
    show, request = _show.get(), _call.get()
    if show is None or request is None:
        return Progress(lambda _text: None)
    return Progress(lambda text: show(request, text))


def say(value: object) -> None:
    """Reports a value that a generator tool yields before its result as progress."""
    local_shinychat().replace(str(value))


@contextmanager
def showing(show: Show) -> Iterator[None]:
    """Sends the progress of tools in this context to `show(request, text)`, which any thread may call."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


@contextmanager
def calling(request: ContentToolRequest) -> Iterator[None]:
    """Sets the request whose tool this context calls."""
    token = _call.set(request)
    try:
        yield
    finally:
        _call.reset(token)
