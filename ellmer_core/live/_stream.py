"""A conversation on its way to shinychat: what the model says, joined by what tools say meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shiny.session import get_current_session

from .._cancel import StreamController
from .._chat import Chat
from .._history import NEVER_CALLED
from .._progress import showing
from ..content import Content, ContentToolRequest, ContentToolResult
from ..render._sections import note

__all__ = ["stream"]


@dataclass(frozen=True)
class Said:
    """What a tool says of its call."""

    call: str
    text: str

    async def tell(self) -> None:
        """Shows it on the page, if there is one."""
        if session := get_current_session():
            await session.send_custom_message("ellmer-progress", asdict(self))


async def stream(
    chat: Chat, inputs: Sequence[str | Content], controller: StreamController | None
) -> AsyncGenerator[Any, None]:
    """See `shinychat_stream()`."""
    queue: asyncio.Queue[Any] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def show(request: ContentToolRequest, progress: str) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, Said(request.id, progress))

    async def talk() -> None:
        try:
            with showing(show):
                async with chat.stream_async(*inputs, content="all", controller=controller) as contents:
                    async for content in contents:
                        queue.put_nowait(content)
        finally:
            queue.put_nowait(None)

    talking = asyncio.create_task(talk())
    waiting: dict[str, ContentToolRequest] = {}
    try:
        while (shown := await queue.get()) is not None:
            if isinstance(shown, Said):
                await shown.tell()
                continue
            if isinstance(shown, ContentToolResult):
                await Said(shown.id, "").tell()
            _keep(waiting, shown)
            yield shown
        for request in waiting.values():
            yield ContentToolResult(error=NEVER_CALLED, request=request)
        await talking
        for content in note(chat.last_turn()):
            yield content
    finally:
        talking.cancel()


def _keep(waiting: dict[str, ContentToolRequest], shown: object) -> None:
    """Remembers which requests have no result yet."""
    match shown:
        case ContentToolRequest(id=id):
            waiting[id] = shown
        case ContentToolResult():
            waiting.pop(shown.id, None)
