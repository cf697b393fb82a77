"""Turns: the messages of a conversation, oldest first. There is at most one `SystemTurn`, and it comes first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, count, groupby, repeat
from math import isfinite
from operator import attrgetter, is_, not_
from typing import Any, ClassVar, Literal, NamedTuple, Self

from ..base.argument_checks import wrong_keyword
from ..base.forks import cached_property
from ..base.values import Value
from ..errors import UsageError
from .content import (
    MAX_DEPTH,
    AnyContent,
    Content,
    ContentCitation,
    ContentFile,
    ContentJson,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    contents_in,
    is_media,
)
from .display import RENDERERS, Displayed

__all__ = [
    "AssistantPartialTurn", "AssistantTurn", "FinishReason", "SystemTurn", "Tokens", "Turn", "UserTurn",
]  # fmt: skip


#: The neutral finish reasons. A reason that no table knows is kept as the provider wrote it (any other `str`).
FinishReason = Literal[
    "success", "tool_use", "max_tokens", "stop_sequence", "content_filter", "context_window", "error"
]


@dataclass(frozen=True, eq=False, repr=False)
class Tokens(Value):
    """The token counts of one answer. Each is `None` where the provider did not report it.

    Args:
        input: All input tokens, including those read from or written to a cache. Default: `None`.
        output: All output tokens, including reasoning. Default: `None`.
        cached: Input tokens that were read from a cache; a part of `input`. Default: `None`.
        cache_write: Input tokens that were written to a cache; a part of `input`. Default: `None`.
        reasoning: Output tokens that were spent on reasoning; a part of `output`. Default: `None`.

    Examples:
        >>> Tokens(input=30, output=8, cached=20).cached
        20
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


class Links(NamedTuple):
    """The calls and the results of a turn, by the ids of the calls, in order."""

    called: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()


NO_LINKS = Links()


def messages(contents: Iterable[Content]) -> list[str]:
    """Returns the texts of contents, those of one message joined. Most answers are one message."""
    texts = [content for content in contents if isinstance(content, ContentText) and content.text]
    if len(texts) < 2:
        return [text.text for text in texts]
    return ["".join(text.text for text in group) for _, group in groupby(texts, attrgetter("message"))]


@dataclass(frozen=True, eq=False, repr=False)
class Turn(Displayed, Value):
    """Base class of turns: contents in order. `str()` gives its printed form.

    Args:
        contents: The contents. A string stands for a `ContentText`. Default: none.

    Examples:
        >>> isinstance(UserTurn("Hello"), Turn)
        True
    """

    contents: tuple[Content, ...]
    role: ClassVar[str] = ""
    plain: ClassVar[frozenset[type[Content]]] = frozenset({ContentText})

    def __init__(self, contents: str | Content | Iterable[str | Content] = ()) -> None:
        object.__setattr__(self, "contents", as_contents(contents))

    def __str__(self) -> str:
        printed: str = self.displayed_as("text")
        return printed

    def _repr_html_(self) -> str | None:
        html: str | None = RENDERERS["html"]([self])
        return html

    def _repr_markdown_(self) -> str | None:
        markdown: str | None = RENDERERS["notebook"]([self])
        return markdown

    def but_with(self, **changes: Any) -> Self:
        """Returns a copy with other field values. It is faster than `dataclasses.replace()`.

        Args:
            **changes: The values by field.

        Examples:
            >>> UserTurn("Hello").but_with(contents=(ContentText("Hi"),)).text
            'Hi'
        """
        if unknown := changes.keys() - self.__dataclass_fields__.keys():
            raise wrong_keyword(min(unknown), "but_with", self.__dataclass_fields__)
        changed = object.__new__(type(self))
        vars(changed).update(vars(self), **changes)
        for name in ("is_plain", "links"):
            vars(changed).pop(name, None)
        return changed

    @cached_property
    def links(self) -> Links | None:
        """The calls and results of the turn; `None` if something in it is not where wire formats can send it, or no JSON."""
        if all(type(c) is ContentText for c in self.contents):
            return NO_LINKS
        requests = self.contents if self.role == "assistant" else ()
        called = [c.id for c in requests if isinstance(c, ContentToolRequest)]
        answered = [c.id for c in self.contents if isinstance(c, ContentToolResult)]
        fit = len({*called}) == len(called) and all(map(self._can_hold, self.contents))
        return Links(tuple(called), tuple(answered)) if fit else None

    def _can_hold(self, content: Content) -> bool:  # noqa: ARG002 - a system prompt is text
        return False

    @property
    def text(self) -> str:
        """All text of the turn, joined, without thinking, tool calls and media. A blank line separates the messages of
        an answer that has several.
        """
        return "\n\n".join(messages(self.contents))

    @cached_property
    def is_plain(self) -> bool:
        """Whether the turn consists of texts, an answer's thoughts, and results without media. Such a turn has no open
        tool calls and needs no conversion for a model.
        """
        return all(
            type(c) in self.plain
            or (isinstance(c, ContentToolResult) and next(contents_in(c.value), None) is None)
            for c in self.contents
        )


@dataclass(frozen=True, init=False, eq=False, repr=False)
class SystemTurn(Turn):
    """The system prompt as a turn.

    Args:
        contents: The contents, in order. A string stands for a `ContentText`. Default: none.

    Examples:
        >>> SystemTurn("You are terse.").text
        'You are terse.'
    """

    role: ClassVar[str] = "system"


@dataclass(frozen=True, init=False, eq=False, repr=False)
class UserTurn(Turn):
    """A turn of the user, or the tool results that are sent in the user's name.

    Args:
        contents: The contents, in order. A string stands for a `ContentText`. Default: none.

    Examples:
        >>> UserTurn(["What is this?", content_image_url("https://example.com/cat.png")]).text
        'What is this?'
    """

    role: ClassVar[str] = "user"

    @property
    def tool_results(self) -> tuple[ContentToolResult, ...]:
        """The tool results of the turn, in order."""
        return tuple(c for c in self.contents if isinstance(c, ContentToolResult))

    def _can_hold(self, content: Content) -> bool:
        if not isinstance(content, ContentToolResult):
            return is_sendable(content)
        request, error = content.request, content.error
        if request is None or not LEGAL_NAME.fullmatch(request.name):
            return False
        return is_json(content.value) if error is None else isinstance(error, (str, BaseException))


@dataclass(frozen=True, init=False, eq=False, repr=False)
class AssistantTurn(Turn):
    """An answer of the model.

    Args:
        contents: The contents of the answer, in order. A string stands for a `ContentText`. Default: none.
        tokens: Token counts; each is `None` where the provider did not report it. Default: all are `None`.
        finish_reason: A `FinishReason`, the provider's own word where there is none for it, or `None` when the provider
            gave no reason. Default: `None`.
        json: The provider's whole answer; for a stream, the equivalent answer without streaming. Default: `None`, if
            there is none.
        cost: Cost in US dollars; `None` where the price is not known. Default: `None`.
        duration: Seconds from the request to the end of the answer. Default: `None`, not measured.

    Examples:
        >>> AssistantTurn("It is 21 °C.", finish_reason="stop").text
        'It is 21 °C.'
    """

    tokens: Tokens = field(default=Tokens())
    finish_reason: str | None = None
    json: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    cost: float | None = None
    duration: float | None = field(default=None, compare=False)
    role: ClassVar[str] = "assistant"
    plain: ClassVar[frozenset[type[Content]]] = frozenset({ContentText, ContentThinking})

    def __init__(
        self,
        contents: str | Content | Iterable[str | Content] = (),
        *,
        tokens: Tokens = Tokens(),
        finish_reason: str | None = None,
        json: Mapping[str, Any] | None = None,
        cost: float | None = None,
        duration: float | None = None,
    ) -> None:
        super().__init__(contents)
        if not isinstance(tokens, Tokens):
            raise UsageError(f"tokens= must be Tokens(…), not {tokens!r:.60}.")
        vars(self).update(tokens=tokens, finish_reason=finish_reason, json=json, cost=cost, duration=duration)

    @property
    def lost(self) -> bool:
        """Whether the end of the answer never arrived. Its token counts are then unknown, and the signature of its
        thoughts may be missing.
        """
        return False

    @property
    def tool_requests(self) -> tuple[ContentToolRequest, ...]:
        """The tool calls of the answer, in order."""
        return tuple([c for c in self.contents if isinstance(c, ContentToolRequest)])

    def _can_hold(self, content: Content) -> bool:
        if isinstance(content, ContentToolRequest):
            return bool(LEGAL_NAME.fullmatch(content.name)) and is_json(content.arguments)
        sendable = is_sendable(content) and not isinstance(content, ContentToolResult)
        return sendable and not is_broken(content)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class AssistantPartialTurn(AssistantTurn):
    """An answer that stopped before its end.

    It holds what was received. A tool request in it is never run; its `problem` says that it may be cut.

    Args:
        contents: The contents that arrived, in order. A string stands for a `ContentText`. Default: none.
        reason: Why the answer stopped: `"interrupted"` (default), `"cancelled"`, `"max_tokens"`, or the
            provider's own word.
        **rest: Fields of `AssistantTurn`.

    Examples:
        >>> turn = AssistantPartialTurn("It is 21", reason="max_tokens")
        >>> turn.text, turn.reason
        ('It is 21', 'max_tokens')
    """

    reason: str = "interrupted"

    def __init__(
        self,
        contents: str | Content | Iterable[str | Content] = (),
        *,
        reason: str = "interrupted",
        **rest: Any,
    ) -> None:
        super().__init__(contents, **rest)
        object.__setattr__(self, "reason", reason)

    @property
    def lost(self) -> bool:
        return self.json is None


def as_contents(value: str | Content | Iterable[str | Content]) -> tuple[Content, ...]:
    """Returns a tuple of contents from a caller's input, where strings become texts."""
    values = (value,) if isinstance(value, (str, Content)) else tuple(value)
    for item in values:
        if not isinstance(item, (str, Content)):
            raise UsageError(f"A turn contains contents and strings, not {type(item).__name__}.")
    return tuple([ContentText(item) if isinstance(item, str) else item for item in values])


# --- what wire formats can send, and where ---------------------------------------------------------------


def is_sendable(content: Content) -> bool:
    """Tells whether a message of the user may have a content: wire formats have a form for it, or describe it in words."""
    if isinstance(content, ContentJson):
        return is_json(content.value)
    return isinstance(content, AnyContent) and not isinstance(content, ContentCitation)


def is_broken(content: Content) -> bool:
    """Tells whether a content is a medium whose data is broken."""
    return is_media(content) and bool(getattr(content, "fault", ""))


# --- turns of a kind: as little Python code for each turn as possible, because a history may be long -----


def not_plain(turns: Sequence[Turn]) -> list[int]:
    """Returns the places of the turns that are not plain (`Turn.is_plain`)."""
    is_plain = attrgetter("is_plain")
    return [] if all(map(is_plain, turns)) else list(compress(count(), map(not_, map(is_plain, turns))))


def are_linked(turns: Sequence[Turn], after: Links = NO_LINKS) -> bool:
    """Tells whether each turn can be sent, and has results for exactly the calls of the turn before it, in their order. `after` are
    those of the turn before them all.
    """
    links = list(map(attrgetter("links"), turns))
    if all(map(is_, links, repeat(NO_LINKS))) and not (links and after.called):
        return True
    if None in links:
        return False
    called = [after.called, *map(attrgetter("called"), links)]
    return called[:-1] == list(map(attrgetter("answered"), links))


def kinds_not_plain(turns: Sequence[Turn]) -> set[type[Content]]:
    """Returns the classes of the contents in turns that are not plain."""
    return {type(content) for place in not_plain(turns) for content in turns[place].contents}


def system_turns(turns: Iterable[Turn]) -> list[Turn]:
    """Returns the system turns."""
    return [turn for turn in turns if isinstance(turn, SystemTurn)]


# --- What every format can send ---------------------------------------------------------------------------


def is_json(value: Any, depth: int = 0) -> bool:  # noqa: PLR0911 - one return per kind of value
    """Tells whether a value is JSON that UTF-8 can encode, and that may have media and documents in it."""
    match value:
        case str():
            return value.isascii() or not re.search("[\ud800-\udfff]", value)
        case None:
            return True
        case int():
            return value.bit_length() <= MAX_INTEGER_BITS
        case float():
            return isfinite(value)
        case dict():
            return depth < MAX_DEPTH and all(
                isinstance(name, str) and is_json(name) and is_json(item, depth + 1)
                for name, item in value.items()
            )
        case list() | tuple():
            return depth < MAX_DEPTH and all(is_json(item, depth + 1) for item in value)
        case ContentText():
            return is_json(value.text)
        case ContentFile():
            return is_json(value.filename) and is_json(value.text)
    return is_media(value)


MAX_INTEGER_BITS = 10_000  # Python itself refuses to write integers of more than 4300 digits


def legal_name(name: str) -> str:
    """Returns `name` if every format accepts it as a tool's name, else the nearest valid one. An invalid name of the
    model would make the provider refuse each further request.
    """
    if LEGAL_NAME.fullmatch(name):
        return name
    return re.sub(r"[^\w-]", "_", name, flags=re.ASCII)[:64] or "unnamed"


LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
