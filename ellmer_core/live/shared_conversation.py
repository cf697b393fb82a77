"""The one conversation of a chat app, which any number of pages show: the messages, the answer in progress, and the
last error.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

from shinychat.types import ChatMessage

from .._chat.chat import Chat
from ..contents.content import Content, ContentText, ContentThinking, ContentToolRequest, ContentToolResult
from ..contents.turns import AssistantPartialTurn, Turn, UserTurn
from ..conversation.history import merged
from ..conversation.settings import Decision, StreamController, deciding
from ..errors import (
    AuthenticationError,
    BadRequestError,
    ConnectError,
    ContentError,
    IncompleteResponseError,
    RateLimitError,
    ServerError,
    TimeoutError,
    ToolRoundsError,
    UsageError,
)
from ..render.shinychat import contents_shinychat
from .stream_to_shinychat import Decided, pieces

# --- errors in plain words -------------------------------------------------------------------------------


#: The first that fits.
WORDS: tuple[tuple[type[BaseException], str], ...] = (
    (
        RateLimitError,
        "The provider asks for a pause: too many requests or tokens. Wait a little, then retry.",
    ),
    (AuthenticationError, "The provider does not accept the API key. Change the key of this app."),
    (BadRequestError, "The provider refused the request."),
    (ServerError, "The provider has a problem. Retry in a moment."),
    (TimeoutError, "The provider did not answer in time."),
    (ConnectError, "The provider cannot be reached. Check the network, then retry."),
    (IncompleteResponseError, "The answer was cut off. The received part is kept."),
    (ToolRoundsError, "The model called tools too often and was stopped."),
    (ContentError, "The model does not accept what was sent."),
    (UsageError, "This could not be sent."),
)


def in_plain_words(error: BaseException) -> tuple[str, str]:
    """Returns a plain sentence, and the original message of the provider or the program."""
    words = next((words for kind, words in WORDS if isinstance(error, kind)), "Something went wrong here.")
    return words, str(error) or type(error).__name__


# --- the conversation ------------------------------------------------------------------------------------


#: Seconds between two updates of a page. Each update draws the whole answer again.
PAUSE = 0.05


@dataclass
class Question:
    """A call that needs a decision."""

    request: ContentToolRequest
    answer: asyncio.Future[Decision]


@dataclass(frozen=True)
class Trouble:
    """A failed answer: the user's message and the error."""

    said: tuple[str | Content, ...]
    place: int  # how many turns there were before
    words: str
    detail: str


@dataclass(eq=False)
class Answer:
    """An answer in progress. It is kept from its beginning, so that a new page sees all of it."""

    said: tuple[str | Content, ...]
    asker: object
    before: list[ChatMessage]
    shown: list[Any] = field(default_factory=list)
    whole: bool = False
    more: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def show(self, *pieces: Any, whole: bool = False) -> None:
        """Shows more of the answer on all pages."""
        async with self.more:
            self.shown += pieces
            self.whole = self.whole or whole
            self.more.notify_all()

    async def follow(self) -> AsyncGenerator[Any, None]:
        """Yields the whole answer, for a page."""
        place = 0
        while True:
            async with self.more:
                await self.more.wait_for(lambda: self.whole or len(self.shown) > place)  # noqa: B023 - awaited here
            new, place = self.shown[place:], len(self.shown)
            for one in _joined(new):
                yield one
            if self.whole and place == len(self.shown):
                return
            await asyncio.sleep(PAUSE)


class Room:
    """The conversation and its pages. When the last page closes, the answer in progress ends and is kept."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat
        self.pages: list[Any] = []
        self.answer: Answer | None = None
        self.trouble: Trouble | None = None
        self.questions: dict[str, Question] = {}
        self.controller = StreamController()
        self._task: asyncio.Task[None] | None = None

    def leave(self, page: object) -> None:
        """Removes a page."""
        self.pages = [other for other in self.pages if other is not page]
        if not self.pages:
            self.stop("interrupted")

    def stop(self, reason: str = "cancelled") -> None:
        """Ends the answer in progress."""
        self.controller.cancel(reason)

    def messages(self) -> list[ChatMessage]:
        """Returns all messages before the answer in progress."""
        if self.answer:
            return self.answer.before
        return cast("list[ChatMessage]", contents_shinychat(self.chat))

    def say(self, said: Sequence[str | Content], asker: object) -> Answer | None:
        """Begins an answer. Returns `None` while another one is in progress."""
        if self.answer:
            return None
        self.answer = Answer(tuple(said), asker, self.messages())
        self.trouble = None
        self.controller.reset()
        self._task = asyncio.create_task(self._answer(self.answer))
        return self.answer

    def decide(self, call: str, decision: Decision) -> None:
        """Stores a decision about a call. The first one counts."""
        question = self.questions.get(call)
        if question and not question.answer.done():
            question.answer.set_result(decision)

    def clear(self) -> None:
        """Deletes the messages, but not the system prompt."""
        self.chat.set_turns([])
        self.trouble = None

    def undo(self) -> tuple[str | Content, ...]:
        """Removes the user's last message with its answer, and returns the message."""
        turns = self.chat.get_turns()
        trouble, self.trouble = self.trouble, None
        place = trouble.place if trouble else _last_said(turns)
        said = trouble.said if trouble else tuple(turns[place].contents) if turns else ()
        self.chat.set_turns(turns[:place])
        return said

    def retry(self) -> Answer | None:
        """Sends a failed message again. Tools that ran before do not run again."""
        turns, trouble = self.chat.get_turns(), self.trouble
        if self.answer or not trouble:
            return None
        if len(turns) == trouble.place:
            return self.say(trouble.said, None)
        if isinstance(turns[-1], AssistantPartialTurn):
            self.chat.set_turns(turns[:-2])
            return self.say(turns[-2].contents, None)
        return self.say((), None)

    async def idle(self) -> None:
        """Waits until no answer is in progress."""
        if self._task:
            await asyncio.wait([self._task])

    async def _answer(self, answer: Answer) -> None:
        place = len(self.chat.get_turns())
        try:
            with deciding(self._ask):
                async with aclosing(pieces(self.chat, answer.said, self.controller)) as contents:
                    async for one in contents:
                        await answer.show(one)
        except Exception as error:  # noqa: BLE001 - whatever it was, people are told
            self.trouble = Trouble(answer.said, place, *in_plain_words(error))
            await answer.show(self.trouble)
        finally:
            self.answer = None
            self.questions.clear()
            await answer.show(whole=True)

    async def _ask(self, request: ContentToolRequest) -> Decision:
        answer = self.answer
        assert answer, "somebody was asked while nothing is said"
        question = self.questions[request.id] = Question(request, asyncio.get_running_loop().create_future())
        await answer.show(question)
        decision = await question.answer
        await answer.show(Decided(request.id))
        return decision


def _joined(shown: Sequence[Any]) -> list[Any]:
    """Joins the pieces of one text."""
    joined: list[Any] = []
    for content in shown:
        if (
            joined
            and isinstance(content, (ContentText, ContentThinking))
            and type(joined[-1]) is type(content)
        ):
            joined[-1:] = merged([joined[-1], content])
        else:
            joined.append(content)
    return joined


def _last_said(turns: Sequence[Turn]) -> int:
    """Returns the index of the last turn with a message of the user (not only tool results)."""
    for place in reversed(range(len(turns))):
        turn = turns[place]
        if isinstance(turn, UserTurn) and not all(isinstance(c, ContentToolResult) for c in turn.contents):
            return place
    return 0
