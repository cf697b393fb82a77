"""AG-UI, the protocol between agents and user interfaces such as CopilotKit. https://docs.ag-ui.com

    async def answer(request):  # Starlette or FastAPI
        asked = ag_ui.read(await request.body())
        return StreamingResponse(ag_ui.stream(chats[asked.conversation], asked), headers=ag_ui.HEADERS)

It was tested with version 1.0 of the npm package `@ag-ui/client`. Needs neither SDK.
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
from ..errors import UsageError
from ..schemas.type_functions import to_json_schema
from ..tools.results import result_text
from ..wire.shared.tool_calls import raw
from .exchange import (
    BROKEN,
    Json,
    WebRequest,
    answer,
    body_of,
    call_of,
    content_of,
    file_of,
    fitting,
    json_of,
    new_id,
    numbered,
    objects,
    part_of,
    replayed,
    spoken,
    sse,
    usage_of,
)

__all__ = ["HEADERS", "Events", "interrupts", "messages", "read", "stream"]

HEADERS: Mapping[str, str] = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",  # nginx would hold back the events
}
VERSION = "1.0"


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
        ...     asked = read({"threadId": "t", "runId": "r", "messages": [{"role": "user", "content": "Hi"}]})
        ...     return [event async for event in stream(chat_openai(), asked)]
        >>> b'"RUN_FINISHED"' in asyncio.run(body())[-1]
        True
    """
    events = Events(asked.conversation, asked.run, chat)
    async for event in answer(chat, asked, events, controller):
        yield sse(event)


# --- from the client -------------------------------------------------------------------------------------


@spelt
def read(request: bytes | str | Mapping[str, Any]) -> WebRequest:
    """Reads a `RunAgentInput`. The client's `tools`, `context` and `state` are in `body`; they are not used.

    Args:
        request: The body, or its JSON.

    Returns:
        The new message, or the decisions about calls that wait.

    Raises:
        UsageError: The request is malformed, or a file in it is not what it claims to be.

    Examples:
        >>> read('{"threadId": "t", "runId": "r", "messages": [{"role": "user", "content": "Hi"}]}').inputs
        (ContentText(text='Hi'),)
    """
    body = body_of(request)
    messages = objects(body.get("messages"), "messages")
    resumed = objects(body.get("resume"), "resume")
    mine = bool(messages) and messages[-1].get("role") == "user" and not resumed
    return WebRequest(
        fitting(str, body.get("threadId"), "threadId"),
        tuple(_contents(messages[-1])) if mine else (),
        {fitting(str, entry.get("interruptId"), "interruptId"): _decision(entry) for entry in resumed},
        tuple(_turns(messages[:-1] if mine else messages)),
        body,
        run=fitting(str, body.get("runId"), "runId"),
        strict=True,
    )


def _decision(entry: Json) -> Decision:
    """Returns a decision. Its form is the recommended one: https://docs.ag-ui.com/concepts/interrupts"""
    match entry:
        case {"status": "cancelled"}:
            return Decision(approved=False)
        case {"status": "resolved", "payload": {"approved": bool(approved), **rest}}:
            arguments, reason = rest.get("editedArgs"), rest.get("reason") or Decision.reason
            if isinstance(arguments, dict | None) and isinstance(reason, str):
                return Decision(approved, arguments, reason)
    raise UsageError('An answer to an interrupt has a payload such as {"approved": true, "editedArgs": {…}}.')


def _contents(message: Json) -> Iterator[ours.Content]:
    content = message.get("content")
    if isinstance(content, str):
        yield ours.ContentText(content)
        return
    for part in objects(content, "content"):
        match part:
            case {"type": "text", "text": str(text)}:
                yield ours.ContentText(text)
            case {"source": {"type": "data", "value": str(data), "mimeType": str(type)}}:
                yield content_of(type, data)
            case {"source": {"type": "url" | "file", "value": str(url)}}:
                yield file_of(url)
            case {"type": "binary", "mimeType": str(type), "data": str(data)}:  # before 1.0
                yield content_of(type, data, part.get("filename"))


def _turns(messages: Sequence[Json]) -> Iterator[Turn]:
    """Yields the turns of earlier messages. Instructions (`system`, `developer`) and thoughts are left out."""
    values = {fitting(str, m.get("toolCallId"), "toolCallId"): m for m in messages if m.get("role") == "tool"}
    for message in messages:
        if message.get("role") == "user":
            yield UserTurn(tuple(_contents(message)))
        if message.get("role") != "assistant":
            continue
        text = message.get("content")
        calls = [_call(call) for call in objects(message.get("toolCalls"), "toolCalls")]
        calls = [call for call in calls if call.id in values]
        if text or calls:
            yield AssistantTurn([*([fitting(str, text, "content")] if text else []), *calls])
        if calls:
            yield UserTurn([_result(call, values[call.id]) for call in calls])


def _call(call: Json) -> ours.ContentToolRequest:
    function = fitting(dict, call.get("function"), "function")
    return call_of(call.get("id"), function.get("name"), function.get("arguments"))


def _result(call: ours.ContentToolRequest, message: Json) -> ours.ContentToolResult:
    if (error := message.get("error")) is not None:
        return ours.ContentToolResult(error=str(error), request=call)
    return ours.ContentToolResult("".join(map(str, _contents(message))), request=call)


# --- a conversation that a page shows again --------------------------------------------------------------


@spelt
def messages(chat: Chat) -> list[Json]:
    """Returns the conversation as AG-UI's messages, for a page that is loaded again: `new HttpAgent({ initialMessages })`.

    The system prompt is left out, and so is what AG-UI has no message for: sources, and files of the model.

    Args:
        chat: The chat of the conversation.

    Returns:
        The messages as JSON. The id of a message stays the same.

    Examples:
        >>> chat = chat_openai()
        >>> chat.set_turns([UserTurn("Hi"), AssistantTurn("Hello.")])
        >>> messages(chat)[1]
        {'id': 'turn-1-1', 'role': 'assistant', 'content': 'Hello.'}
    """
    shown: list[Json] = []
    for place, said in spoken(chat._history):  # noqa: SLF001 - of this package
        id = f"turn-{place}"
        if isinstance(said, UserTurn):
            shown.append({"id": id, "role": "user", "content": _content(said.contents)})
        else:
            shown += _folded(list(replayed(Events("", "", None, numbered(id)), said)))
    return shown


@spelt
def interrupts(chat: Chat) -> list[Json]:
    """Returns the calls that wait for a decision, as AG-UI's interrupts, for a page that is loaded again.

    Args:
        chat: The chat of the conversation.

    Returns:
        The interrupts as JSON; a run with `resume` answers them.

    Examples:
        >>> interrupts(chat_openai())
        []
    """
    return [_question(request) for request in chat._history.questions]  # noqa: SLF001 - of this package


def _content(contents: Sequence[ours.Content]) -> str | list[Json]:
    parts = [_part(c) or {"type": "text", "text": json_of(part_of(c))} for c in contents]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    return parts if len(texts) < len(parts) else "\n\n".join(texts)


def _folded(events: Sequence[Json]) -> list[Json]:
    """Returns the messages, as the client makes them of the events of a run."""
    shown: list[Json] = []
    named: dict[str, Json] = {}
    calls: dict[str, Json] = {}

    def message(id: str, **fields: Any) -> Json:
        if id not in named:
            named[id] = {"id": id, **fields}
            shown.append(named[id])
        return named[id]

    for event in events:
        match event:
            case {"type": "TEXT_MESSAGE_START" | "REASONING_MESSAGE_START", "messageId": id, "role": role}:
                message(id, role=role, content="")
            case {
                "type": "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT",
                "messageId": id,
                "delta": delta,
            }:
                named[id]["content"] += delta
            case {
                "type": "TOOL_CALL_START",
                "toolCallId": id,
                "parentMessageId": parent,
                "toolCallName": name,
            }:
                calls[id] = {"name": name, "arguments": ""}
                whole = {"id": id, "type": "function", "function": calls[id]}
                message(parent, role="assistant").setdefault("toolCalls", []).append(whole)
            case {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": delta}:
                calls[id]["arguments"] += delta
            case {"type": "TOOL_CALL_RESULT", "messageId": id, "toolCallId": call, "content": content}:
                message(id, role="tool", toolCallId=call, content=content)
    return shown


# --- to the client ---------------------------------------------------------------------------------------


class Events:
    """The events of one run; see `exchange.Encoder`."""

    def __init__(
        self, thread: str, run: str, chat: Chat | None = None, new_id: Callable[[], str] = new_id
    ) -> None:
        self._names = {"threadId": thread, "runId": run}
        self._model = {"provider": chat.wire.provider, "model": chat.wire.model} if chat else {}
        self._new_id = new_id
        self._open = ("", "")  # the kind of the open message, "TEXT" or "REASONING", and its id
        self._parent = ""  # the message that the calls of this answer belong to
        self._called: dict[str, bool] = {}  # the calls without a result: whether their arguments are complete
        self._shown: set[str] = set()  # those that the client has from the run before

    def begin(self) -> Iterator[Json]:
        yield {"type": "RUN_STARTED", **self._names, "protocolVersion": VERSION}

    def continued(self, calls: Sequence[str]) -> None:
        self._shown = set(calls)

    def take(self, content: ours.Content | ours.ToolCallDelta) -> Iterator[Json]:
        match content:
            case ours.ContentText(text=text):
                yield from self._piece("TEXT", text)
            case ours.ContentThinking(thinking=text):
                yield from self._piece("REASONING", text)
            case ours.ToolCallDelta():
                yield from self._started(content.id, content.name)
                yield {"type": "TOOL_CALL_ARGS", "toolCallId": content.id, "delta": content.arguments}
            case ours.ContentToolRequest():
                yield from self._call(content)
            case ours.ContentToolResult():
                yield from self._result(content)
            case ours.ContentProviderCall():
                yield from self._provided(content)
            case ours.ContentCitation():
                cited = {"url": content.url, "title": content.title, "quote": content.quote}
                yield {"type": "CUSTOM", "name": "citation", "value": {k: v for k, v in cited.items() if v}}
            case ours.ContentImageInline() | ours.ContentPDF() | ours.ContentFile():
                yield {"type": "CUSTOM", "name": "file", "value": part_of(content)}

    def ask(self, requests: Sequence[ours.ContentToolRequest], turns: Sequence[Turn]) -> Iterator[Json]:
        for request in requests:
            self._called.pop(request.id, None)
        yield from self._closed()
        yield self._finished(
            {"type": "interrupt", "interrupts": [_question(each) for each in requests]}, turns
        )

    def end(self, turns: Sequence[Turn], *, cancelled: bool) -> Iterator[Json]:
        yield from self._closed()
        yield self._finished({"type": "cancelled" if cancelled else "success"}, turns)

    def fail(self, words: str, turns: Sequence[Turn]) -> Iterator[Json]:
        yield from self._closed()
        yield {"type": "RUN_ERROR", "message": words, **self._usage(turns)}

    def _piece(self, kind: str, text: str) -> Iterator[Json]:
        if not text:
            return
        message = f"{kind}_MESSAGE"
        if self._open[0] != kind:
            yield from self._ended()
            self._open = kind, self._new_id()
            id = {"messageId": self._open[1]}
            if kind == "REASONING":
                yield {"type": "REASONING_START", **id}
            else:
                self._parent = self._open[1]
            yield {
                "type": f"{message}_START",
                **id,
                "role": "reasoning" if kind == "REASONING" else "assistant",
            }
        yield {"type": f"{message}_CONTENT", "messageId": self._open[1], "delta": text}

    def _ended(self) -> Iterator[Json]:
        kind, id = self._open
        self._open = "", ""
        if kind:
            yield {"type": f"{kind}_MESSAGE_END", "messageId": id}
        if kind == "REASONING":
            yield {"type": "REASONING_END", "messageId": id}

    def _started(self, id: str, name: str) -> Iterator[Json]:
        if id in self._called:
            return
        yield from self._ended()
        self._called[id] = False
        self._parent = self._parent or self._new_id()
        yield {
            "type": "TOOL_CALL_START",
            "toolCallId": id,
            "toolCallName": name,
            "parentMessageId": self._parent,
        }

    def _call(self, request: ours.ContentToolRequest) -> Iterator[Json]:
        if request.id in self._shown:  # decided about: the client has it
            return
        streamed = request.id in self._called
        yield from self._started(request.id, request.name)
        if not streamed:
            yield {"type": "TOOL_CALL_ARGS", "toolCallId": request.id, "delta": raw(request)}
        self._called[request.id] = True
        yield {"type": "TOOL_CALL_END", "toolCallId": request.id}

    def _result(self, result: ours.ContentToolResult) -> Iterator[Json]:
        yield from self._ended()
        self._called.pop(result.id, None)
        self._parent = ""  # the model's next words are another message
        media = [part for part in ours.contents_in(result.value) if ours.is_media(part)]
        content: Any = result_text(result)
        if media:
            content = [{"type": "text", "text": content}, *filter(None, map(_part, media))]
        yield from self._answered(result.id, content)

    def _answered(self, call: str, content: Any) -> Iterator[Json]:
        id = self._new_id()
        yield {
            "type": "TOOL_CALL_RESULT",
            "messageId": id,
            "toolCallId": call,
            "content": content,
            "role": "tool",
        }

    def _provided(self, call: ours.ContentProviderCall) -> Iterator[Json]:
        """Yields a call that the provider ran itself, if its result is known."""
        if call.result is None:
            return
        request = ours.ContentToolRequest(call.id or self._new_id(), call.name or "tool", call.arguments)
        yield from self._call(request)
        self._called.pop(request.id)
        yield from self._answered(request.id, call.error or json_of(call.value))

    def _closed(self) -> Iterator[Json]:
        """Ends the open message, and the calls that will not get a result."""
        yield from self._ended()
        for call, whole in self._called.items():
            if not whole:
                yield {"type": "TOOL_CALL_END", "toolCallId": call}
            yield from self._answered(call, BROKEN)
        self._called = {}

    def _finished(self, outcome: Json, turns: Sequence[Turn]) -> Json:
        return {"type": "RUN_FINISHED", **self._names, "outcome": outcome, **self._usage(turns)}

    def _usage(self, turns: Sequence[Turn]) -> Json:
        counts = usage_of(turns)
        return {"usage": [{**self._model, **counts}]} if counts else {}


def _question(request: ours.ContentToolRequest) -> Json:
    """Returns the interrupt of a call that waits. The schema says that its arguments can be changed, or has the answers."""
    tool = request.tool
    edited = to_json_schema(tool.arguments) if tool else {"type": "object"}
    fields = {"approved": {"type": "boolean"}, "editedArgs": edited, "reason": {"type": "string"}}
    schema = {"type": "object", "properties": fields, "required": ["approved"]}
    named = {"id": request.id, "toolCallId": request.id, "responseSchema": schema}
    if isinstance(request, ours.ContentToolQuestion):
        return {**named, "reason": "input_required", "message": request.title}
    title = tool.title(request.arguments) if tool else request.name
    return {**named, "reason": "tool_call", "message": f"{title}?"}


def _part(content: ours.Content) -> Json | None:
    match content:
        case ours.ContentImageRemote(url=url):
            return {"type": "image", "source": {"type": "url", "value": url}}
        case ours.ContentImageInline(type=type, data=data):
            kind = "image"
        case ours.ContentPDF(type=type, data=data) | ours.ContentFile(type=type, data=data):
            kind = type.partition("/")[0]
        case _:
            return None
    source = {"type": "data", "value": data, "mimeType": type}
    return {"type": kind if kind in {"image", "audio", "video"} else "document", "source": source}
