"""The one conversation of a chat app, which any number of pages show: the messages, the answer in progress, and the
last error.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast
from uuid import uuid4

from shinychat.types import ChatMessage

from .._chat.chat import Chat
from .._chat.error_messages import Explanation, in_plain_words
from ..contents.content import Content, ContentText, ContentThinking, ContentToolRequest
from ..contents.json_serialization import contents_record, contents_replay
from ..contents.turns import AssistantPartialTurn, AssistantTurn, Turn, UserTurn
from ..conversation.approval import Decision, deciding
from ..conversation.history import last_message, merged
from ..conversation.settings import StreamController
from ..errors import UsageError, error_message
from ..render.shinychat import contents_shinychat
from .conversation_store import Listed, Store
from .stream_to_shinychat import Decided, ToolProgress, pieces

T = TypeVar("T")

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


def messages_of(turns: Sequence[Turn]) -> list[int]:
    """Returns the places of the user's messages."""
    return [place for place in range(len(turns)) if last_message(turns[place : place + 1]) == 0]


@dataclass
class Branches:
    """Versions of a conversation. Each path is a whole conversation; two paths part at an exchange: a message and all
    that follows before the next message.
    """

    paths: list[list[Turn]] = field(default_factory=list)

    def keep(self, turns: list[Turn]) -> None:
        """Keeps a path. It takes the place of a path that it continues."""
        for place, path in enumerate(self.paths):
            if path == turns[: len(path)]:
                self.paths[place] = turns
                return
        self.paths.append(turns)

    def versions(self, turns: list[Turn], place: int) -> dict[int, list[Turn]]:
        """Returns the newest path of each version of the exchange at a place, by the number of its first path."""
        found: dict[int, list[Turn]] = {}
        for number, path in enumerate(self.paths):
            if len(path) > place and path[:place] == turns[:place]:
                same = (n for n, other in found.items() if _exchange(other, place) == _exchange(path, place))
                found[next(same, number)] = path
        return found


def _exchange(turns: list[Turn], place: int) -> list[Turn]:
    return turns[place : next((other for other in messages_of(turns) if other > place), None)]


@dataclass(frozen=True)
class Exchange:
    """A message and its answer, for the page: which of its versions is shown, and how somebody rated it."""

    version: int = 1
    versions: int = 1
    good: bool | None = None


@dataclass(frozen=True)
class Kept:
    """A conversation that can be brought back."""

    id: str
    turns: list[Turn]
    branches: Branches


#: Characters of a message that make the title of a conversation.
TITLE = 60

INTERRUPTED = Explanation("The app was restarted before the answer came. Nothing is lost: retry.")

Rated = Callable[[AssistantTurn, bool | None, str], object]


class Room:
    """The conversation of a user and its pages. Some time after the last page closed, the answer in progress ends and
    is kept.
    """

    def __init__(
        self, chat: Chat, store: Store | None = None, user: str = "", models: Sequence[str] = ()
    ) -> None:
        self.chat = chat
        self.store = store
        self.user = user
        self.models = models
        self.id = uuid4().hex
        self.branches = Branches()
        self.ratings: dict[int, bool | None] = {}
        self.notice = ""
        self.pages: list[Any] = []
        self.answer: Answer | None = None
        self.trouble: Trouble | None = None
        self.questions: dict[str, Question] = {}
        self.controller = StreamController()
        self.cleared: Kept | None = None
        self._task: asyncio.Task[None] | None = None
        self._left: asyncio.TimerHandle | None = None
        if store and not chat.get_turns() and (earlier := self.earlier()):
            self.open(earlier[0].id)

    def enter(self, page: object) -> None:
        """Adds a page that shows this conversation."""
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
        self.cleared = None
        self.save(inputs)
        self.controller.reset()
        self._task = asyncio.create_task(self._answer(self.answer))
        return self.answer

    def decide(self, call: str, decision: Decision) -> None:
        """Stores a decision about a call. The first one counts."""
        question = self.questions.get(call)
        if question and not question.answer.done():
            question.answer.set_result(decision)

    def clear(self) -> None:
        """Begins a new conversation, with the system prompt. `undo()` brings the messages back until the next message."""
        turns = self.chat.get_turns()
        cleared = Kept(self.id, turns, self.branches) if turns else self.cleared
        self._show([])
        self.id, self.branches, self.cleared = uuid4().hex, Branches(), cleared

    def undo(self) -> tuple[str | Content, ...]:
        """Removes the user's last message with its answer, and returns the message. Right after `clear()` or `revise()`
        it brings the messages back.
        """
        if cleared := self.cleared:
            self.id, self.branches = cleared.id, cleared.branches
            self._show(cleared.turns)
            return ()
        turns, trouble = self.chat.get_turns(), self.trouble
        place = trouble.place if trouble else last_message(turns) or 0
        self._show(turns[:place])
        self.save()
        if trouble:
            return trouble.inputs
        return tuple(turns[place].contents) if turns else ()

    def _show(self, turns: list[Turn]) -> None:
        self.chat.set_turns(turns)
        self.trouble = self.cleared = None
        self.ratings = {}

    # versions -----------------------------------------------------------------------------------------------

    def revise(self, number: int) -> tuple[str | Content, ...]:
        """Removes the message with this number (from 0) and all after it, so that another version can begin. Returns the message."""
        turns = self.chat.get_turns()
        places = messages_of(turns)
        if self.answer or not 0 <= number < len(places):
            return ()
        self.branches.keep(turns)
        self._show(turns[: places[number]])
        self.cleared = Kept(self.id, turns, self.branches)
        return tuple(turns[places[number]].contents)

    def regenerate(self, number: int) -> Answer | None:
        """Asks for another answer to a message."""
        inputs = self.revise(number)
        return self.say(inputs, None) if inputs else None

    def switch(self, number: int, by: int) -> None:
        """Shows the version of an exchange before or after this one."""
        turns = self.chat.get_turns()
        places = messages_of(turns)
        if self.answer or not 0 <= number < len(places):
            return
        self.branches.keep(turns)
        found = [*self.branches.versions(turns, places[number]).values()]
        version = self._exchange(turns, number).version - 1 + by
        if 0 <= version < len(found):
            self._show(found[version])
            self.save()

    def exchanges(self) -> list[Exchange]:
        """Returns all exchanges that are complete."""
        turns = self.chat.get_turns()
        if self.branches.paths and not self.answer:
            self.branches.keep(turns)
        return [self._exchange(turns, number) for number in range(len(messages_of(turns)))]

    def _exchange(self, turns: list[Turn], number: int) -> Exchange:
        place, good = messages_of(turns)[number], self.ratings.get(number)
        found = self.branches.versions(turns, place).values() if self.branches.paths else ()
        shown = (n for n, path in enumerate(found, 1) if _exchange(path, place) == _exchange(turns, place))
        return Exchange(next(shown, 1), max(1, len(found)), good)

    def rate(self, number: int, good: bool | None, rated: Rated) -> None:
        """Tells the program what somebody thinks of an answer; `None` takes it back."""
        turns = self.chat.get_turns()
        places = [*messages_of(turns), len(turns)]
        if not 0 <= number < len(places) - 1:
            return
        answer = [turn for turn in turns[: places[number + 1]] if isinstance(turn, AssistantTurn)]
        if answer:
            self.ratings[number] = good
            rated(answer[-1], good, self.user)

    # the store ----------------------------------------------------------------------------------------------

    def earlier(self, search: str = "") -> list[Listed]:
        """Returns the conversations of the user, newest first."""
        return self._stored(lambda store: store.listed(self.user, search)) or []

    def save(self, unanswered: Sequence[str | Content] = ()) -> None:
        """Writes the conversation and a message without an answer. If that fails, the page says so."""
        turns = self.chat.get_turns()
        texts = [turn.text for turn in turns if isinstance(turn, (UserTurn, AssistantTurn))]
        pending = UserTurn(list(unanswered)) if unanswered else None
        words = "\n".join([*texts, pending.text if pending else ""])
        title = " ".join(words.split())[:TITLE] or "Without words"

        def write(store: Store) -> None:
            record = {
                "chat": self.chat.record(),
                "branches": [contents_record(path) for path in self.branches.paths],
                "unanswered": contents_record(pending) if pending else None,
            }
            store.save(self.user, self.id, title, words, record)

        if turns or pending:
            self._stored(write)
        else:
            self._stored(lambda store: store.delete(self.user, self.id))

    def rename(self, id: str, title: str) -> None:
        """Gives an earlier conversation another title."""
        if title.strip():
            self._stored(lambda store: store.rename(self.user, id, title.strip()[:200]))

    def delete(self, id: str, *, deleted: bool = True) -> None:
        """Deletes an earlier conversation, or brings it back."""
        self._stored(lambda store: store.delete(self.user, id, deleted=deleted))

    def open(self, id: str) -> None:
        """Continues an earlier conversation."""
        if record := self._stored(lambda store: store.load(self.user, id)):
            self._stored(lambda _: self._restore(record))
            self.id = id

    def _restore(self, record: Any) -> None:
        classes = [*_subclasses(Content)]  # the program has imported them
        tools = self.chat.get_tools().values()

        def replay(value: Any) -> Any:
            return contents_replay(value, tools=tools, classes=classes)

        model = record["chat"]["props"]["model"]
        self.chat.restore(record["chat"], classes=classes, keep_model=model not in self.models)
        self.trouble = self.cleared = None
        self.ratings = {}
        self.branches = Branches([replay(path) for path in record["branches"]])
        if record["unanswered"]:
            inputs = replay(record["unanswered"]).contents
            self.trouble = Trouble(inputs, len(self.chat.get_turns()), INTERRUPTED)

    def _stored(self, do: Callable[[Store], T]) -> T | None:
        """Uses the store, if there is one. If that fails, the page says so."""
        if not self.store:
            return None
        try:
            done = do(self.store)
        except (UsageError, KeyError, TypeError) as error:
            self.notice = f"This conversation is not being saved. {error_message(error)}"
            return None
        self.notice = ""
        return done

    # answers ------------------------------------------------------------------------------------------------

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
            self.save(answer.inputs if len(self.chat.get_turns()) == place else ())
            await answer.show(whole=True)

    async def _ask(self, request: ContentToolRequest) -> Decision:
        answer = self.answer
        assert answer, "somebody was asked while nothing is said"
        question = self.questions[request.id] = Question(request, asyncio.get_running_loop().create_future())
        await answer.show(ToolProgress(request.id, "waiting for approval"), question)
        decision = await question.answer
        await answer.show(Decided(request.id), ToolProgress(request.id, ""))
        return decision


def _subclasses(cls: type[Content]) -> Iterator[type[Content]]:
    for below in cls.__subclasses__():
        yield below
        yield from _subclasses(below)


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
