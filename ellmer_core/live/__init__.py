"""Interactive chats: `live_browser()` (the extra `shiny`) and `live_console()` (the extra `console`).

Both continue the given chat, whose history has the messages afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from shiny import App

    from .._chat.chat import Chat
    from ..contents.content import Content
    from ..contents.turns import AssistantTurn
    from ..conversation.settings import StreamController

__all__ = ["chat_app", "live_browser", "live_console", "shinychat_stream"]


def chat_app(
    chat: Chat,
    *,
    title: str = "Chat",
    greeting: str | None = None,
    image_hosts: Sequence[str] = (),
    store: str | Path | None = None,
    models: Sequence[str] = (),
    settings: Mapping[str, Sequence[Any]] | None = None,
    brand: Mapping[str, str] | None = None,
    on_feedback: Callable[[AssistantTurn, bool | None, str], object] | None = None,
    user_header: str | None = None,
) -> App:
    """Makes a Shiny app of a chat, for your own server.

    Every page shows this one conversation, unless `user_header` tells users apart. The page loads nothing from other
    hosts. An image by its address is a link. Pages of other origins are refused. A reverse proxy on the same machine that passes on its own
    host name also sends `X-Forwarded-For` or `X-Forwarded-Host`, as most do.

    Args:
        chat: The chat.
        title: Title of the page. Default: `"Chat"`.
        greeting: Markdown that is shown until the first message; `None` (default) shows nothing.
        image_hosts: Hosts whose images are shown in the page when somebody clicks them. Default: none.
        store: A file or a folder that keeps the conversations, in SQLite. The page then lists earlier ones, and the last
            one is continued if the chat is empty. Only give a file that this program wrote. Default: `None`, nothing is kept.
        models: Names of models to choose from. Default: none.
        settings: Parameters to choose, with their values: `{"temperature": [0, 0.5, 1]}`. Default: none.
        brand: How the page looks: `name`, `logo` (path of an image) and `color` (`"#0a7cff"`). Default: `None`.
        on_feedback: Called with the answer, whether it is good (`None`: taken back) and the user (`""` without
            `user_header`), when somebody presses a thumb under an answer. Default: `None`, there are no thumbs.
        user_header: Name of the header in which your reverse proxy says who the user is. Each user then has their own copy
            of the chat and their own conversations, and a request without the header is refused. Default: `None`.

    Returns:
        The app.

    Raises:
        UsageError: The extra `shiny` is not installed, the store cannot be opened, or an argument is wrong.

    Examples:
        >>> app = chat_app(chat_openai(), title="Weather")
    """
    try:
        from .browser import app, look_of  # noqa: PLC0415 - an extra, and slow to load
        from .conversation_store import Store  # noqa: PLC0415 - as above
        from .page import Offered  # noqa: PLC0415 - as above
    except ImportError as error:
        raise UsageError(
            'The chat app needs shiny and shinychat: pip install "ellmer-core[shiny]".'
        ) from error
    for name, values in (settings or {}).items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise UsageError(
                f"settings= has a list of values for each parameter; `{name}` has {values!r:.60}."
            )
    conversations = Store(store) if store is not None else None
    offered = Offered([*models], dict(settings or {}), on_feedback, stored=conversations is not None)
    look = look_of(title, greeting, brand or {})
    return app(chat, look, offered, image_hosts=image_hosts, store=conversations, user_header=user_header)


def live_browser(
    chat: Chat,
    port: int = 0,
    *,
    title: str = "Chat",
    greeting: str | None = None,
    image_hosts: Sequence[str] = (),
    store: str | Path | None = None,
    models: Sequence[str] = (),
    settings: Mapping[str, Sequence[Any]] | None = None,
    brand: Mapping[str, str] | None = None,
    on_feedback: Callable[[AssistantTurn, bool | None, str], object] | None = None,
    launch: bool = True,
) -> None:
    """Opens a chat in the browser and serves it until Ctrl-C, on 127.0.0.1 only.

    Tools run in this process when the model calls them.

    Args:
        chat: The chat.
        port: Port to listen on. Default: 0, any free port.
        title: Title of the page. Default: `"Chat"`.
        greeting: Markdown that is shown until the first message; `None` (default) shows nothing.
        image_hosts: Hosts whose images are shown in the page when somebody clicks them. Default: none.
        store: A file or a folder that keeps the conversations, in SQLite. The page then lists earlier ones, and the last
            one is continued if the chat is empty. Only give a file that this program wrote. Default: `None`, nothing is kept.
        models: Names of models to choose from. Default: none.
        settings: Parameters to choose, with their values: `{"temperature": [0, 0.5, 1]}`. Default: none.
        brand: How the page looks: `name`, `logo` (path of an image) and `color` (`"#0a7cff"`). Default: `None`.
        on_feedback: Called with the answer, whether it is good (`None`: taken back) and the user (`""` without
            `user_header`), when somebody presses a thumb under an answer. Default: `None`, there are no thumbs.
        launch: Whether the browser is opened. Default: `True`. Otherwise the address is printed.

    Raises:
        UsageError: The extra `shiny` is not installed, the port is taken, the store cannot be opened, or an argument is wrong.

    Examples:
        >>> live_browser(chat_openai(), port=8000)  # doctest: +SKIP
    """
    served = chat_app(
        chat,
        title=title,
        greeting=greeting,
        image_hosts=image_hosts,
        store=store,
        models=models,
        settings=settings,
        brand=brand,
        on_feedback=on_feedback,
    )
    from .browser import serve  # noqa: PLC0415 - as above

    serve(served, port, launch=launch)


def live_console(chat: Chat, *, history: str | Path | None = None) -> None:
    """Runs a chat in the terminal until Ctrl-D or `/quit`.

    Enter sends, and Alt-Enter starts a new line. Each tool call is one line; `/calls` shows those of the last answer in
    full. Ctrl-C stops an answer and keeps what was received. `/help` lists the commands.
    Tab completes commands and what the last answer suggested.

    Args:
        chat: The chat.
        history: A file that keeps what was typed, for the arrow keys of the next run; the file is readable by its owner
            only. Default: `None`, nothing is kept.

    Raises:
        UsageError: The extra `console` is not installed.

    Examples:
        >>> live_console(chat_openai())  # doctest: +SKIP
    """
    try:
        from .console import talk  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            'The console needs rich and prompt-toolkit: pip install "ellmer-core[console]".'
        ) from error
    talk(chat, history)


def shinychat_stream(
    chat: Chat, *inputs: str | Content, controller: StreamController | None = None
) -> AsyncGenerator[Any, None]:
    """Streams an answer for `append_message_stream()` in your own Shiny app.

    It yields, in order, the text, the tool calls, and the progress that tools show with `local_shinychat()`. A call that
    does not run is marked.

    Args:
        chat: The chat.
        *inputs: What to send: strings and contents.
        controller: Cancels the stream. `None` (default): the stream cannot be cancelled.

    Returns:
        An async generator of what shinychat shows.

    Raises:
        ImportError: The extra `shiny` is not installed.

    Examples:
        >>> import asyncio
        >>> async def pieces():
        ...     return [piece async for piece in shinychat_stream(chat_openai(), "Hi")]
        >>> len(asyncio.run(pieces())) > 0
        True
    """
    from .stream_to_shinychat import ToolProgress, pieces  # noqa: PLC0415 - an extra

    return pieces(chat, inputs, controller, ToolProgress.tell)
