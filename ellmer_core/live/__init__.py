"""A chat to talk to: `live_browser()` (the extra `shiny`), `live_console()` (the extra `console`).

Both hold the chat they were given: what is said there is in it afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from shiny import App

    from .._chat.chat import Chat
    from ..contents.content import Content
    from ..conversation.cancellation import StreamController

__all__ = ["chat_app", "live_browser", "live_console", "shinychat_stream"]


def chat_app(
    chat: Chat, *, title: str = "Chat", greeting: str | None = None, image_hosts: Sequence[str] = ()
) -> App:
    """The chat as a Shiny app, to be served in your own way. Every page shows this one conversation.

    `greeting` is Markdown, shown while nothing has been said. The page loads nothing from elsewhere. An image that
    the model names is a link; one from a host of `image_hosts` is shown in the page when somebody clicks it.
    """
    try:
        from .browser import app  # noqa: PLC0415 - an extra, and slow to load
    except ImportError as error:
        raise UsageError(
            'The chat app needs shiny and shinychat: pip install "ellmer-core[shiny]".'
        ) from error
    return app(chat, title, greeting, image_hosts)


def live_browser(
    chat: Chat,
    port: int = 0,
    *,
    title: str = "Chat",
    greeting: str | None = None,
    image_hosts: Sequence[str] = (),
    launch: bool = True,
) -> None:
    """Opens the chat in the browser and serves it, on 127.0.0.1 only, until Ctrl-C. Port 0 is any free port.

    Tools run in this process, when the model asks. `title`, `greeting` and `image_hosts` are those of `chat_app()`.
     `launch=False` prints the address and opens nothing.
    """
    served = chat_app(chat, title=title, greeting=greeting, image_hosts=image_hosts)
    from .browser import serve  # noqa: PLC0415 - as above

    serve(served, port, launch=launch)


def live_console(chat: Chat) -> None:
    """Talks with the chat in the terminal, until Ctrl-D or `/quit`.

    Enter sends, Alt-Enter begins a new line. Tool calls are folded to a line; `/calls` shows the last answer's
    in full. Ctrl-C stops an answer and keeps what was received.
    """
    try:
        from .console import talk  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            'The console needs rich and prompt-toolkit: pip install "ellmer-core[console]".'
        ) from error
    talk(chat)


def shinychat_stream(
    chat: Chat, *inputs: str | Content, controller: StreamController | None = None
) -> AsyncGenerator[Any, None]:
    """An answer for `append_message_stream()` in a Shiny app of yours, in order: what the model says, its tool
    calls, and what tools say while they run (`local_shinychat()`). A call that is never made is marked so."""
    from .chat_stream import stream  # noqa: PLC0415 - an extra

    return stream(chat, inputs, controller)
