"""The history of a chat: turns, results that have not been sent, and a partial answer.

Turns are added in pairs, after a request was answered. Tool results wait here until a request with them was answered,
so that no failure makes a tool run twice. The received part of a stream is kept at once, so that it is available
however the stream ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

from ..base.forks import lock_for_forks
from ..contents.content import (
    Content,
    ContentCitation,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ToolDef,
    contents_in,
    is_final,
    is_media,
    replaced,
)
from ..contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, Turn, UserTurn
from ..errors import UsageError
from ..tools.results import split
from .approval import Decision, with_question
from .repaired_turns import NEVER_CALLED, distinct_calls

_LOCK = lock_for_forks()  # of all histories: it is held for a short time
INTERRUPTED = "The call was interrupted; whether it had an effect is not known."


@dataclass(eq=False, repr=False)
class History:
    """One conversation. `results` are those of the last turn's requests, by position, that have not been sent;
    `decisions` are the decisions about them, by id. `final` are the results that are the answer, in which case the model was not asked
    again. `asked` is the question of the current request, or `None` if there is
    none or if it continues an answer; `received` are the pieces of its answer that were shown. `added` are messages for the next
    request of a conversation in progress. `whole` are turns that every format can
    send, as the last request had them, and the places of those that are not plain.
    """

    turns: list[Turn] = field(default_factory=list)
    results: dict[int, ContentToolResult] = field(default_factory=dict)
    decisions: dict[str, Decision] = field(default_factory=dict)
    final: list[ContentToolResult] = field(default_factory=list)
    asked: UserTurn | None = None
    received: list[Content] = field(default_factory=list)
    added: list[Content] = field(default_factory=list)
    whole: tuple[list[Turn], list[int]] = ([], [])

    def copy(self) -> History:
        """Returns an independent copy of the history. It can be made while a conversation adds to this one."""
        with _LOCK:
            return History(list(self.turns), dict(self.results), dict(self.decisions), whole=self.whole)

    def view(self) -> list[Turn]:
        """Returns all turns, with the received part of an unfinished answer."""
        return [*self.turns, *self._partial("interrupted")]

    def replace(self, turns: list[Turn], results: Mapping[int, ContentToolResult] | None = None) -> None:
        """Replaces the whole history by these turns. The list becomes the history's own."""
        with _LOCK:
            self.turns = turns
            last = self.turns[-1] if self.turns else None
            if isinstance(last, AssistantTurn) and last.links is None:
                self.turns[-1] = distinct_calls(last)
            self.results = dict(results or {})
            self.decisions, self.added = {}, []

    @property
    def answer(self) -> AssistantTurn:
        """The last answer of the model."""
        return next(turn for turn in reversed(self.turns) if isinstance(turn, AssistantTurn))

    @property
    def open_requests(self) -> tuple[ContentToolRequest, ...]:
        """The tool calls of the last turn, whose results have not been sent."""
        last = self.turns[-1] if self.turns else None
        return last.tool_requests if isinstance(last, AssistantTurn) else ()

    @property
    def waiting(self) -> tuple[ContentToolRequest, ...]:
        """The open requests without a result."""
        return tuple(r for place, r in enumerate(self.open_requests) if place not in self.results)

    @property
    def questions(self) -> tuple[ContentToolRequest, ...]:
        """The requests without a result, as somebody is asked about them: a call, or the question of its tool."""
        return tuple(map(_asked, self.waiting))

    def ask_later(self, place: int, ran: ContentToolRequest, question: Mapping[str, Any]) -> None:
        """Stores the question that a tool asked, in its request. The call has no result."""
        with _LOCK:
            turn, request = self.turns[-1], self.open_requests[place]
            contents = list(turn.contents)
            contents[_place_of(contents, request)] = with_question(request, ran, question)
            self.turns[-1] = turn.but_with(contents=tuple(contents))

    def keep(self, place: int, result: ContentToolResult) -> None:
        """Stores the result of a call, with the decision about the call, or the question that its tool asked."""
        request = result.request
        if request is not None and "question" in result.extra:
            self.ask_later(place, request, result.extra["question"])
            return
        decision = request.extra.get("decision") if request else None
        extra = {**result.extra, "decision": decision}
        self.results[place] = replaced(result, extra=extra) if decision else result

    def decide(self, decisions: Mapping[str, Decision | None]) -> None:
        """Stores decisions about waiting requests, by id."""
        waiting = {request.id: request.name for request in self.waiting}
        if unknown := [id for id in decisions if id not in waiting]:
            options = ", ".join(f"`{id}` ({name})" for id, name in waiting.items()) or "none"
            raise UsageError(f"No tool request {unknown[0]!r} waits for a decision. Waiting: {options}.")
        self.decisions |= {id: decision for id, decision in decisions.items() if decision is not None}

    def reply(self, inputs: Sequence[Content]) -> UserTurn:
        """Returns the next user turn: one result for every open request, in their order, then the other
        inputs.

        A result from the caller has priority over a stored one. A request without a result gets the statement that
        the tool was not called.
        """
        own_results, rest = split(inputs)
        results = {**self.results, **(self._placed(own_results) if own_results else {})}
        answers = [
            results.get(i) or ContentToolResult(error=NEVER_CALLED, request=request)
            for i, request in enumerate(self.open_requests)
        ]
        if not answers and all(isinstance(c, ContentText) and not c.text for c in rest):
            raise UsageError("There is nothing to send: give at least one string or content.")
        return UserTurn((*answers, *rest))

    def final_results(self) -> list[ContentToolResult]:
        """Returns the unsent results that are the answer, in the order of their calls."""
        return [result for _, result in sorted(self.results.items()) if is_final(result)]

    def commit(self, *turns: Turn) -> None:
        """Adds the turns of an answered request."""
        self.asked, self.received, self.final = None, [], []
        if turns:
            with _LOCK:
                self.turns += turns
                self.results, self.decisions = {}, {}
                if self.added:
                    sent = {id(content) for turn in turns for content in turn.contents}
                    self.added = [content for content in self.added if id(content) not in sent]

    def add(self, message: Iterable[Content]) -> None:
        """Stores a message for the next request. It can be called while a conversation runs, from any thread."""
        with _LOCK:
            self.added = [*self.added, *message]

    def close_interrupted(self, reason: str) -> None:
        """Handles a failed or abandoned request: keeps the received part as a partial turn, or else restores the
        history.
        """
        self.commit(*self._partial(reason))

    def _partial(self, reason: str) -> tuple[Turn, ...]:
        if not self.received:
            return ()
        return *filter(None, [self.asked]), AssistantPartialTurn(merged(self.received), reason=reason)

    def _placed(self, results: Iterable[ContentToolResult]) -> dict[int, ContentToolResult]:
        from ..tools.results import check_tool_result  # noqa: PLC0415 - this argument is rare

        placed: dict[int, ContentToolResult] = {}
        for result in results:
            place = self._place(result, taken=placed)
            request = self.open_requests[place]
            placed[place] = replaced(check_tool_result(request.name, result), request=request)
        return placed

    def _place(self, result: ContentToolResult, taken: Iterable[int]) -> int:
        free = {i: r for i, r in enumerate(self.open_requests) if i not in taken}
        wanted = result.request
        if wanted is None and len(free) == 1:
            return next(iter(free))
        matching = [i for i, r in free.items() if wanted is not None and r.id == wanted.id]
        if not matching:
            whom = f"`{wanted.id}`" if wanted else "no request (set `request=`)"
            options = ", ".join(f"`{r.id}` ({r.name})" for r in free.values()) or "none"
            raise UsageError(f"A tool result answers {whom}, which is not an open tool request: {options}.")
        return next((i for i in matching if free[i] == wanted), matching[0])


def _asked(request: ContentToolRequest) -> ContentToolRequest:
    if "question" not in request.extra:
        return request
    from ..tools.definition import question_of  # noqa: PLC0415 - few tools ask

    return question_of(request.id, request.name, request.extra["question"])


def _place_of(contents: Sequence[Content], request: ContentToolRequest) -> int:
    return next(place for place, content in enumerate(contents) if content is request)


def merged(pieces: Iterable[Content]) -> tuple[Content, ...]:
    """Returns the pieces of a stream as contents. Neighbours of one kind are joined."""
    kinds = (ContentText, ContentThinking)
    groups = groupby(pieces, lambda piece: next((kind for kind in kinds if isinstance(piece, kind)), None))
    return tuple(whole for kind, group in groups for whole in (_joined(list(group)) if kind else group))


def _joined(pieces: list[Content]) -> list[Content]:
    """Returns texts, or thoughts, as one."""
    if len(pieces) == 1:
        return pieces
    texts = [piece for piece in pieces if isinstance(piece, ContentText)]
    if texts:
        return [ContentText("".join(text.text for text in texts), citations=tuple(_citations(texts)))]
    thoughts = [piece for piece in pieces if isinstance(piece, ContentThinking)]
    return [ContentThinking("".join(thought.thinking for thought in thoughts), thoughts[-1].extra)]


def _citations(texts: Iterable[ContentText]) -> Iterator[ContentCitation]:
    """Yields the citations of texts as those of the joined text."""
    at = 0
    for text in texts:
        length = len(text.text)
        for c in text.citations:
            yield replaced(c, start=at + (c.start or 0), end=at + (length if c.end is None else c.end))
        at += length


# --- A shorter history -----------------------------------------------------------------------------------


SUMMARIZE = (
    "Summarize our conversation so far for yourself: what I asked for, what was found and decided, names, numbers and "
    "file names that will be needed, and what is still open. Your summary replaces the conversation. Answer with the "
    "summary only."
)


def last_message(turns: Sequence[Turn]) -> int | None:
    """Returns the index of the user's last message, or `None`. A turn with only tool results does not count."""
    for place in reversed(range(len(turns))):
        turn = turns[place]
        if isinstance(turn, UserTurn) and not all(isinstance(c, ContentToolResult) for c in turn.contents):
            return place
    return None


def parted(turns: Sequence[Turn], keep: int) -> tuple[list[Turn], list[Turn], list[Turn]]:
    """Returns the system prompt, the older rounds and the last `keep` of them."""
    if not isinstance(keep, int) or isinstance(keep, bool) or keep < 0:
        raise UsageError(f"keep= must be the number of rounds to keep, 0 or more, not {keep!r}.")
    system: list[Turn] = [turn for turn in turns if isinstance(turn, SystemTurn)]
    messages = [turn for turn in turns if not isinstance(turn, SystemTurn)]
    starts = [place for place, turn in enumerate(messages) if _starts(turn)]
    older = [*[0] * keep, *starts][-keep] if keep else len(messages)
    return system, messages[:older], messages[older:]


def shorten(history: History, keep: int, shorter: Callable[[list[Turn]], list[Turn]]) -> None:
    """Replaces the older rounds by shorter ones."""
    system, older, recent = parted(history.turns, keep)
    if older:
        results = history.results if recent else {}
        history.replace([*system, *shorter(older), *recent], results)


def rounds_of(summary: AssistantTurn | None, cost: float | None = None) -> list[Turn]:
    """Returns a round with the summary, or none if there is none. It has the cost of all rounds before."""
    if summary is None:
        return []
    return [
        UserTurn([f"This is a summary of our conversation so far:\n\n{summary.text}"]),
        AssistantTurn(["I have read it, and go on from there."], cost=cost),
    ]


REMOVED = "[This result was removed to shorten the conversation. Call the tool again if you need it.]"


def without_results(turns: list[Turn]) -> list[Turn]:
    """Returns the turns with a short text in place of each long result. Errors stay."""
    return [turn.but_with(contents=tuple(map(_without_long_value, turn.contents))) for turn in turns]


def _without_long_value(content: Content) -> Content:
    if not isinstance(content, ContentToolResult) or content.error is not None:
        return content
    long = any(map(is_media, contents_in(content.value))) or len(str(content.value)) > len(REMOVED)
    return replaced(content, value=REMOVED) if long else content


def _starts(turn: Turn) -> bool:
    """Tells whether a turn has a message of the user, and not only tool results."""
    return isinstance(turn, UserTurn) and not any(isinstance(c, ContentToolResult) for c in turn.contents)


# --- A history as JSON, without keys and code ------------------------------------------------------------


VERSION = 1
T = TypeVar("T")


def chat_record(history: History, provider: str, model: str) -> dict[str, Any]:
    """Returns the record of a chat, in the form of `contents_record()`: its messages and the results that have not been
    sent yet.
    """
    from ..contents.json_serialization import contents_record  # noqa: PLC0415 - only needed to save

    results = {str(place): contents_record(result) for place, result in history.results.items()}
    props = {
        "provider": provider,
        "model": model,
        "turns": contents_record(history.view()),
        "results": results,
    }
    return {"version": VERSION, "class": "Chat", "props": props}


def chat_of_record(
    record: Any, tools: Iterable[ToolDef], classes: Iterable[type], *, trust_html: bool = False
) -> tuple[History, str, str]:
    """Returns the history of a record, and the names of its provider and model."""
    from ..contents.json_serialization import contents_replay  # noqa: PLC0415 - only needed to restore

    props = _props(record)
    replay = partial(contents_replay, tools=list(tools), classes=list(classes), trust_html=trust_html)
    turns = [_instance_of(Turn, turn, f"turns[{place}]") for place, turn in enumerate(replay(props["turns"]))]
    if late := next((place for place, turn in enumerate(turns) if place and isinstance(turn, SystemTurn)), 0):
        raise UsageError(
            f"This saved chat is damaged: turns[{late}] is a SystemTurn, and only the first can be one."
        )
    results = {
        place: _instance_of(ContentToolResult, replay(r), f"results.{place}")
        for place, r in props["results"].items()
    }
    history = History(turns)
    if stray := results.keys() - set(map(str, range(len(history.open_requests)))):
        raise UsageError(
            f"This saved chat is damaged: there is no open tool request for results.{min(stray)}."
        )
    history.results |= {int(place): result for place, result in results.items()}
    return history, props["provider"], props["model"]


def _props(record: Any) -> dict[str, Any]:
    """Returns the content of a record, after a check of each field's type."""
    match record:
        case {"version": 1, "class": "Chat", "props": dict(props)}:
            pass
        case {"version": version, "class": "Chat"}:
            raise UsageError(
                f"This chat was saved in version {version!r}; this release reads version {VERSION}. Update ellmer-core, or save it again."
            )
        case _:
            raise UsageError(
                "This is not a saved chat. A saved chat is an object with `version`, `class` and `props`."
            )
    if "vendor" in props:  # what the provider was called until November 2026
        props = {"provider": props["vendor"], **props}
    if missing := {"provider", "model", "turns", "results"} - props.keys():
        raise UsageError(f"This saved chat lacks {', '.join(sorted(missing))}.")
    match props:
        case {"turns": list(), "results": dict(), "provider": str(), "model": str()}:
            return props
    raise UsageError(
        "This saved chat is damaged: `turns` must be a list, `results` an object, and all other fields text."
    )


def _instance_of(kind: type[T], value: Any, path: str) -> T:
    if isinstance(value, kind):
        return value
    raise UsageError(f"This saved chat is damaged: {path} is {type(value).__name__}, not a {kind.__name__}.")
