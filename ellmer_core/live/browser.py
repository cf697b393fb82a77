"""The chat app: shinychat's page for one `Chat`. It serves one conversation on this machine."""

from __future__ import annotations

import asyncio
import re
import socket
import webbrowser
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from ipaddress import ip_address
from mimetypes import guess_type
from pathlib import Path
from threading import Thread
from typing import Any, cast
from urllib.parse import urlsplit

import shinychat
import uvicorn
from htmltools import HTML, Tag, TagList, head_content, tags
from shiny import App, Inputs, Outputs, Session, reactive
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from .._chat.chat import Chat
from ..base.budget import PAGE, has_more_values
from ..errors import UsageError
from ..render.shinychat_blocks import page_scripts
from .conversation_store import Store
from .page import Offered, Page, choices, conversations, status_bar, toolbar
from .shared_conversation import Room

# --- content security policy -----------------------------------------------------------------------------


INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class ChatApp(App):
    """A Shiny app whose page has a content security policy. It closes its conversations' connections when it ends."""

    def __init__(
        self,
        page: TagList,
        server: Callable[[Inputs, Outputs, Session], None],
        image_hosts: Sequence[str],
        user_header: str | None,
        close: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(page, server)
        self.user_header = user_header
        self.owners: dict[str, str] = {}  # users by session
        self.close = close
        html = self.ui["html"] if isinstance(self.ui, dict) else ""
        self.policy = policy(INLINE.findall(html), image_hosts).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(b"content-security-policy", self.policy), (b"x-content-type-options", b"nosniff")]
                message["headers"] = [*message.get("headers", ()), *headers]
            await send(message)

        left = PAGE.received

        async def received() -> Message:
            nonlocal left
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                await self.close()
            elif message["type"] == "websocket.receive" and _is_too_much(message.get("text") or ""):
                await send({"type": "websocket.close", "code": 1009})
                return {"type": "websocket.disconnect", "code": 1009}
            elif message["type"] == "http.request":
                left -= len(message.get("body", b""))
                return message if left >= 0 else {"type": "http.disconnect"}
            return message

        if scope["type"] != "lifespan" and (words := self._refused(scope)):
            await refuse(scope, send, words)
        else:
            await super().__call__(scope, received, sent)

    def _refused(self, scope: Scope) -> bytes:
        """Returns why a request is refused. The browser sends a user's cookies to the proxy for any page."""
        if not _from_own_page(scope["headers"]):
            return b"This page is for pages of its own address."
        if self.user_header:
            users = [value for name, value in scope["headers"] if name.decode() == self.user_header.lower()]
            if (
                len(users) != 1 or not users[0]
            ):  # a proxy that adds its header to the browser's own has said nothing
                return b"This page is reached through its proxy, which says who you are."
            session = scope.get("path", "").removeprefix("/session/").partition("/")[0]
            if self.owners.get(session, users[0].decode("latin-1")) != users[0].decode("latin-1"):
                return b"This session is somebody else's."
        elif _is_rebound(scope):
            return b"This page has another name. If it is a proxy's, have it send X-Forwarded-Host."
        return b""


def _is_too_much(text: str) -> bool:
    """Tells whether a page's message is larger than its picture and its files may be, or has more values than its inputs."""
    return len(text) > PAGE.received or has_more_values(text, PAGE.values)


def _from_own_page(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Tells whether the page that asks is one of this address, or of the address that a proxy names."""
    found = {name: value.decode("latin-1") for name, value in headers}
    origin, own = found.get(b"origin", ""), (found.get(b"host", ""), found.get(b"x-forwarded-host", ""))
    return (
        not origin or (urlsplit(origin).netloc or origin) in own
    )  # `null` is the origin of a frame in a sandbox


_FORWARDED = {b"x-forwarded-for", b"x-forwarded-host", b"forwarded", b"x-real-ip"}


def _is_rebound(scope: Scope) -> bool:
    """Tells whether a browser of this machine came here under a name of the internet (DNS rebinding), and through no proxy."""
    headers, client = dict(scope["headers"]), (scope.get("client") or ("",))[0]
    if client not in {"127.0.0.1", "::1"} or not _FORWARDED.isdisjoint(headers):
        return False
    return not _is_local(headers.get(b"host", b"").decode("latin-1"))


def _is_local(address: str) -> bool:
    """Tells whether a host is an address, or a name that no page of the internet can have."""
    try:
        host = urlsplit(f"//{address}").hostname or ""
        return "." not in host or host.endswith(".localhost") or bool(ip_address(host))
    except ValueError:
        return False


async def refuse(scope: Scope, send: Send, words: bytes) -> None:
    """Refuses a request or a WebSocket."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 403, "headers": []})
        await send({"type": "http.response.body", "body": words})
    else:
        await send({"type": "websocket.close", "code": 1008})


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


@dataclass(frozen=True)
class Look:
    """How the page looks: its title, its logo as an address, its colour, and its greeting."""

    title: str
    logo: str | None = None
    color: str | None = None
    greeting: str | None = None

    @property
    def style(self) -> str:
        """The style sheet for the colour, with text that can be read on it."""
        if not self.color:
            return ""
        light = (
            sum(w * int(self.color[at : at + 2], 16) for w, at in ((299, 1), (587, 3), (114, 5))) > 150_000
        )
        return (
            f":root {{ --ellmer-color: {self.color}; --ellmer-on-color: {'#000' if light else '#fff'}; }} "
            "body .shiny-chat-btn-send:not(:disabled), body .btn-primary { background: var(--ellmer-color) !important; "
            "border-color: var(--ellmer-color); color: var(--ellmer-on-color) !important; } "
            ".shiny-chat-page-header, header { border-top: 4px solid var(--ellmer-color); }"
        )


def look_of(title: str, greeting: str | None, brand: Mapping[str, str]) -> Look:
    """Returns the look for a brand, after a check."""
    if unknown := brand.keys() - {"name", "logo", "color"}:
        raise UsageError(f"brand= has name, logo and color, not {', '.join(sorted(unknown))}.")
    color = brand.get("color")
    if color and not re.fullmatch("#[0-9a-fA-F]{6}", color):
        raise UsageError(f'The color in brand= is written as "#0a7cff", not {color!r}.')
    return Look(brand.get("name", title), _logo(brand.get("logo")), color, greeting)


def _logo(path: str | None) -> str | None:
    if not path:
        return None
    kind = guess_type(path)[0] or ""
    if not kind.startswith("image/"):
        raise UsageError(f"The logo in brand= must be an image file, such as logo.svg, not {path!r}.")
    try:
        return f"data:{kind};base64,{b64encode(Path(path).read_bytes()).decode()}"
    except OSError as error:
        raise UsageError(f"The logo in brand= cannot be read: {error}.") from error


def app(
    chat: Chat,
    look: Look,
    offered: Offered,
    *,
    image_hosts: Sequence[str],
    store: Store | None,
    user_header: str | None,
) -> App:
    """Returns the app. A page shows the messages so far and continues from there."""
    hosts, rooms = origins(image_hosts), dict[str, tuple[Room, reactive.Value[int]]]()

    def server(input: Inputs, _output: Outputs, session: Session) -> None:
        user = str(cast("Any", session).http_conn.headers[user_header]) if user_header else ""
        own_app.owners[session.id] = user

        def ended() -> None:
            own_app.owners.pop(session.id, None)

        session.on_ended(ended)
        if user not in rooms:
            own = chat.fork() if user_header else chat
            rooms[user] = Room(own, store, user, offered.models), reactive.Value(0)
        Page(rooms[user][0], input, session, rooms[user][1], offered)

    async def close() -> None:
        for room, _ in rooms.values():
            await room.chat.aclose()

    own_app = ChatApp(TagList(*page_scripts(hosts), _page(look, offered)), server, hosts, user_header, close)
    return own_app


def _page(look: Look, offered: Offered) -> Tag:
    logo = tags.img(src=look.logo, alt="", class_="ellmer-logo") if look.logo else None
    head = head_content(tags.link(rel="icon", href=look.logo or ICON), tags.style(HTML(look.style)))
    return shinychat.page_chat(
        TagList(head, tags.h1(logo, look.title, class_="ellmer-title")),
        window_title=look.title,
        sidebar=shinychat.chat_sidebar(conversations(), history=False, open="open", resizable=False)
        if offered.stored
        else False,
        drawer=False,
        toolbar=toolbar(),
        toolbar_input=choices(offered),
        greeting=look.greeting,
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
        config = uvicorn.Config(
            OnlyFromHere(app), http=HeadInTime, log_level="warning", timeout_graceful_shutdown=1
        )
        with suppress(KeyboardInterrupt):
            _run(uvicorn.Server(config), listening)


class HeadInTime(H11Protocol):
    """uvicorn's protocol, which closes a connection whose request has no complete head in time."""

    seconds = PAGE.seconds

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in H11Protocol
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = self.loop.call_later(self.seconds, self._end)

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        if self._timer is None and (before is None or before.response_complete):
            self._timer = self.loop.call_later(self.seconds, self._end)
        super().data_received(data)
        if self.cycle is not before:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def _end(self) -> None:
        if self.transport.get_protocol() is self:  # and no WebSocket's
            self.transport.close()


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise UsageError(f"Port {port} cannot be used: {error}. Use 0 for any free port.") from error


def _run(server: uvicorn.Server, listening: socket.socket) -> None:
    """Runs the app until it ends or is interrupted."""
    served = asyncio.run_coroutine_threadsafe(server.serve([listening]), event_loop())
    try:
        served.result()
    finally:
        server.should_exit = True
        served.result()


@cache
def event_loop() -> asyncio.AbstractEventLoop:
    """Returns the event loop of all apps of this process, in a thread of its own, because a notebook's loop is running
    already. Shiny has one lock for all apps, and the lock belongs to the first loop that waits for it.
    """
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="chat apps", daemon=True).start()
    return loop


class OnlyFromHere:
    """Answers only pages of its own address. Otherwise, any page in the same browser could reach this port and run
    tools: through a host name for 127.0.0.1, or through a WebSocket, which needs no permission.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or _from_here(dict(scope["headers"])):
            await self.app(scope, receive, send)
        else:
            await refuse(scope, send, b"This page is for this machine only.")


def _from_here(headers: dict[bytes, bytes]) -> bool:
    host = headers.get(b"host", b"").decode("latin-1")
    origin = headers.get(b"origin", b"").decode("latin-1")
    ours = urlsplit(f"//{host}").hostname in {"127.0.0.1", "localhost"}
    return ours and (not origin or urlsplit(origin).netloc == host)
