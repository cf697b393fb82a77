"""Turns from elsewhere (a file, another program, a hook), in a form that every wire format can send; and answers without what their
provider attached to them.

What a provider would refuse is sent in another form, and is named for a warning. The history keeps the original.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import is_
from typing import NamedTuple

from ..contents import content as ours
from ..contents.content import (
    Content,
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    replaced,
)
from ..contents.turns import (
    AssistantTurn,
    SystemTurn,
    Tokens,
    Turn,
    UserTurn,
    are_linked,
    is_broken,
    is_json,
    is_sendable,
    legal_name,
)
from ..errors import ToolResultError, error_message
from ..tools.results import check_tool_result, flatten, named_text, result_text

__all__ = ["NEVER_CALLED", "Repaired", "distinct_calls", "in_words", "repaired", "without_attachments"]

NEVER_CALLED = "Chat ended before the tool could be invoked."


class Repaired(NamedTuple):
    """The turns to send, and what differs from the given turns, for a warning."""

    turns: list[Turn]
    named: list[str]


def repaired(turns: Sequence[Turn]) -> Repaired:
    """Returns turns that every wire format can send. Each call gets one result, in the turn after it; the calls of the last turn
    need none. Contents that cannot be sent in their turn are moved or described. Turns without a fault are the same objects.
    """
    if are_linked(turns):
        return Repaired(list(turns), [])
    repair = _Repair()
    for turn in turns:
        repair.add(turn)
    if repair.place is not None:  # else the last turn is an answer, whose calls are open
        repair.close()
    return Repaired(repair.turns, list(dict.fromkeys(repair.named)))


def distinct_calls(turn: AssistantTurn) -> AssistantTurn:
    """Returns the answer whose calls have distinct ids, so that a decision about one is about that one."""
    seen: dict[str, int] = {}
    contents: list[ours.Content] = []
    for content in turn.contents:
        if isinstance(content, ContentToolRequest):
            content = _renamed(content, seen)  # noqa: PLW2901 - the renamed call takes its place
        contents.append(content)
    same = all(map(is_, contents, turn.contents))
    return turn if same else turn.but_with(contents=tuple(contents))


def _renamed(request: ContentToolRequest, seen: dict[str, int]) -> ContentToolRequest:
    """Returns the request, with another id if an earlier one has it. `seen` are the ids, each with the next number for it."""
    id, number = request.id, seen.get(request.id, 2)
    while id in seen:
        id, number = f"{request.id}_{number}", number + 1
    seen[request.id] = number
    seen.setdefault(id, 2)
    return request if id == request.id else replaced(request, id=id)


# --- One turn after the other ----------------------------------------------------------------------------


class _Repair:
    """The repaired turns so far. `open` are the calls of the last answer that have no result yet: as they were given, and as they
    are sent. `place` is the place of the turn that has their results, and `order` the order of the calls by id.
    """

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.named: list[str] = []
        self.open: list[tuple[ContentToolRequest, ContentToolRequest]] = []
        self.place: int | None = None
        self.order: dict[str, int] = {}

    def add(self, turn: Turn) -> None:
        match turn:
            case AssistantTurn() if turn.links is not None:
                self.close()
                for request in turn.tool_requests:
                    self.opened(request, request)
                self.turns.append(turn)
            case AssistantTurn():
                self.answer(turn)
            case SystemTurn():
                self.turns.append(
                    _changed(
                        turn,
                        [self.worded(c, "in the system prompt", also=_is_no_text) for c in turn.contents],
                    )
                )
            case _:
                self.asked(turn)

    # an answer ----------------------------------------------------------------------------------------------

    def answer(self, turn: AssistantTurn) -> None:
        """Adds an answer. Results in it, as some programs keep them, become a turn of their own."""
        groups = [(kind, list(part)) for kind, part in groupby(turn.contents, _is_result)]
        for is_results, contents in groups or [(False, [])]:
            if is_results:
                self.named.append("a result in an answer")
                self.asked(UserTurn(contents))
            else:
                self.close()
                self.turns.append(_changed(turn, self.parts(contents)))
                turn = turn.but_with(tokens=Tokens(0, 0), cost=None if turn.cost is None else 0.0)

    def parts(self, contents: Sequence[ours.Content]) -> list[ours.Content]:
        seen: dict[str, int] = {}
        return [
            self.call(content, seen)
            if isinstance(content, ContentToolRequest)
            else self.worded(content, "in an answer", also=is_broken)
            for content in contents
        ]

    def call(self, request: ContentToolRequest, seen: dict[str, int]) -> ContentToolRequest:
        sent = _renamed(request, seen)
        if sent is not request:
            self.name("a second call with the id of another", request)
        if (legal := legal_name(request.name)) != request.name:
            self.name("a call with a name that is not allowed", request)
            sent = replaced(sent, name=legal)
        if not is_json(request.arguments):
            self.name("the arguments of a call, which are not JSON,", request)
            sent = replaced(sent, arguments={}, raw=None)
        self.opened(request, sent)
        return sent

    def opened(self, given: ContentToolRequest, sent: ContentToolRequest) -> None:
        self.open.append((given, sent))
        self.order[sent.id] = len(self.order)

    def worded(
        self, content: ours.Content, where: str, also: Callable[[ours.Content], bool] = lambda _: False
    ) -> ours.Content:
        """Returns a content, in words if no wire format can send it in this place."""
        if is_sendable(content) and not also(content):
            return content
        self.named.append(f"a {type(content).__name__} {where}")
        return ContentText(in_words(content))

    # what follows it ----------------------------------------------------------------------------------------

    def asked(self, turn: Turn) -> None:
        """Adds a turn of the user, whose results join those of the answer before."""
        results: list[ContentToolResult] = []
        rest: list[ours.Content] = []
        checked = self.checked if turn.links is None else _unchanged
        for content in turn.contents:
            if not isinstance(content, ContentToolResult):
                rest.append(self.worded(content, "of the user"))
            elif (request := self.answered(content)) is None:
                rest += self.in_text(checked(content))
            else:
                results.append(checked(_with_request(content, request)))
        results.sort(key=self.place_of)
        if results and self.place is not None:
            self.insert(results)
            results = []
        if results or rest or not turn.contents:
            self.turns.append(_changed(turn, [*results, *rest]))
        self.place = len(self.turns) - 1 if self.place is None else self.place

    def answered(self, result: ContentToolResult) -> ContentToolRequest | None:
        """Returns the open call of a result, as it is sent. The call is closed."""
        wanted = result.request
        if wanted is None:
            found = self.open if len(self.open) == 1 else []
        else:
            same = [pair for pair in self.open if pair[0].id == wanted.id]
            found = [pair for pair in same if pair[0] == wanted] or same
        if not found:
            return None
        given, sent = found[0]
        self.open.remove(found[0])
        if wanted is None:
            self.name("a result that names no call", given)
        return sent

    def in_text(self, result: ContentToolResult) -> list[ours.Content]:
        """Returns a result without an open call as text, with its media after it."""
        self.name("a result without its call", result)
        whole, *media = flatten([result])
        assert isinstance(whole, ContentToolResult)
        name = f"The tool {result.request.name}" if result.request else "A tool"
        return [ContentText(f"[{name} returned:] {result_text(whole)}"), *media]

    def checked(self, result: ContentToolResult) -> ContentToolResult:
        """Returns a result whose value can be sent, or else an error."""
        while isinstance(inner := result.value, ContentToolResult):
            result = replaced(result, value=inner.value, error=inner.error)
        if result.error is not None:
            known = isinstance(result.error, str | BaseException)
            return result if known else replaced(result, error=error_message(result.error))
        without_media = ours.mapped(result.value, lambda c, _path: "" if ours.is_media(c) else c)
        try:
            check_tool_result(result.request.name if result.request else "", without_media)
        except ToolResultError as error:
            self.name("the value of a result, which is not JSON,", result)
            return replaced(result, value=None, error=error_message(error))
        return result

    def insert(self, results: Sequence[ContentToolResult]) -> None:
        """Adds results to the turn that follows the answer."""
        assert self.place is not None
        turn = self.turns[self.place]
        before = [content for content in turn.contents if isinstance(content, ContentToolResult)]
        after = [content for content in turn.contents if not isinstance(content, ContentToolResult)]
        self.turns[self.place] = UserTurn([*sorted([*before, *results], key=self.place_of), *after])

    def place_of(self, result: ContentToolResult) -> int:
        return self.order[result.id]

    def close(self) -> None:
        """Adds a result for each open call."""
        missing = [ContentToolResult(error=NEVER_CALLED, request=sent) for _, sent in self.open]
        for given, _ in self.open:
            self.name("a call without a result", given)
        if missing and self.place is None:
            self.turns.append(UserTurn(missing))
        elif missing:
            self.insert(missing)
        self.open, self.place, self.order = [], None, {}

    def name(self, what: str, content: ContentToolRequest | ContentToolResult) -> None:
        request = content.request if isinstance(content, ContentToolResult) else content
        self.named.append(f"{what} ({request.name or 'unnamed'}, {request.id!r:.60})" if request else what)


def _unchanged(result: ContentToolResult) -> ContentToolResult:
    return result


def _with_request(result: ContentToolResult, request: ContentToolRequest) -> ContentToolResult:
    """Returns the result with its call as it is sent."""
    given = result.request
    same = given is not None and (given.id, given.name) == (request.id, request.name)
    return result if same else replaced(result, request=request)


def _changed(turn: Turn, contents: Sequence[ours.Content]) -> Turn:
    """Returns the turn with these contents; the same turn if they are its own."""
    if len(contents) == len(turn.contents) and all(map(is_, contents, turn.contents)):
        return turn
    return turn.but_with(contents=tuple(contents))


# --- Contents --------------------------------------------------------------------------------------------


def in_words(content: ours.Content) -> str:
    """Returns a content as text for the model."""
    match content:
        case ours.ContentFile(text=text) if text:
            return named_text(content)
        case ours.ContentCitation(quote=quote) if quote:
            return f"{content}: {quote}"
        case ContentText(text=text):
            return text
    return str(content)


def _is_result(content: ours.Content) -> bool:
    return isinstance(content, ContentToolResult)


def _is_no_text(content: ours.Content) -> bool:
    return not isinstance(content, ContentText)


# --- Answers without attachments -------------------------------------------------------------------------


#: Answers by their identity, each with the same answer without attachments. It holds both, so that no identity is reused.
Plain = dict[int, tuple[Turn, Turn]]


def without_attachments(turns: Sequence[Turn], format: str) -> Plain:
    """Returns the answers that have attachments of a wire format, and the same answers without them: an attachment is a signature,
    encrypted reasoning or a block, and a provider refuses it if it was changed in a file, or its key has expired. Without it, an
    answer is sent as that of another provider.
    """
    plain: Plain = {}
    for turn in turns:
        if isinstance(turn, AssistantTurn):
            contents = tuple(_plain(content, format) for content in turn.contents)
            if not all(map(is_, contents, turn.contents)):
                plain[id(turn)] = turn, turn.but_with(contents=contents)
    return plain


def _plain(content: Content, format: str) -> Content:
    """Returns a content as one of another provider, which has no attachment."""
    if isinstance(content, ContentUnknown):
        return replaced(content, wire=f"{format}, refused") if content.wire == format else content
    extra = getattr(content, "extra", None)
    if not isinstance(extra, Mapping) or format not in extra:
        return content
    return replaced(content, extra={name: value for name, value in extra.items() if name != format})
