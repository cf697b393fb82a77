"""Sends a conversation to shinychat: the model's text and the progress of tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from shiny.session import get_current_session

from .._chat.chat import Chat
from ..contents.content import (
    Content,
    ContentCitation,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
)
from ..conversation.repaired_turns import NEVER_CALLED
from ..conversation.settings import StreamController
from ..render import shinychat as _taught  # noqa: F401 - it teaches shinychat our contents
from ..render.markdown import note
from ..render.markup import Literal, complete
from ..render.shinychat_blocks import next_block
from ..tool_execution import showing

#: Characters of a text that a page draws anew quickly enough.
LONG = 1000

Shown = asyncio.Queue["Content | ToolProgress | None"]


@dataclass(frozen=True)
class ToolProgress:
    """Progress that a tool reports for its call."""

    call: str
    text: str

    async def tell(self) -> None:
        """Shows the progress on the page, if there is one."""
        if session := get_current_session():
            await session.send_custom_message("ellmer-progress", asdict(self))


@dataclass(frozen=True)
class Decided:
    """A decision about a call."""

    call: str

    async def tell(self) -> None:
        """Removes the question from the page."""
        if session := get_current_session():
            await session.send_custom_message("ellmer-decided", asdict(self))


@dataclass
class Words:
    """The text and the thinking of the model in pieces, with escaped markup. Any other content ends it."""

    kind: type[ContentText | ContentThinking] = ContentText
    text: Literal = field(default_factory=Literal)
    cited: list[ContentCitation] = field(default_factory=list)
    drawn: str = ""  # what the page draws anew with each piece

    def take(self, content: Content) -> list[Any]:
        """Returns the new text that can be shown now, after the text before it."""
        match content:
            case ContentCitation():
                self.cited.append(content)
                return []
            case ContentText(text) | ContentThinking(text):
                before = [] if type(content) is self.kind else self.end()
                self.kind = type(content)
                return [*before, *self._pieces(self.text.feed(text))]
        return [*self.end(), content]

    def _pieces(self, shown: str) -> list[Any]:
        """Splits a piece where a block of text ends, because the page need not redraw a finished block."""
        before, self.drawn = len(self.drawn), self.drawn + shown
        if self.kind is ContentText and before > LONG and (done := complete(self.drawn)) >= before:
            self.drawn, place = self.drawn[done:], done - before
            return [*self._piece(shown[:place]), next_block(), *self._piece(shown[place:])]
        return self._piece(shown)

    def _piece(self, shown: str) -> list[Any]:
        return [self.kind(shown)] if shown else []

    def end(self) -> list[Content]:
        """Returns the text that was held back."""
        rest, self.text, self.drawn = self.text.feed("", last=True), Literal(), ""
        cited, self.cited = tuple(self.cited), []
        ended: list[Content] = [self.kind(rest)] if rest else []
        return [*ended, ContentText("", citations=cited)] if cited else ended


async def pieces(
    chat: Chat,
    inputs: Sequence[str | Content],
    controller: StreamController | None,
    tell: Callable[[ToolProgress], Awaitable[None]] | None = None,
) -> AsyncGenerator[Any, None]:
    """Yields contents in order, with the progress of tools, which goes to `tell` if it is given. After a call's
    result, its progress is dropped.
    """
    shown: Shown = asyncio.Queue()
    talking = asyncio.create_task(_talk(chat, inputs, controller, shown))
    waiting: dict[str, ContentToolRequest] = {}
    words = Words()
    try:
        while (item := await shown.get()) is not None:
            for piece in _progress(item):
                if tell:
                    await tell(piece)
                else:
                    yield piece
            if isinstance(item, ToolProgress):
                continue
            _keep(waiting, item)
            for content in words.take(item):
                yield content
        for content in words.end():
            yield content
        for request in waiting.values():
            yield ContentToolResult(error=NEVER_CALLED, request=request)
        await talking
        for content in note(chat.last_turn()):
            yield content
    finally:
        talking.cancel()
        await asyncio.wait([talking])  # then the chat is free


def _progress(item: Content | ToolProgress) -> list[ToolProgress]:
    if isinstance(item, ContentToolResult):
        return [ToolProgress(item.id, "")]
    return [item] if isinstance(item, ToolProgress) else []


async def _talk(
    chat: Chat, inputs: Sequence[str | Content], controller: StreamController | None, shown: Shown
) -> None:
    """Puts all content to show into the queue, and `None` at the end."""
    loop = asyncio.get_running_loop()

    def show(request: ContentToolRequest, progress: str) -> None:
        loop.call_soon_threadsafe(shown.put_nowait, ToolProgress(request.id, progress))

    try:
        with showing(show):
            async with chat.stream_async(*inputs, content="all", controller=controller) as contents:
                async for content in contents:
                    shown.put_nowait(content)
    finally:
        shown.put_nowait(None)


def _keep(waiting: dict[str, ContentToolRequest], content: Content) -> None:
    """Notes which requests have no result yet."""
    match content:
        case ContentToolRequest(id=id):
            waiting[id] = content
        case ContentToolResult():
            waiting.pop(content.id, None)
