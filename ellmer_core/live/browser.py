"""The chat app: shinychat's page around one `Chat`. It serves one conversation, to people on this machine."""

from __future__ import annotations

import asyncio
import socket
import webbrowser
from base64 import b64decode
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from threading import Thread
from typing import Any, cast
from urllib.parse import urlsplit

import shinychat
import uvicorn
from htmltools import Tag, TagList, tags
from shiny import App, Inputs, Outputs, Session, reactive
from shinychat.types import ChatMessage
from starlette.types import ASGIApp, Receive, Scope, Send

from .._chat.chat import Chat
from ..contents.content import Content, ContentImageInline, ContentPDF, ContentText
from ..conversation.cancellation import StreamController
from ..errors import UsageError
from ..render.shinychat import contents_shinychat
from ..render.shinychat_blocks import app_styles, progress_script
from .chat_stream import stream

__all__ = ["app", "serve"]


def app(chat: Chat, title: str, greeting: str | None) -> App:
    """The app. A page shows what was said so far, and goes on from there."""
    room = Room(chat)

    def server(input: Inputs, _output: Outputs, session: Session) -> None:
        _serve_page(room, input, session)

    return App(TagList(progress_script(), app_styles(), _page(title, greeting)), server)


def _page(title: str, greeting: str | None) -> Tag:
    return shinychat.page_chat(
        tags.h1(title, class_="ellmer-title"),
        window_title=title,
        sidebar=False,
        drawer=False,
        greeting=greeting,
        enable_cancel=True,
        allow_attachments=True,
        lang="en",
    )


class Room:
    """The one conversation. A page that is opened while it goes on (again, say) shows it when it has ended."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat
        self.talking = asyncio.Lock()

    async def said(self) -> list[ChatMessage]:
        """All that was said."""
        async with self.talking:
            return cast("list[ChatMessage]", contents_shinychat(self.chat))

    async def answer(
        self, said: Sequence[str | Content], controller: StreamController
    ) -> AsyncGenerator[Any, None]:
        """What is to be shown of an answer."""
        controller.reset()
        async with self.talking, aclosing(stream(self.chat, said, controller)) as contents:
            async for content in contents:
                yield content


def _serve_page(room: Room, input: Inputs, session: Session) -> None:
    """One page that is open. When it goes, what is being said ends, and is kept."""
    shown = shinychat.Chat("chat", history=False, on_error="actual")
    controller = StreamController()
    session.on_ended(lambda: controller.cancel("interrupted"))

    @reactive.effect
    async def restore() -> None:
        for message in await room.said():
            await shown.append_message(message)

    @shown.on_user_submit
    async def answer(text: str, attachments: list[shinychat.Attachment]) -> None:
        said: list[str | Content] = [*filter(None, [text]), *map(attached, attachments)]
        await shown.append_message_stream(room.answer(said, controller))

    @reactive.effect
    @reactive.event(input.chat_cancel)
    def cancel() -> None:
        controller.cancel()


def attached(file: shinychat.Attachment) -> Content:
    """A file that the user attached, as content: an image, a PDF, or text with its name."""
    data = file.data_url.partition("base64,")[2]
    if file.mime.startswith("image/"):
        return ContentImageInline(file.mime, data, {"filename": file.name} if file.name else {})
    if file.mime == "application/pdf":
        return ContentPDF(file.mime, data, file.name or "document.pdf")
    text = b64decode(data).decode("utf-8", "replace")
    return ContentText(f"{file.name}:\n\n{text}")


def serve(app: App, port: int, *, launch: bool) -> None:
    """Serves the app on 127.0.0.1 until it is interrupted."""
    with _listening(port) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        print(f"The chat is at {address} (Ctrl-C ends it).", flush=True)  # noqa: T201 - where it is
        if launch:
            webbrowser.open(address)
        config = uvicorn.Config(OnlyFromHere(app), log_level="warning", timeout_graceful_shutdown=1)
        with suppress(KeyboardInterrupt):
            _run(uvicorn.Server(config), listening)


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise UsageError(f"Port {port} cannot be used: {error}. 0 takes any that is free.") from error


def _run(server: uvicorn.Server, listening: socket.socket) -> None:
    """In a thread where an event loop runs already, as in notebooks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return server.run([listening])
    thread = Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        thread.join()
    finally:
        server.should_exit = True
        thread.join()


class OnlyFromHere:
    """Answers pages of its own address only. Any page in the same browser could talk to this port, and so have
    the tools run: by its own name for 127.0.0.1, or through a WebSocket, which asks no permission."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or _from_here(dict(scope["headers"])):
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 403, "headers": []})
            await send({"type": "http.response.body", "body": b"This page is for this machine only."})
        else:
            await send({"type": "websocket.close", "code": 1008})


def _from_here(headers: dict[bytes, bytes]) -> bool:
    host = headers.get(b"host", b"").decode("latin-1")
    origin = headers.get(b"origin", b"").decode("latin-1")
    ours = urlsplit(f"//{host}").hostname in {"127.0.0.1", "localhost"}
    return ours and (not origin or urlsplit(origin).netloc == host)
