"""The UI message stream of Vercel's AI SDK, which `useChat()` reads. https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol

    async def answer(request):  # Starlette or FastAPI
        asked = vercel.read(await request.body())
        return StreamingResponse(vercel.stream(chats[asked.conversation], asked), headers=vercel.HEADERS)

It was tested with version 7 of the npm package `ai`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from typing import Any

from .._chat.chat import Chat
from ..base.argument_checks import spelt
from ..contents import content as ours
from ..contents.turns import AssistantTurn, Turn, UserTurn
from ..conversation.approval import Decision
from ..conversation.settings import StreamController
from ..tools.results import result_text
from .exchange import (
    BROKEN,
    Json,
    WebRequest,
    answer,
    body_of,
    call_of,
    file_of,
    fitting,
    json_of,
    new_id,
    numbered,
    objects,
    output_of,
    part_of,
    replayed,
    spoken,
    sse,
    usage_of,
)

__all__ = ["HEADERS", "Events", "messages", "read", "stream"]

HEADERS: Mapping[str, str] = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",  # nginx would hold back the events
    "x-vercel-ai-ui-message-stream": "v1",
}

#: The finish reasons of the AI SDK; any other is "other".
_ENDS = {
    "success": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "context_window": "length",
    "content_filter": "content-filter",
    "tool_use": "tool-calls",
    "error": "error",
}


async def stream(
    chat: Chat, asked: WebRequest, *, controller: StreamController | None = None
) -> AsyncGenerator[bytes, None]:
    """Streams the answer of a chat, as the body of a response with `HEADERS`.

    Args:
        chat: The chat of the conversation. With `when_busy="wait"`, a second request of its user waits.
        asked: The request, from `read()`.
        controller: Cancels the answer; `None` (default) means that only the client can, by going away.

    Returns:
        The events, encoded.

    Examples:
        >>> import asyncio
        >>> async def body():
        ...     asked = read({"id": "c", "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]})
        ...     return [event async for event in stream(chat_openai(), asked)]
        >>> asyncio.run(body())[-1]
        b'data: [DONE]\\n\\n'
    """
    async for event in answer(chat, asked, Events(), controller):
        yield sse(event)
    yield b"data: [DONE]\n\n"


# --- from the client -------------------------------------------------------------------------------------


@spelt
def read(request: bytes | str | Mapping[str, Any]) -> WebRequest:
    """Reads a request of `useChat()`.

    Args:
        request: The body, or its JSON.

    Returns:
        The new message, or the decisions about calls that wait.

    Raises:
        UsageError: The request is malformed, or a file in it is not what it claims to be.

    Examples:
        >>> read('{"id": "c", "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}').inputs
        (ContentText(text='Hi'),)
    """
    body = body_of(request)
    messages = objects(body.get("messages"), "messages")
    *earlier, last = messages or [{}]
    mine = last.get("role") == "user"
    again = body.get("trigger") == "regenerate-message"
    replaces = mine and (again or (body.get("messageId") is not None and body["messageId"] == last.get("id")))
    return WebRequest(
        fitting(str, body.get("id", ""), "id"),
        tuple(_contents(last)) if mine else (),
        {} if mine else dict(_decisions(last, body.get("arguments"))),
        tuple(turn for message in (earlier if mine else messages) for turn in _turns(message)),
        body,
        kept=sum(message.get("role") == "user" for message in earlier) if replaces else None,
        again=again,
    )


def _parts(message: Json) -> list[Json]:
    return objects(message.get("parts"), "parts")


def _contents(message: Json) -> Iterator[ours.Content]:
    for part in _parts(message):
        match part:
            case {"type": "text", "text": str(text)}:
                yield ours.ContentText(text)
            case {"type": "file", "url": str(url)}:
                yield file_of(url, part.get("filename") or "")


def _decisions(message: Json, arguments: Any) -> Iterator[tuple[str, Decision]]:
    changed = fitting(dict, arguments or {}, "arguments")
    for part in _parts(message):
        match part:
            case {
                "state": "approval-responded",
                "toolCallId": str(id),
                "approval": {"approved": bool(approved)},
            }:
                reason = part["approval"].get("reason")
                own = fitting(dict, changed[id], "arguments of a call") if id in changed else None
                said = reason if reason and isinstance(reason, str) else Decision.reason
                yield id, Decision(approved, own, said)


def _turns(message: Json) -> Iterator[Turn]:
    """Yields the turns of an earlier message. Instructions (`system`) and thoughts of a browser are left out."""
    if message.get("role") == "user":
        yield UserTurn(tuple(_contents(message)))
    if message.get("role") != "assistant":
        return
    said: list[ours.Content] = []
    results: list[ours.Content] = []
    for part in [*_parts(message), {"type": "step-start"}]:
        match part:
            case {"type": "step-start"}:
                yield from filter(lambda turn: turn.contents, (AssistantTurn(said), UserTurn(results)))
                said, results = [], []
            case {"type": "text", "text": str(text)} if text:
                said.append(ours.ContentText(text))
            case {"toolCallId": id, "state": "output-available" | "output-error" as state}:
                call = call_of(id, part.get("toolName") or str(part.get("type"))[5:], part.get("input"))
                error = str(part.get("errorText")) if state == "output-error" else None
                value = part.get("output") if error is None else None
                said.append(call)
                results.append(ours.ContentToolResult(value, error, request=call))


# --- a conversation that a page shows again --------------------------------------------------------------


@spelt
def messages(chat: Chat) -> list[Json]:
    """Returns the conversation as the messages of `useChat()`, for a page that is loaded again: `useChat({ messages })`.

    A call that waits for a decision is in the state `approval-requested`, so that the page can ask again. The system prompt is left
    out.

    Args:
        chat: The chat of the conversation.

    Returns:
        The messages as JSON. The id of a message stays the same.

    Examples:
        >>> chat = chat_openai()
        >>> chat.set_turns([UserTurn("Hi"), AssistantTurn("Hello.")])
        >>> [message["parts"][-1]["text"] for message in messages(chat)]
        ['Hi', 'Hello.']
    """
    history = chat._history  # noqa: SLF001 - of this package
    said = list(spoken(history))
    asked = {said[-1][0]: history.questions} if said else {}
    return [_message(f"turn-{place}", turns, asked.get(place, ())) for place, turns in said]


def _message(id: str, said: UserTurn | list[Turn], waiting: Sequence[ours.ContentToolRequest]) -> Json:
    """Returns a message of the user, or one with all answers between two of them."""
    if isinstance(said, UserTurn):
        return {"id": id, "role": "user", "parts": list(map(_part, said.contents))}
    events, usage = Events(numbered(id)), usage_of(said)
    told = list(replayed(events, said))
    told += events.ask(waiting, ()) if waiting else events.end((), cancelled=True)
    metadata = {"metadata": {"usage": usage}} if usage else {}
    return {"id": id, "role": "assistant", "parts": _folded(told), **metadata}


def _part(content: ours.Content) -> Json:
    part = part_of(content)
    return (
        part
        if isinstance(part, dict) and part.get("type") == "file"
        else {"type": "text", "text": json_of(part)}
    )


def _folded(events: Sequence[Json]) -> list[Json]:
    """Returns the parts of a message, as the client makes them of the events of an answer."""
    parts: list[Json] = []
    named: dict[str, Json] = {}
    for event in events:
        match event:
            case {"type": "start-step"}:
                parts.append({"type": "step-start"})
            case {"type": "text-start" | "reasoning-start" as kind, "id": id}:
                parts.append(named.setdefault(id, {"type": kind[:-6], "text": "", "state": "done"}))
            case {"type": "text-delta" | "reasoning-delta", "id": id, "delta": delta}:
                named[id]["text"] += delta
            case {"type": "tool-input-available", "toolCallId": id, "toolName": name, **rest}:
                named[id] = {**rest, "type": f"tool-{name}", "toolCallId": id, "state": "input-available"}
                parts.append(named[id])
            case {"type": "tool-approval-request", "toolCallId": id, "approvalId": approval}:
                names = {"reason": "requestReason", "approvalDescriptor": "descriptor"}
                asked = {names[key]: event[key] for key in names if key in event}
                named[id] |= {"state": "approval-requested", "approval": {"id": approval, **asked}}
            case {"type": "tool-output-denied", "toolCallId": id} if id in named:
                named[id] |= {"state": "output-denied", "approval": {"id": id, "approved": False}}
            case {
                "type": "tool-output-available" | "tool-output-error" as kind,
                "toolCallId": id,
                **rest,
            } if id in named:
                named[id] |= {**rest, "state": kind[5:]}
            case {"type": "source-url" | "source-document" | "file"}:
                parts.append(event)
    return parts


# --- to the client ---------------------------------------------------------------------------------------


class Events:
    """The events of one answer; see `exchange.Encoder`."""

    def __init__(self, new_id: Callable[[], str] = new_id) -> None:
        self._new_id = new_id
        self._open = ("", "")  # the kind of the open part, "text" or "reasoning", and its id
        self._in_step = False
        self._answered = (
            False  # a call of this step has its result, so the model's next words are another step
        )
        self._called: dict[str, str] = {}  # the calls without a result, and their tools
        self._whole: set[str] = set()  # those of which the arguments are complete
        self._provided_calls: set[str] = set()  # those that the provider runs
        self._shown: set[str] = set()  # those that the client has from the message before
        self._sources: set[tuple[str, str]] = set()

    def begin(self) -> Iterator[Json]:
        yield {"type": "start"}

    def continued(self, calls: Sequence[str]) -> None:
        self._shown = set(calls)

    def take(self, content: ours.Content | ours.ToolCallDelta) -> Iterator[Json]:
        match content:
            case ours.ContentText(text=text):
                yield from self._piece("text", text)
            case ours.ContentThinking(thinking=text):
                yield from self._piece("reasoning", text)
            case ours.ToolCallDelta():
                yield from self._started(content.id, content.name)
                yield {
                    "type": "tool-input-delta",
                    "toolCallId": content.id,
                    "inputTextDelta": content.arguments,
                }
            case ours.ContentToolRequest():
                yield from self._call(content)
            case ours.ContentToolResult():
                yield from self._result(content)
            case ours.ContentCitation():
                yield from self._source(content)
            case ours.ContentProviderCall():
                yield from self._provided(content)
            case ours.ContentImageInline() | ours.ContentPDF() | ours.ContentFile():
                yield from self._step()
                yield {
                    "type": "file",
                    "mediaType": content.type,
                    "url": f"data:{content.type};base64,{content.data}",
                }

    def ask(self, requests: Sequence[ours.ContentToolRequest], turns: Sequence[Turn]) -> Iterator[Json]:
        for request in requests:
            self._called.pop(request.id, None)
            yield {
                "type": "tool-approval-request",
                "approvalId": request.id,
                "toolCallId": request.id,
                **_asked(request),
            }
        yield from self._closed()
        yield from self._finished("tool-calls", turns)

    def end(self, turns: Sequence[Turn], *, cancelled: bool) -> Iterator[Json]:
        yield from self._closed()
        if cancelled:
            yield {"type": "abort"}
            return
        last = turns[-1] if turns else None
        reason = last.finish_reason if isinstance(last, AssistantTurn) else None
        yield from self._finished(_ENDS.get(reason or "", "other"), turns)

    def fail(self, words: str, turns: Sequence[Turn]) -> Iterator[Json]:  # noqa: ARG002 - other protocols tell the usage
        yield from self._closed()
        yield {"type": "error", "errorText": words}

    def _piece(self, kind: str, text: str) -> Iterator[Json]:
        if not text:
            return
        if self._open[0] != kind:
            yield from self._step()
            self._open = kind, self._new_id()
            yield {"type": f"{kind}-start", "id": self._open[1]}
        yield {"type": f"{kind}-delta", "id": self._open[1], "delta": text}

    def _started(self, id: str, name: str, **more: Any) -> Iterator[Json]:
        if id not in self._called:
            yield from self._step()
            self._called[id] = name
            yield {"type": "tool-input-start", "toolCallId": id, "toolName": name, **more}
        else:
            yield from self._ended()

    def _call(self, request: ours.ContentToolRequest) -> Iterator[Json]:
        if request.id in self._shown:  # decided about: the client has it
            return
        title = {"title": request.tool.title(request.arguments)} if request.tool else {}
        call = {"toolCallId": request.id, "toolName": request.name, "input": dict(request.arguments)}
        yield from self._started(request.id, request.name, **title)
        self._whole.add(request.id)
        yield {"type": "tool-input-available", **call, **title}

    def _result(self, result: ours.ContentToolResult) -> Iterator[Json]:
        yield from self._ended()
        self._called.pop(result.id, None)
        self._answered = True
        call = {"toolCallId": result.id}
        if result.decision == "denied":
            yield {"type": "tool-output-denied", **call}
        elif result.error is not None:
            yield {"type": "tool-output-error", **call, "errorText": result_text(result)}
        else:
            yield {"type": "tool-output-available", **call, "output": output_of(result)}

    def _provided(self, call: ours.ContentProviderCall) -> Iterator[Json]:
        """Yields a call that the provider ran itself."""
        id, name = call.id or self._new_id(), call.name or "tool"
        if id not in self._provided_calls:
            self._provided_calls.add(id)
            yield from self._step()
            yield {
                "type": "tool-input-available",
                "toolCallId": id,
                "toolName": name,
                "input": dict(call.arguments),
                "providerExecuted": True,
            }
        done = {"toolCallId": id, "providerExecuted": True}
        if call.error is not None:
            yield {"type": "tool-output-error", **done, "errorText": call.error}
        elif call.value is not None:
            yield {"type": "tool-output-available", **done, "output": call.value}

    def _source(self, cited: ours.ContentCitation) -> Iterator[Json]:
        key = cited.url, cited.title or cited.quote
        if key in self._sources:
            return
        self._sources.add(key)
        if cited.url.startswith(("https://", "http://")):
            title = {"title": cited.title} if cited.title else {}
            yield {"type": "source-url", "sourceId": self._new_id(), "url": cited.url, **title}
        else:
            title = {"title": key[1] or "source", "mediaType": "text/plain"}
            yield {"type": "source-document", "sourceId": self._new_id(), **title}

    def _step(self) -> Iterator[Json]:
        """Ends the open part, and begins a step if none is open. One step is one answer of the model, with its results."""
        yield from self._ended()
        if self._in_step and self._answered:
            yield from self._step_ended()
        if not self._in_step:
            self._in_step = True
            yield {"type": "start-step"}
        self._answered = False

    def _step_ended(self) -> Iterator[Json]:
        if self._in_step:
            self._in_step = False
            yield {"type": "finish-step"}

    def _ended(self) -> Iterator[Json]:
        kind, id = self._open
        self._open = "", ""
        if kind:
            yield {"type": f"{kind}-end", "id": id}

    def _closed(self) -> Iterator[Json]:
        """Ends the open part, and the calls that will not get a result."""
        yield from self._ended()
        for id, name in self._called.items():
            if id in self._whole:
                yield {"type": "tool-output-error", "toolCallId": id, "errorText": BROKEN}
            else:
                broken = {"toolCallId": id, "toolName": name, "input": {}, "errorText": BROKEN}
                yield {"type": "tool-input-error", **broken}
        self._called = {}

    def _finished(self, reason: str, turns: Sequence[Turn]) -> Iterator[Json]:
        yield from self._step_ended()
        usage = usage_of(turns)
        more = {"messageMetadata": {"usage": usage}} if usage else {}
        yield {"type": "finish", "finishReason": reason, **more}


def _asked(request: ours.ContentToolRequest) -> Json:
    """Returns what a tool asks, for the page to make a form of it."""
    if not isinstance(request, ours.ContentToolQuestion):
        return {}
    fields = {"schema": dict(request.schema), "arguments": dict(request.arguments), "url": request.url}
    return {"reason": request.message, "approvalDescriptor": {k: v for k, v in fields.items() if v}}
