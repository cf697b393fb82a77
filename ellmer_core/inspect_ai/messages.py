"""Converts turns to inspect-ai's messages and back. Our turn is kept in the metadata of its message, so that the
provider's own data is sent back with the next request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from inspect_ai import model as theirs
from inspect_ai.tool import ToolCall, ToolCallError

from ..contents import content as ours
from ..contents.content import ContentToolRequest, ContentToolResult
from ..contents.json_serialization import contents_record, contents_replay
from ..contents.turns import AssistantTurn, SystemTurn, Tokens, Turn, UserTurn
from ..errors import ContentError
from ..tools.result_serialization import flatten, result_text, split

__all__ = ["messages_of", "output_of", "turns_of"]

KEPT = "ellmer_core"
STOP = {
    "success": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "context_window": "model_length",
    "content_filter": "content_filter",
}


# theirs → ours ------------------------------------------------------------------------------------------------


def turns_of(messages: Iterable[Any]) -> list[Turn]:
    """Converts messages to turns. System messages are joined, and neighbouring messages of tools and users become one
    turn.
    """
    system: list[ours.Content] = []
    turns: list[Turn] = []
    asked: dict[str, ContentToolRequest] = {}
    for message in messages:
        if message.role == "system":
            system += _contents(message.content)
        elif message.role == "assistant":
            turns.append(turn := _answer(message))
            asked |= {request.id: request for request in turn.tool_requests}
        else:
            said = [_result(message, asked)] if message.role == "tool" else _contents(message.content)
            before = turns.pop().contents if turns and isinstance(turns[-1], UserTurn) else ()
            turns.append(UserTurn([*before, *said]))
    return [*([SystemTurn(system)] if system else []), *turns]


def _answer(message: Any) -> AssistantTurn:
    if kept := (message.metadata or {}).get(KEPT):
        turn: AssistantTurn = contents_replay(kept)
        return turn
    calls = [ContentToolRequest(c.id, c.function, c.arguments) for c in message.tool_calls or ()]
    return AssistantTurn([*_contents(message.content), *calls])


def _result(message: Any, asked: dict[str, ContentToolRequest]) -> ContentToolResult:
    request = asked.get(message.tool_call_id)
    if message.error is not None:
        return ContentToolResult(error=message.error.message, request=request)
    values = [
        part.text if isinstance(part, ours.ContentText) else part for part in _contents(message.content)
    ]
    return ContentToolResult(values[0] if len(values) == 1 else values, request=request)


def _contents(content: str | Sequence[Any]) -> list[ours.Content]:
    if isinstance(content, str):
        return [ours.ContentText(content)]
    return [_content(part) for part in content]


def _content(part: Any) -> ours.Content:
    match part.type:
        case "text":
            return ours.ContentText(part.text)
        case "reasoning":
            return ours.ContentThinking(part.summary or part.reasoning)
        case "image":
            inline = _data(part.image)
            return ours.ContentImageInline(*inline) if inline else ours.ContentImageRemote(part.image)
        case "document" if inline := _data(part.document):
            return ours.ContentPDF(*inline, part.filename or "document.pdf")
        case "data":
            return ours.ContentJson(part.data)
    raise ContentError(f"inspect-ai's content of type {part.type!r} cannot be sent.")


def _data(url: str) -> tuple[str, str] | None:
    found = re.fullmatch(r"data:([^;,]*);base64,(.*)", url, re.DOTALL)
    return (found[1], found[2]) if found else None


# ours → theirs ------------------------------------------------------------------------------------------------


def messages_of(turns: Iterable[Turn], model: str) -> list[Any]:
    """Converts turns to messages. Tool results become separate messages."""
    return [message for turn in turns for message in _messages(turn, model)]


def output_of(turn: AssistantTurn, model: str) -> Any:
    """Returns an answer as inspect-ai's model output."""
    [message] = _messages(turn, model)
    choice = theirs.ChatCompletionChoice(
        message=message, stop_reason=STOP.get(turn.finish_reason or "success", "unknown")
    )
    return theirs.ModelOutput(model=model, choices=[choice], usage=_usage(turn.tokens))


def _messages(turn: Turn, model: str) -> list[Any]:
    if isinstance(turn, SystemTurn):
        return [theirs.ChatMessageSystem(content=turn.text)]
    if isinstance(turn, AssistantTurn):
        calls = [_call(request) for request in turn.tool_requests]
        kept = contents_record(AssistantTurn(turn.contents))
        return [
            theirs.ChatMessageAssistant(
                content=_parts(turn.contents),
                tool_calls=calls or None,
                model=model,
                source="generate",
                metadata={KEPT: kept},
            )
        ]
    results, rest = split(flatten(turn.contents))
    said = [theirs.ChatMessageUser(content=_parts(rest))] if rest else []
    return [*map(_told, results), *said]


def _call(request: ContentToolRequest) -> Any:
    return ToolCall(
        id=request.id,
        function=request.name,
        arguments=dict(request.arguments),
        parse_error=request.problem,
    )


def _told(result: ContentToolResult) -> Any:
    text = result_text(result)
    return theirs.ChatMessageTool(
        content=text,
        tool_call_id=result.id,
        function=result.request.name if result.request else None,
        error=None if result.error is None else ToolCallError("unknown", text),
    )


def _parts(contents: Iterable[ours.Content]) -> list[Any]:
    parts = (_part(content) for content in contents if not isinstance(content, ContentToolRequest))
    return [part for part in parts if part is not None]


def _part(content: ours.Content) -> Any:
    match content:
        case ours.ContentText(text=text):
            return theirs.ContentText(text=text)
        case ours.ContentThinking(thinking=text):
            return theirs.ContentReasoning(reasoning=text)
        case ours.ContentImageInline(type=kind, data=data):
            return theirs.ContentImage(image=f"data:{kind};base64,{data}")
        case ours.ContentImageRemote(url=url):
            return theirs.ContentImage(image=url)
        case ours.ContentPDF(type=kind, data=data, filename=name):
            return theirs.ContentDocument(
                document=f"data:{kind};base64,{data}", filename=name, mime_type=kind
            )
    return theirs.ContentText(text=str(content))


def _usage(tokens: Tokens) -> Any:
    """Returns the usage. inspect-ai's `input_tokens` exclude tokens that were read from or written to a cache."""
    cached, written = tokens.cached or 0, tokens.cache_write or 0
    return theirs.ModelUsage(
        input_tokens=max((tokens.input or 0) - cached - written, 0),
        output_tokens=tokens.output or 0,
        total_tokens=(tokens.input or 0) + (tokens.output or 0),
        input_tokens_cache_read=tokens.cached,
        input_tokens_cache_write=tokens.cache_write,
        reasoning_tokens=tokens.reasoning,
    )
