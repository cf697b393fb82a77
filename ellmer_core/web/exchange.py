"""One exchange with a web client: what it asked for, which is untrusted, and the events of the answer.

The server has the conversation. Of a request, only the new message and the decisions about waiting calls are used. The
earlier messages are what the browser claims; they are in `WebRequest.turns` for programs that have no store.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from logging import WARNING
from math import isfinite
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote_to_bytes
from uuid import uuid4

from .._chat.answers import AsyncStream, picker
from .._chat.chat import Chat
from .._chat.console import approver
from .._chat.error_messages import in_plain_words
from ..base.log import log_raised
from ..base.values import Value
from ..contents import content as ours
from ..contents.files import content_of_bytes
from ..contents.turns import AssistantTurn, Turn, UserTurn
from ..conversation.approval import Decision
from ..conversation.history import History, last_message
from ..conversation.io_operations import Loop
from ..conversation.settings import StreamController
from ..errors import ApprovalRequiredError, EllmerError, UsageError
from ..wire.shared.json_objects import bounded, read_json

Json = dict[str, Any]
T = TypeVar("T")

NOTHING = "The request has no new message, and no decision about a call that waits."


# --- what a client asks for ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class WebRequest(Value):
    """What a web client asked for. Do not trust any of it.

    Args:
        conversation: The client's name for the conversation. A client can send any name, so look it up among the user's conversations.
        inputs: The contents of the new message; empty if the client sends only decisions.
        decisions: Decisions about calls that wait, by the id of the call.
        turns: The earlier messages, as the client claims them: texts, media, and calls that have a result. They are not
            used unless you pass them to `chat.set_turns()`.
        body: The whole request, as JSON.
        run: The client's name for this exchange; `""` if it has none.
        kept: The number of the user's messages that stay; the others are replaced. `None` (default) keeps all.
        again: Whether the last message is asked again, as it is in the history.
        strict: Whether every waiting call needs a decision.

    Raises:
        UsageError: There is neither a message nor a decision.

    Examples:
        >>> WebRequest("chat-1", inputs=(ContentText("Hi"),)).conversation
        'chat-1'
    """

    conversation: str
    inputs: tuple[ours.Content, ...] = ()
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    turns: tuple[Turn, ...] = field(default=(), repr=False)
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    run: str = ""
    kept: int | None = None
    again: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        if not self.inputs and not self.decisions and not self.again:
            raise UsageError(NOTHING)

    def check(self, chat: Chat) -> None:
        """Checks the request against the chat's history, which it does not change: so a route can answer 400 before a stream
        begins. While the chat answers another request, its history is not known yet; the stream then has the error.

        Args:
            chat: The chat of the conversation.

        Raises:
            UsageError: There is nothing to send, the decisions are about other calls than those that wait, or the page shows
                another conversation.

        Examples:
            >>> chat = chat_openai()
            >>> try:
            ...     WebRequest("chat-1", decisions={"call_1": True}).check(chat)
            ... except UsageError as error:
            ...     print(error)
            The request has no new message, and no decision about a call that waits.
        """
        if not chat._turn.taken:  # noqa: SLF001 - of this package
            self.begin(chat._history.copy())  # noqa: SLF001 - likewise

    def begin(self, history: History) -> Sequence[ours.Content]:
        """Applies the request to the server's history, and returns what to send.

        Args:
            history: The history of the chat, which is idle.
        """
        inputs = self._rewound(history) if self.kept is not None else self.inputs
        waiting = {request.id for request in history.waiting}
        if self.strict and waiting != self.decisions.keys():
            raise UsageError("The decisions must be about all waiting calls, and no others.")
        history.decide({id: decision for id, decision in self.decisions.items() if id in waiting})
        if not inputs and not history.decisions:
            raise UsageError(NOTHING)
        return inputs

    def _rewound(self, history: History) -> Sequence[ours.Content]:
        """Cuts the history before a message of the user. The messages before it have to be those that the client shows."""
        places = [
            place for place in range(len(history.turns)) if last_message(history.turns[: place + 1]) == place
        ]
        shown = [turn.text for turn in self.turns if isinstance(turn, UserTurn) and _is_message(turn)]
        assert self.kept is not None
        if [history.turns[place].text for place in places[: self.kept]] != shown[: self.kept]:
            raise UsageError("The page does not show the conversation that the server has. Load it again.")
        if len(places) <= self.kept:  # the message was never answered
            return self.inputs
        place = places[self.kept]
        asked = [c for c in history.turns[place].contents if not isinstance(c, ours.ContentToolResult)]
        history.replace(history.turns[:place])
        return asked if self.again else self.inputs


def _is_message(turn: UserTurn) -> bool:
    return not all(isinstance(content, ours.ContentToolResult) for content in turn.contents)


def body_of(request: bytes | str | Mapping[str, Any]) -> Json:
    """Returns the JSON object of a request. Raises `UsageError` for anything else."""
    try:
        if isinstance(request, Mapping):
            bounded(body := dict(request))
        else:
            body = fitting(dict, read_json(request), "the request")
    except ValueError as error:
        raise UsageError(f"The request is not JSON: {error}") from error
    return body


def fitting(kind: type[T], value: Any, what: str) -> T:
    """Returns a value of the client if it has the type. Raises `UsageError` if not."""
    if isinstance(value, kind):
        return value
    raise UsageError(f"{what} must be {kind.__name__}, not {type(value).__name__}.")


def objects(value: Any, what: str) -> list[Json]:
    """Returns a list of JSON objects."""
    return [fitting(dict, item, f"each item of {what}") for item in fitting(list, value or [], what)]


_DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[\w-]+=[\w.+-]+)*)(;base64)?,", re.ASCII)


def file_of(url: str, name: object = "") -> ours.Content:
    """Returns the content of a `data:` URL. Other URLs are refused, because the server or the provider would have to fetch them."""
    match = _DATA.match(url)
    if match is None:
        raise UsageError(f"A file has to be in the request, as a data: URL, not {url[:40]!r}.")
    type, _, base64 = match.groups()
    rest = url[match.end() :]
    return content_of(type or "text/plain", rest if base64 else unquote_to_bytes(rest), name)


def content_of(type: str, data: str | bytes, name: object = "") -> ours.Content:
    """Returns the content of a file of the client, from its bytes or base64. Raises `UsageError` if it cannot be sent."""
    if isinstance(data, str):
        if problem := ours.ContentFile(type, data).fault:
            raise UsageError(f"A file of type {type} cannot be read: {problem}.")
        data = b64decode(data)
    shown = re.split(r"[/\\]", str(name or ""))[-1][:100]
    return content_of_bytes(data, type.lower(), shown or f"file.{type.rpartition('/')[2]}")


def call_of(id: Any, name: Any, arguments: Any) -> ours.ContentToolRequest:
    """Returns a call that the client claims to have been made."""
    if isinstance(arguments, str):
        arguments = body_of(arguments or "{}")
    values = fitting(dict, arguments or {}, "the arguments of a call")
    return ours.ContentToolRequest(
        fitting(str, id, "the id of a call"), fitting(str, name, "the name of a tool"), values
    )


# --- a conversation that a page shows again --------------------------------------------------------------


def spoken(history: History) -> Iterator[tuple[int, UserTurn | list[Turn]]]:
    """Yields the messages of the user, and between them the answers with their results; each with the place of its first turn."""
    unsent = [history.results[place] for place in sorted(history.results)]
    answer: list[Turn] = []
    began = 0
    for place, turn in enumerate([*history.view(), *([UserTurn(unsent)] if unsent else [])]):
        if isinstance(turn, UserTurn) and _is_message(turn):
            results = [c for c in turn.contents if isinstance(c, ours.ContentToolResult)]
            answer += [UserTurn(results)] if results else []
            yield from [(began, answer)] if answer else []
            yield place, UserTurn([c for c in turn.contents if not isinstance(c, ours.ContentToolResult)])
            answer = []
        elif isinstance(turn, UserTurn | AssistantTurn):
            began = began if answer else place
            answer.append(turn)
    yield from [(began, answer)] if answer else []


def replayed(encoder: Encoder, turns: Sequence[Turn]) -> Iterator[Json]:
    """Yields the events of answers that were given before."""
    for content in (content for turn in turns for content in turn.contents):
        yield from encoder.take(content)
        for citation in content.citations if isinstance(content, ours.ContentText) else ():
            yield from encoder.take(citation)


# --- the events of an answer -----------------------------------------------------------------------------


#: What a page is told about a call that has no result.
BROKEN = "The call was interrupted, or was not run."


def new_id() -> str:
    """Returns a name for a part of an answer."""
    return uuid4().hex


def numbered(name: str) -> Callable[[], str]:
    """Returns a function that names the parts of an answer, the same each time."""
    numbers = count(1)
    return lambda: f"{name}-{next(numbers)}"


class Encoder(Protocol):
    """The events of one answer in a protocol. It does no I/O."""

    def begin(self) -> Iterator[Json]:
        """Yields the events before the first content."""
        ...

    def continued(self, calls: Sequence[str]) -> None:
        """Notes the calls that the client shows already."""
        ...

    def take(self, content: ours.Content | ours.ToolCallDelta) -> Iterator[Json]:
        """Yields the events of a content of `stream(content="deltas")`."""
        ...

    def ask(self, requests: Sequence[ours.ContentToolRequest], turns: Sequence[Turn]) -> Iterator[Json]:
        """Yields the last events, if calls wait for a decision."""
        ...

    def end(self, turns: Sequence[Turn], *, cancelled: bool) -> Iterator[Json]:
        """Yields the last events, after these new turns."""
        ...

    def fail(self, words: str, turns: Sequence[Turn]) -> Iterator[Json]:
        """Yields the last events, after an error in plain words."""
        ...


async def answer(
    chat: Chat, asked: WebRequest, encoder: Encoder, controller: StreamController | None
) -> AsyncGenerator[Json, None]:
    """Yields the events of the answer of a chat. Its end, also an early one, ends the request to the provider."""
    controller = controller or StreamController()
    before = 0

    def begin(history: History) -> Sequence[ours.Content]:
        nonlocal before
        inputs = asked.begin(history)
        before = len(history.turns)
        encoder.continued([request.id for request in history.open_requests])
        return inputs

    for event in encoder.begin():
        yield event
    last: Callable[[Sequence[Turn]], Iterator[Json]]
    try:
        async with _stream_when_free(chat, begin, controller) as contents:
            async for content in contents:
                for event in encoder.take(content):
                    yield event
        last = partial(encoder.end, cancelled=controller.cancelled)
    except ApprovalRequiredError as waiting:
        last = partial(encoder.ask, waiting.requests)
    except Exception as error:  # noqa: BLE001 - the client is told, and so is the developer
        log_raised(WARNING, "web: %s", type(error).__name__, error=error)
        last = partial(encoder.fail, _words(error))
    for event in last(chat.get_turns(include_system_prompt=True)[before:]):
        yield event


def _stream_when_free(
    chat: Chat, begin: Callable[[History], Sequence[ours.Content]], controller: StreamController
) -> AsyncStream[ours.Content | ours.ToolCallDelta]:
    """Streams an answer. What to send is asked for when the chat is free: `begin` may change the history and decide about calls. A
    call that needs a decision waits for a later request, unless the chat has `approve`.
    """
    settings = chat._plan(stream=True, deltas=True, tool_mode="concurrent", controller=controller)  # noqa: SLF001 - of this package
    settings = replace(settings, approve=settings.approve or approver("defer"))

    def begun() -> Loop[AssistantTurn | None]:
        loop: Loop[AssistantTurn | None] = chat._talk(begin(chat._history), settings).loop  # noqa: SLF001 - likewise
        return (yield from loop)

    return replace(chat._talk((), settings), loop=begun()).stream_async(picker("deltas"))  # noqa: SLF001 - likewise


def _words(error: Exception) -> str:
    """Returns what the browser shows: the fault of its request, or plain words without details."""
    if type(error) is UsageError or not isinstance(error, EllmerError):
        return str(error) if isinstance(error, UsageError) else "Something went wrong here."
    return in_plain_words(error).words


def sse(event: Json) -> bytes:
    """Returns an event of a stream, as JSON in UTF-8. NaN and infinity become `null`, and a lone surrogate becomes `?`."""
    return f"data: {json_of(event)}\n\n".encode("utf-8", "replace")


def json_of(value: Any) -> str:
    """Returns a text unchanged, and any other value as JSON that a browser can read."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), default=str)


def _finite(value: Any) -> Any:
    match value:
        case float() if not isfinite(value):
            return None
        case dict():
            return {str(name): _finite(item) for name, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
    return value


def output_of(result: ours.ContentToolResult) -> Any:
    """Returns the value of a tool for a page: JSON, in which a file is `{"type": "file", "mediaType": …, "url": …}`."""
    return ours.mapped(result.value, lambda content, _path: part_of(content))


def part_of(content: ours.Content) -> Any:
    """Returns a content as JSON for a page."""
    match content:
        case ours.ContentText(text=text):
            return text
        case ours.ContentJson(value=value):
            return value
        case ours.ContentImageRemote(url=url):
            return {"type": "file", "mediaType": "image/*", "url": url}
        case ours.ContentImageInline() | ours.ContentPDF() | ours.ContentFile():
            name = {} if isinstance(content, ours.ContentImageInline) else {"filename": content.filename}
            return {
                "type": "file",
                "mediaType": content.type,
                **name,
                "url": f"data:{content.type};base64,{content.data}",
            }
    return str(content)


def usage_of(turns: Sequence[Turn]) -> dict[str, int]:
    """Returns the tokens of the answers among some turns, as far as the provider counted them."""
    answers = [turn.tokens for turn in turns if isinstance(turn, AssistantTurn)]
    counts = {
        "inputTokens": [tokens.input for tokens in answers],
        "outputTokens": [tokens.output for tokens in answers],
        "cachedInputTokens": [tokens.cached for tokens in answers],
        "cacheWriteInputTokens": [tokens.cache_write for tokens in answers],
        "reasoningTokens": [tokens.reasoning for tokens in answers],
    }
    sums = {
        name: sum(filter(None, each)) for name, each in counts.items() if any(n is not None for n in each)
    }
    total = (
        {"totalTokens": sums["inputTokens"] + sums["outputTokens"]} if len(sums.keys() & _BOTH) == 2 else {}
    )
    return {**sums, **total}


_BOTH = {"inputTokens", "outputTokens"}
