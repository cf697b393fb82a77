"""Conversations in a Shiny app, by way of the shinychat package (the extra `shiny`).

Importing this module teaches shinychat our contents and turns, whole and as chunks of a stream. Blocks carry a
tool call as data: a request is a line that waits, and the result of the same id takes its place. A call looks
the same when the chat is shown again as it did when it ran. For a content class of your own:

    @contents_shinychat.register(MyResult)
    def _(content: MyResult) -> Tag: ...
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from html import escape
from typing import Any, Literal, cast

from .._history import sendable
from ..content import (
    Content,
    ContentImageInline,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
)
from ..errors import UsageError
from ..turns import AssistantPartialTurn, AssistantTurn, Turn
from ._card import Card, card, value_text
from ._sections import sides, turns_of
from .html import contents_html, media_html
from .markdown import contents_markdown

try:
    from htmltools import HTML, HTMLDependency, TagList
    from shinychat import Attachment, message_content, message_content_chunk
    from shinychat.types import ChatMessage
except ImportError:  # an extra; the name can be imported all the same

    def _missing(*_args: Any, **_kwargs: Any) -> Any:
        raise UsageError('Chats in Shiny need shiny and shinychat: pip install "ellmer-core[shiny]".')

    # Ignored below: what stands in for a class refuses to be called, and that is all it is for.
    HTML = HTMLDependency = TagList = Attachment = ChatMessage = _missing  # type: ignore[assignment,misc]

__all__ = ["contents_shinychat"]

Role = Literal["user", "assistant"]

#: What `flatten()` puts around media for the model. History does not hold it, but one from elsewhere may.
TAG = re.compile(r'<content tool-call-id="[^"]*"(?: item="\d+")?>|</content>')


@singledispatch
def contents_shinychat(value: Any) -> Any:
    """What shinychat is to show of a content: a `ChatMessage`, Markdown, a tag, or None for nothing. Of a turn,
    a `ChatMessage`; of a chat or a list of turns, a list of them.

    In the latter every request is replaced by its result, and results are in the answer that asked for them.
    A content that has no method of its own is shown as `contents_html()` or else `contents_markdown()` has it.
    """
    history = getattr(value, "_history", None)
    unsent = [history.reply(())] if history is not None and history.open_requests else []
    return list(_messages(sendable([*turns_of(value), *unsent])))


@contents_shinychat.register(Content)
def _(content: Content) -> Any:
    html = contents_html(content)
    return HTML(html) if html else contents_markdown(content)


@contents_shinychat.register(ContentText)
def _(content: ContentText) -> str | None:
    return None if TAG.fullmatch(content.text) else content.text


@contents_shinychat.register(ContentThinking)
def _(content: ContentThinking) -> ChatMessage:
    return ChatMessage(content.thinking, content_type="thinking")


@contents_shinychat.register(ContentToolRequest)
def _(content: ContentToolRequest) -> ChatMessage | None:
    if _mode() == "none":
        return None
    shown, message = card(content), ChatMessage("")
    block = _common(shown, message) | {"type": "tool_request", "arguments": shown.arguments}
    block["title"] += f' <ellmer-progress call="{escape(content.id)}"></ellmer-progress>'
    message.html_deps.append(progress_script())
    return _with_block(message, block)


@contents_shinychat.register(ContentToolResult)
def _(content: ContentToolResult) -> Any:
    if _mode() == "none":
        return None
    for render, markup in ((contents_html, HTML), (contents_markdown, str)):
        if render.dispatch(type(content)) is not render.dispatch(
            ContentToolResult
        ):  # a class with a look of its own
            return markup(render(content) or "")
    plain = ContentToolResult(content.value, content.error, request=content.request)
    return _result_message(card(plain if _mode() == "basic" else content))


@contents_shinychat.register(Turn)
def _(turn: Turn) -> ChatMessage:
    role = next((role for role, _ in sides([turn])), turn.role)
    return _joined(cast("Role", role), _noted(turn).contents)


def note(turn: Turn | None) -> list[Content]:
    """What is to be said after an answer that broke off."""
    return [ContentText(f"\n\n*[{turn.reason}]*")] if isinstance(turn, AssistantPartialTurn) else []


def progress_script() -> HTMLDependency:
    """What fills the place that each waiting line has for what its tool says."""
    return HTMLDependency(
        "ellmer-progress",
        "1",
        source={"package": "ellmer_core", "subdir": "render/www"},
        script={"src": "progress.js"},
    )


# messages ---------------------------------------------------------------------------------------------------


def _messages(turns: Sequence[Turn]) -> Iterator[ChatMessage]:
    answered = {c.id for turn in turns for c in turn.contents if isinstance(c, ContentToolResult)}
    for role, contents in sides([_noted(turn) for turn in turns]):
        rest = [c for c in contents if not (isinstance(c, ContentToolRequest) and c.id in answered)]
        if role != "system" and rest:
            yield _joined(cast("Role", role), rest)


def _noted(turn: Turn) -> Turn:
    return AssistantTurn([*turn.contents, *note(turn)]) if isinstance(turn, AssistantPartialTurn) else turn


def _joined(role: Role, contents: Sequence[Content]) -> ChatMessage:
    """One message of many contents. What a user attached is an attachment."""
    files = [c for c in contents if role == "user" and isinstance(c, (ContentImageInline, ContentPDF))]
    joined = ChatMessage("", role=role, attachments=list(map(_attachment, files)))
    messages = [_message(content) for content in contents if content not in files]
    joined.segments = [s for m in messages for s in m.segments if isinstance(s, dict) or s.content]
    joined.html_deps = [dependency for message in messages for dependency in message.html_deps]
    return joined


def _message(content: Content) -> ChatMessage:
    """A content as shinychat takes it."""
    shown = contents_shinychat(content)
    message = shown if isinstance(shown, ChatMessage) else ChatMessage(shown if shown is not None else "")
    if not isinstance(content, ContentToolResult) or shown is None:
        return message
    return message if any(b["type"] == "tool_result" for b in message.blocks) else _in_place(content, message)


def _in_place(result: ContentToolResult, shown: ChatMessage) -> ChatMessage:
    """What a class of yours looks like, in the place of the request, where else it would stand beside it."""
    blocks = [str(block.get("content", "")) for block in shown.blocks]
    message = ChatMessage("")
    message.html_deps = list(shown.html_deps)
    block = _common(card(result), message) | {
        "type": "tool_result",
        "status": "success" if result.error is None else "error",
        "value": "".join(blocks) or shown.content,
        "value_type": "html" if blocks else shown.content_type,
        "show_request": False,
        "custom_display": True,
    }
    return _with_block(message, block)


def _attachment(content: Content) -> Attachment:
    assert isinstance(content, (ContentImageInline, ContentPDF))
    name = content.filename if isinstance(content, ContentPDF) else "image"
    return Attachment(mime=content.type, name=name, data_url=f"data:{content.type};base64,{content.data}")


def _mode() -> str:
    """shinychat's own switch: `none` hides tool calls, `basic` shows them without what tools say of display."""
    return os.environ.get("SHINYCHAT_TOOL_DISPLAY", "rich")


# blocks -----------------------------------------------------------------------------------------------------


def _result_message(shown: Card) -> ChatMessage:
    message, display = ChatMessage(""), shown.display
    block = _common(shown, message) | {
        "type": "tool_result",
        "status": shown.status,
        "request_call": json.dumps(
            {"id": shown.request.id, "name": shown.request.name, "arguments": dict(shown.request.arguments)},
            ensure_ascii=False, indent=2, default=value_text,
        ),
        "show_request": display.get("show_request", True),
        "expanded": shown.open,
        "full_screen": display.get("full_screen", False),
        "open_style": "framed" if shown.block else "minimal",
        "value": _value(shown, message),
        "value_type": "html" if shown.kind == "media" else shown.kind,
    }  # fmt: skip
    block |= {name: display[name] for name in ("label", "value_preview") if name in display}
    if "footer" in display:
        block["footer"] = _html(display["footer"], message)
    return _with_block(message, block)


def _common(shown: Card, message: ChatMessage) -> dict[str, Any]:
    """What the blocks of requests and results share."""
    block: dict[str, Any] = {
        "version": 1,
        "request_id": shown.request.id,
        "tool_name": shown.request.name,
        "title": escape(shown.title),  # shinychat takes it for HTML, and a model may have a say in it
    }
    if shown.intent:
        block["intent"] = shown.intent
    if shown.icon is not None:
        block["icon"] = _html(shown.icon, message)
    if shown.grouping is not None:
        block["grouping"] = shown.grouping
    return block


def _value(shown: Card, message: ChatMessage) -> str:
    match shown.kind:
        case "html":
            return _html(shown.body, message)
        case "media":
            return media_html(shown.body, shown.title)
    return str(shown.body)


def _html(trusted: Any, message: ChatMessage) -> str:
    """The author's HTML, a string or tags; what it depends on goes with the message."""
    rendered = TagList(HTML(trusted) if isinstance(trusted, str) else trusted).render()
    message.html_deps += rendered["dependencies"]
    return str(rendered["html"])


def _with_block(message: ChatMessage, block: Mapping[str, Any]) -> ChatMessage:
    message.segments = [*message.segments, cast("Any", dict(block))]
    return message


if isinstance(ChatMessage, type):  # the extra is here
    for generic in (message_content, message_content_chunk):
        generic.register(Content)(_message)
        generic.register(Turn)(contents_shinychat.dispatch(Turn))
