"""An ASGI app that answers the requests of a web client. It needs no framework, and every framework can mount it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Protocol
from weakref import WeakSet

from .._chat.chat import Chat
from ..base.argument_checks import spelt
from ..base.budget import WEB
from ..conversation.settings import StreamController
from ..errors import UsageError
from .exchange import WebRequest

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Scope = MutableMapping[str, Any]
Find = Callable[[str, Scope], Chat | Awaitable[Chat | None] | None]


#: The chats whose request was accepted. Between that and the beginning of its stream, another request may arrive.
_answering: WeakSet[Chat] = WeakSet()


class Speaks(Protocol):
    """A protocol: `vercel` or `ag_ui`."""

    HEADERS: Mapping[str, str]

    def read(self, request: bytes) -> WebRequest:
        """Reads a request."""
        ...

    def stream(
        self, chat: Chat, asked: WebRequest, *, controller: StreamController | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Streams an answer."""
        ...


@spelt
def endpoint(protocol: Speaks, find: Find, *, max_bytes: int = WEB.received) -> Endpoint:
    """Makes an ASGI app that answers the requests of a web client.

    It takes only JSON by POST, so that a form of another site cannot send a request in a user's name. When the client disconnects, the answer ends, and its received part is kept.

    Args:
        protocol: `vercel` or `ag_ui`.
        find: A function of the client's name for the conversation and the ASGI scope. It returns the chat; `None` means that
            the user has no such conversation. It decides who the user is. It may be async.
        max_bytes: The largest request. Default: 20 MB.

    Returns:
        The app: `Route("/api/chat", …)` in Starlette, `app.add_route("/api/chat", …)` in FastAPI, or itself for `uvicorn`.

    Examples:
        >>> chats = {}
        >>> app = endpoint(vercel, lambda name, scope: chats.setdefault(name, chat_openai(when_busy="wait")))
    """

    return Endpoint(protocol, find, max_bytes)


@dataclass(frozen=True)
class Endpoint:
    """The app of `endpoint()`. It is an object, because frameworks treat a function as one of their own handlers."""

    protocol: Speaks
    find: Find
    max_bytes: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            try:
                asked = self.protocol.read(await _body(scope, receive, self.max_bytes))
                chat = await self._chat(asked.conversation, scope)
                asked.check(chat)
            except _Refused as refused:
                await _say(send, *refused.args)
            except UsageError as error:
                await _say(send, 400, str(error))
            else:
                _answering.add(chat)
                try:
                    await _answer(receive, send, self.protocol.stream(chat, asked), self.protocol.HEADERS)
                finally:
                    _answering.discard(chat)

    async def _chat(self, conversation: str, scope: Scope) -> Chat:
        found = self.find(conversation, scope)
        chat = await found if isawaitable(found) else found
        if chat is None:
            raise _Refused(404, "There is no such conversation.")
        if chat.when_busy == "raise" and (chat in _answering or chat._turn.taken):  # noqa: SLF001 - of this package
            raise _Refused(
                409, "The answer to another message of this conversation is not complete. Wait for it."
            )
        return chat


class _Refused(Exception):
    """A status and the reason."""


async def _body(scope: Scope, receive: Receive, most: int) -> bytes:
    headers = {name.lower(): value for name, value in scope["headers"]}
    if scope["method"] != "POST":
        raise _Refused(405, "Only POST is answered.")
    if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
        raise _Refused(415, "The request must be application/json.")
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Refused(400, "The request ended before its end.")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > most:
            raise _Refused(413, f"The request is larger than {most:,} bytes.")
    return bytes(body)


async def _say(send: Send, status: int, words: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": words.encode("utf-8", "replace")})


async def _answer(
    receive: Receive, send: Send, events: AsyncGenerator[bytes, None], headers: Mapping[str, str]
) -> None:
    """Sends the events until they end or the client goes away."""
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": encoded})
    left = asyncio.ensure_future(_left(receive))
    sending = asyncio.ensure_future(_sent(send, events))
    try:
        await asyncio.wait({left, sending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (left, sending):
            task.cancel()
        with suppress(asyncio.CancelledError):
            await left
        with suppress(asyncio.CancelledError):
            await sending


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _sent(send: Send, events: AsyncGenerator[bytes, None]) -> None:
    async with aclosing(events):
        async for event in events:
            await send({"type": "http.response.body", "body": event, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
