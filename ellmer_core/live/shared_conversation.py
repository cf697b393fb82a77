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

from .. import errors
from .._chat.chat import Chat
from ..contents.content import Content, ContentText, ContentThinking, ContentToolRequest
from ..contents.turns import AssistantPartialTurn, Turn
from ..conversation.history import last_message, merged
from ..conversation.settings import Decision, StreamController, deciding
from ..render.shinychat import contents_shinychat
from .stream_to_shinychat import Decided, pieces

# --- errors in plain words -------------------------------------------------------------------------------


#: The first that fits. Each says what happened and what a person can do.
WORDS: tuple[tuple[type[BaseException], str], ...] = (
    (errors.RateLimitError, "The provider asks for a pause. Nothing is lost: wait a little, then retry."),
    (
        errors.AuthenticationError,
        "The provider does not accept the API key of this app. Whoever runs the app can change it.",
    ),
    (errors.BadRequestError, "The provider refused the request. You can edit your message and try again."),
    (errors.ServerError, "The provider is overloaded or has a problem. Nothing is lost: retry in a moment."),
    (errors.TimeoutError, "The provider did not answer in time. Nothing is lost: retry."),
    (errors.ConnectError, "The provider cannot be reached. Check the network, then retry."),
    (errors.IncompleteResponseError, "The answer was cut off. The received part is kept."),
    (
        errors.ToolRoundsError,
        "The model called tools too often and was stopped. You can tell it how to go on.",
    ),
    (
        errors.ContentError,
        "The model does not accept what was sent. You can edit your message and try again.",
    ),
    (errors.UsageError, "This could not be sent. You can edit your message and try again."),
)


@dataclass(frozen=True)
class Explanation:
    """An error for the page.

    Args:
        words: Two sentences for a person.
        quoted: The provider's own message; empty if the provider said nothing.
        detail: The whole error, for whoever wrote the app; empty if there is no more to say.
    """

    words: str
    quoted: str = ""
    detail: str = ""


def in_plain_words(error: BaseException) -> Explanation:
    """Returns an error in plain sentences, with the provider's message and the text for developers."""
    words = next((words for kind, words in WORDS if isinstance(error, kind)), "Something went wrong here.")
    quoted = errors.printable(error.message) if isinstance(error, errors.ProviderError) else ""
    detail = str(error) or type(error).__name__
    return Explanation(words, quoted, "" if detail == quoted else detail)


# --- the conversation ------------------------------------------------------------------------------------


#: Seconds between two updates of a page. Each update draws the whole answer again.
PAUSE = 0.05

#: Seconds that an answer goes on while no page is open, so that a page that is loaded again can join in.
REJOIN = 30.0


@dataclass
class Question:
    """A call that needs a decision."""

    request: ContentToolRequest
    answer: asyncio.Future[Decision]


@dataclass(frozen=True)
class Trouble:
    """A failed answer: the user's message and the error."""

    inputs: tuple[str | Content, ...]
    place: int  # how many turns there were before
    error: Explanation


@dataclass(eq=False)
class Answer:
    """An answer in progress. It is kept from its beginning, so that a new page sees all of it."""

    inputs: tuple[str | Content, ...]
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
            for content in _joined(new):
                yield content
            if self.whole and place == len(self.shown):
                return
            await asyncio.sleep(PAUSE)


class Room:
    """The conversation and its pages. Some time after the last page closed, the answer in progress ends and is kept."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat
        self.pages: list[Any] = []
        self.answer: Answer | None = None
        self.trouble: Trouble | None = None
        self.questions: dict[str, Question] = {}
        self.controller = StreamController()
        self.cleared: list[Turn] = []
        self._task: asyncio.Task[None] | None = None
        self._left: asyncio.TimerHandle | None = None

    def enter(self, page: object) -> None:
        """Adds a page."""
        self.pages.append(page)
        if self._left:
            self._left.cancel()

    def leave(self, page: object) -> None:
        """Removes a page. If it was the last one, the answer goes on for a while."""
        self.pages = [other for other in self.pages if other is not page]
        if not self.pages and self.answer:
            self._left = asyncio.get_running_loop().call_later(REJOIN, self.stop, "interrupted")

    def stop(self, reason: str = "cancelled") -> None:
        """Ends the answer in progress."""
        self.controller.cancel(reason)

    def messages(self) -> list[ChatMessage]:
        """Returns all messages before the answer in progress."""
        if self.answer:
            return self.answer.before
        return cast("list[ChatMessage]", contents_shinychat(self.chat))

    def say(self, inputs: Sequence[str | Content], asker: object) -> Answer | None:
        """Begins an answer. Returns `None` while another one is in progress."""
        if self.answer:
            return None
        self.answer = Answer(tuple(inputs), asker, self.messages())
        self.trouble = None
        self.cleared = []
        self.controller.reset()
        self._task = asyncio.create_task(self._answer(self.answer))
        return self.answer

    def decide(self, call: str, decision: Decision) -> None:
        """Stores a decision about a call. The first one counts."""
        question = self.questions.get(call)
        if question and not question.answer.done():
            question.answer.set_result(decision)

    def clear(self) -> None:
        """Deletes the messages, but not the system prompt. `undo()` brings them back until the next message."""
        self.cleared = self.chat.get_turns() or self.cleared
        self.chat.set_turns([])
        self.trouble = None

    def undo(self) -> tuple[str | Content, ...]:
        """Removes the user's last message with its answer, and returns the message. Right after `clear()` it brings the
        messages back.
        """
        turns = self.chat.get_turns()
        if not turns and self.cleared:
            self.chat.set_turns(self.cleared)
            self.cleared = []
            return ()
        trouble, self.trouble = self.trouble, None
        place = trouble.place if trouble else last_message(turns) or 0
        self.chat.set_turns(turns[:place])
        if trouble:
            return trouble.inputs
        return tuple(turns[place].contents) if turns else ()

    def retry(self) -> Answer | None:
        """Sends a failed message again. Tools that ran before do not run again."""
        turns, trouble = self.chat.get_turns(), self.trouble
        if self.answer or not trouble:
            return None
        if len(turns) == trouble.place:
            return self.say(trouble.inputs, None)
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
                async with aclosing(pieces(self.chat, answer.inputs, self.controller)) as contents:
                    async for content in contents:
                        await answer.show(content)
        except Exception as error:  # noqa: BLE001 - whatever it was, people are told
            self.trouble = Trouble(answer.inputs, place, in_plain_words(error))
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
