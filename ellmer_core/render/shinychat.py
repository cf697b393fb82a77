"""Conversations in a Shiny app, by way of the shinychat package (the extra `shiny`).

Importing this module registers our contents and turns with shinychat, whole and as chunks of a stream. Blocks carry a
tool call as data: a request is a waiting line, and the result with the same id replaces it. A restored chat shows a
call as it was shown while it ran. For a content class of your own:

    @contents_shinychat.register(MyResult)
    def _(content: MyResult) -> Tag: ...
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any, Literal, cast

from ..contents.content import (
    Content,
    ContentImageInline,
    ContentPDF,
    ContentProviderCall,
    ContentProviderResult,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    replaced,
)
from ..contents.turns import Turn
from ..conversation.history import merged
from ..errors import UsageError
from .citation_footnotes import marked_markdown, sources_markdown
from .html import contents_html
from .markdown import contents_markdown, is_tag, noted, sides, turns_shown
from .markup import literal

try:
    from htmltools import HTML
    from shinychat import Attachment, message_content, message_content_chunk
    from shinychat.types import ChatMessage

    from .shinychat_blocks import in_place, request_message, result_message
except ImportError:  # an extra; the name can be imported all the same
    if TYPE_CHECKING:
        raise

    def _missing(*_args: Any, **_kwargs: Any) -> Any:
        raise UsageError('Chats in Shiny need shiny and shinychat: pip install "ellmer-core[shiny]".')

    HTML = Attachment = ChatMessage = in_place = request_message = result_message = _missing  # type: ignore[misc]  # it only raises an error

__all__ = ["contents_shinychat"]

Role = Literal["user", "assistant"]


@singledispatch
def contents_shinychat(value: Any) -> Any:
    """Converts contents, turns or a chat to what shinychat shows.

    In a chat or a list of turns, each tool request is replaced by its result. A content without a form of its own is
    shown as by `contents_html()` or `contents_markdown()`.

    Args:
        value: The content, turn, list of turns, or chat.

    Returns:
        For a content a `ChatMessage`, Markdown, a tag, or `None` for nothing; for a turn a `ChatMessage`; for a chat or
        a list of turns a list of them.

    Raises:
        UsageError: The extra `shiny` is not installed.

    Examples:
        >>> contents_shinychat(ContentText("Hello"))
        'Hello'
    """
    return list(_messages(turns_shown(value)))


@contents_shinychat.register(Content)
def _(content: Content) -> Any:
    if html := contents_html(content):
        return HTML(html)
    text = contents_markdown(content)
    return literal(text) if text else None


@contents_shinychat.register(ContentText)
def _(content: ContentText) -> str | None:
    if is_tag(content):
        return None
    parts = (marked_markdown(content), sources_markdown(content.citations))
    return "\n\n".join(filter(None, map(literal, parts)))


@contents_shinychat.register(ContentThinking)
def _(content: ContentThinking) -> ChatMessage | None:
    return ChatMessage(literal(content.thinking), content_type="thinking") if content.thinking else None


@contents_shinychat.register(ContentToolRequest)
def _(content: ContentToolRequest) -> Any:
    if _mode() == "none":
        return None
    return _own_look(content, ContentToolRequest) or request_message(content)


@contents_shinychat.register(ContentToolResult)
def _(content: ContentToolResult) -> Any:
    match _mode():
        case "none":
            return None
        case "basic":
            return result_message(replaced(content, extra={}))
    return _own_look(content, ContentToolResult) or result_message(content)


@contents_shinychat.register(ContentProviderCall)
def _(content: ContentProviderCall) -> Any:
    if _mode() == "none":
        return None
    return result_message(content.result) if content.result else request_message(content.request)


@contents_shinychat.register(Turn)
def _(turn: Turn) -> ChatMessage:
    role = next((role for role, _ in sides([turn])), turn.role)
    return _joined(cast("Role", role), noted(turn).contents)


# messages ---------------------------------------------------------------------------------------------------


def _messages(turns: Sequence[Turn]) -> Iterator[ChatMessage]:
    done = (ContentToolResult, ContentProviderResult)
    answered = {c.id for turn in turns for c in turn.contents if isinstance(c, done)}
    for role, contents in sides(turns):
        rest = [c for c in contents if not (_is_call(c) and getattr(c, "id", "") in answered)]
        if role != "system" and rest:
            yield _joined(cast("Role", role), rest)


def _is_call(content: Content) -> bool:
    """Tells whether it is a call whose result is shown separately."""
    calls = (ContentToolRequest, ContentProviderCall)
    return isinstance(content, calls) and not isinstance(content, ContentProviderResult)


def _joined(role: Role, contents: Sequence[Content]) -> ChatMessage:
    """Joins many contents to one message. A user's file becomes an attachment."""
    files = [c for c in contents if role == "user" and isinstance(c, (ContentImageInline, ContentPDF))]
    joined = ChatMessage("", role=role, attachments=list(map(_attachment, files)))
    message = _user_message if role == "user" else _message
    told = merged(content for content in contents if not is_tag(content))  # each tag, before texts are joined
    messages = [message(content) for content in told if content not in files]
    joined.segments = [s for m in messages for s in m.segments if isinstance(s, dict) or s.content]
    joined.html_deps = [dependency for message in messages for dependency in message.html_deps]
    return joined


def _message(content: Content) -> ChatMessage:
    """Returns a content in shinychat's form. A tool call has one place, in any form."""
    shown = contents_shinychat(content)
    message = shown if isinstance(shown, ChatMessage) else ChatMessage(shown if shown is not None else "")
    if shown is None or not isinstance(content, (ContentToolRequest, ContentToolResult)):
        return message
    return in_place(content, message)


def _user_message(content: Content) -> ChatMessage:
    """Returns the user's text unchanged."""
    if type(content) is ContentText and not is_tag(content):
        return ChatMessage(content.text, content_type="text")
    return _message(content)


def _piece(content: ContentText | ContentThinking) -> ChatMessage:
    """Returns a part of a text unchanged, because markup can be found only in the whole text (see `Literal`)."""
    if isinstance(content, ContentThinking):
        return ChatMessage(content.thinking, content_type="thinking")
    cited = literal(sources_markdown(content.citations))
    text = f"{content.text}\n\n{cited}" if cited else content.text
    return ChatMessage("" if is_tag(content) else text)


def _own_look(content: Content, base: type[Content]) -> Any:
    """Returns the HTML or Markdown of a class that overrides its base's method."""
    for render, markup in ((contents_html, HTML), (contents_markdown, literal)):
        if render.dispatch(type(content)) is not render.dispatch(base):
            return markup(render(content) or "")
    return None


def _attachment(content: Content) -> Attachment:
    assert isinstance(content, (ContentImageInline, ContentPDF))
    name = content.filename if isinstance(content, ContentPDF) else content.extra.get("filename", "image")
    return Attachment(mime=content.type, name=name, data_url=f"data:{content.type};base64,{content.data}")


def _mode() -> str:
    """Returns shinychat's own setting: `none` hides tool calls, and `basic` shows them without the tools' display
    values.
    """
    return os.environ.get("SHINYCHAT_TOOL_DISPLAY", "rich")


if isinstance(ChatMessage, type):  # the extra is here
    for generic in (message_content, message_content_chunk):
        generic.register(Content)(_message)
        generic.register(Turn)(contents_shinychat.dispatch(Turn))
    message_content_chunk.register(ContentText)(_piece)
    message_content_chunk.register(ContentThinking)(_piece)
