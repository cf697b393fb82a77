"""The chat app: shinychat's page for one `Chat`. It serves one conversation on this machine."""

from __future__ import annotations

import asyncio
import re
import socket
import webbrowser
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from threading import Thread
from urllib.parse import urlsplit

import shinychat
import uvicorn
from htmltools import Tag, TagList, head_content, tags
from shiny import App, Inputs, Outputs, Session, reactive
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .._chat.chat import Chat
from ..errors import UsageError
from ..render.shinychat_blocks import page_scripts
from .page import Page, status_bar, toolbar
from .shared_conversation import Room

# --- content security policy -----------------------------------------------------------------------------


INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class ChatApp(App):
    """A Shiny app whose page has a content security policy."""

    def __init__(
        self, page: TagList, server: Callable[[Inputs, Outputs, Session], None], image_hosts: Sequence[str]
    ) -> None:
        super().__init__(page, server)
        html = self.ui["html"] if isinstance(self.ui, dict) else ""
        self.policy = policy(INLINE.findall(html), image_hosts).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(b"content-security-policy", self.policy), (b"x-content-type-options", b"nosniff")]
                message["headers"] = [*message.get("headers", ()), *headers]
            await send(message)

        await super().__call__(scope, receive, sent)


def policy(scripts: Iterable[str], image_hosts: Iterable[str]) -> str:
    """Returns the policy of a page with these inline scripts."""
    hashes = [f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts]
    allowed = {
        "default-src": ["'none'"],
        "script-src": ["'self'", *hashes],
        "style-src": ["'self'", "'unsafe-inline'"],  # sizes and colours that shinychat and tools set
        "img-src": ["'self'", "data:", "blob:", *image_hosts],
        "media-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "manifest-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],  # no other page shows this one and has its buttons clicked
    }
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in allowed.items())


def origins(hosts: Sequence[str]) -> list[str]:
    """Returns the hosts in the form of a policy: `https://images.example.com`."""
    return [_origin(host) for host in hosts]


def _origin(host: str) -> str:
    url = urlsplit(host if "://" in host else f"https://{host}")
    origin = f"{url.scheme}://{url.netloc}"
    if url.scheme not in {"http", "https"} or not re.fullmatch(r"[\w.-]+(:\d+)?", url.netloc) or url.path:
        raise UsageError(f'image_hosts= are hosts such as "images.example.com", not {host!r}.')
    return origin


# --- the app ---------------------------------------------------------------------------------------------


ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%23007bc2' "
    "d='M3 2h10a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2H8l-4 3v-3H3a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2z'/%3E%3C/svg%3E"
)


def app(chat: Chat, title: str, greeting: str | None, image_hosts: Sequence[str]) -> App:
    """Returns the app. A page shows the messages so far and continues from there."""
    room, changed, hosts = Room(chat), reactive.Value(0), origins(image_hosts)

    def server(input: Inputs, _output: Outputs, session: Session) -> None:
        Page(room, input, session, changed)

    return ChatApp(TagList(*page_scripts(hosts), _page(title, greeting)), server, hosts)


def _page(title: str, greeting: str | None) -> Tag:
    return shinychat.page_chat(
        TagList(head_content(tags.link(rel="icon", href=ICON)), tags.h1(title, class_="ellmer-title")),
        window_title=title,
        sidebar=False,
        drawer=False,
        toolbar=toolbar(),
        greeting=greeting,
        enable_cancel=True,
        allow_attachments=True,
        footer=status_bar(),
        lang="en",
    )


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
        raise UsageError(f"Port {port} cannot be used: {error}. Use 0 for any free port.") from error


def _run(server: uvicorn.Server, listening: socket.socket) -> None:
    """Runs the app. If an event loop is running, as in notebooks, it uses another thread."""
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
    """Answers only pages of its own address. Otherwise, any page in the same browser could reach this port and run
    tools: through a host name for 127.0.0.1, or through a WebSocket, which needs no permission.
    """

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
