"""Conversations as Markdown and as plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import singledispatch
from itertools import groupby
from typing import Any, assert_never

from ..contents.content import (
    Content,
    ContentCitation,
    ContentFile,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
    any_content,
    contents_in,
    is_media,
)
from ..contents.turns import AssistantPartialTurn, AssistantTurn, Turn, UserTurn
from ..conversation.history import merged
from ..conversation.repaired_turns import NEVER_CALLED
from ..errors import UsageError
from .citation_footnotes import source_link, sources_markdown

__all__ = ["contents_markdown", "contents_text"]


# --- turns as sections -----------------------------------------------------------------------------------


Render = Callable[[Any], str | None]

#: The text that `flatten()` puts around media for the model. Our history does not have it, but an imported one may.
TAGS = re.compile(
    r'(?>(?:\s*+(?:<content(?>(?: tool-call-id="[^"]*+")?)(?>(?: item="[^"]*+")?)>|</content>))+)\s*+'
)


def is_tag(content: Content) -> bool:
    """Tells whether a content is a text that is only for the model."""
    return isinstance(content, ContentText) and bool(TAGS.fullmatch(content.text))


def media_of(result: ContentToolResult) -> list[Content]:
    """Returns the images and files of a tool's result, in order."""
    if result.error is not None:
        return []
    return [content for content in contents_in(result.value) if is_media(content)]


def shown(contents: Sequence[Content], render: Render) -> list[str]:
    """Returns the visible parts of some contents, rendered."""
    return [text for text in map(render, _cited_whole(contents)) if text]


def sides(turns: Sequence[Turn]) -> Iterator[tuple[str, list[Content]]]:
    """Yields a role and its contents while the role stays the same. Tool results belong to the answer with their
    calls.
    """
    parts = [(_side(turn, content), content) for turn in turns for content in turn.contents]
    for role, group in groupby(parts, key=lambda pair: pair[0]):
        yield role, [content for _, content in group]


def sections(turns: Sequence[Turn], render: Render) -> Iterator[tuple[str, list[str]]]:
    """Renders the sections of `sides()`. A section without visible content is left out."""
    rendered = [(role, text) for role, contents in sides(turns) for text in shown(contents, render)]
    for role, group in groupby(rendered, key=lambda pair: pair[0]):
        yield role, [text for _, text in group]


def turns_of(value: Any) -> list[Turn]:
    """Returns the turns of a list of turns, or of a chat (anything that has `get_turns()`)."""
    turns = value.get_turns() if hasattr(value, "get_turns") else value
    if isinstance(turns, (list, tuple)) and all(isinstance(turn, Turn) for turn in turns):
        return list(turns)
    raise UsageError(f"Pass a content, a turn, a list of turns or a chat, not {type(value).__name__}.")


def turns_shown(value: Any) -> list[Turn]:
    """Returns the turns of a value, complete for display: each tool request has its result, and a partial answer has a
    note.
    """
    turns, history = turns_of(value), getattr(value, "_history", None)
    if history and history.open_requests and turns[-1] is history.turns[-1]:
        turns.append(history.reply(()))
    return [noted(turn) for turn in _closed(turns)]


def _closed(turns: Sequence[Turn]) -> Iterator[Turn]:
    """Yields the turns, with a result for each request but those of the last turn."""
    requests: tuple[ContentToolRequest, ...] = ()
    for turn in turns:
        answered = {result.id for result in turn.tool_results} if isinstance(turn, UserTurn) else set()
        missing = [ContentToolResult(error=NEVER_CALLED, request=r) for r in requests if r.id not in answered]
        if missing and isinstance(turn, UserTurn):
            yield UserTurn((*missing, *turn.contents))
        else:
            yield from [UserTurn(missing), turn] if missing else [turn]
        requests = turn.tool_requests if isinstance(turn, AssistantTurn) else ()


def note(turn: Turn | None) -> list[Content]:
    """Returns the note after a partial answer."""
    return [ContentText(f"\n\n*[{turn.reason}]*")] if isinstance(turn, AssistantPartialTurn) else []


def noted(turn: Turn) -> Turn:
    """Returns the turn with its note."""
    return AssistantTurn([*turn.contents, *note(turn)]) if isinstance(turn, AssistantPartialTurn) else turn


def _side(turn: Turn, content: Content) -> str:
    return "assistant" if isinstance(content, ContentToolResult) else turn.role


def _cited_whole(contents: Sequence[Content]) -> list[Content]:
    """Returns the contents with joined texts and without tags. Providers split a text with citations into parts."""
    whole: list[Content] = []
    visible = (content for content in contents if not is_tag(content))  # before texts are joined
    for is_text, group in groupby(visible, key=lambda content: type(content) is ContentText):
        parts = list(group)
        cited = is_text and any(part.citations for part in parts if isinstance(part, ContentText))
        whole += merged(parts) if cited else parts
    return whole


# --- Markdown --------------------------------------------------------------------------------------------


#: The characters that would end the address of a link.
_IN_A_LINK = {ord(character): f"%{ord(character):02X}" for character in " ()<>\n"}


@singledispatch
def contents_markdown(value: Any) -> str | None:
    """Renders a content, a turn, a list of turns or a chat as Markdown.

    Several turns each have a heading, `## User` or `## Assistant`.

    Args:
        value: The content, turn, list of turns, or chat.

    Returns:
        The Markdown; `None` for a content that has nothing to show.

    Examples:
        >>> contents_markdown(ContentText("**Hello**"))
        '**Hello**'
    """
    parts = sections(turns_of(value), contents_markdown)
    return "\n\n".join("\n\n".join([f"## {role.capitalize()}", *texts]) for role, texts in parts)


@contents_markdown.register(Content)
def _(content: Content) -> str | None:  # noqa: C901, PLR0911 - one case per class
    match any_content(content):
        case ContentText(text=text, citations=citations):
            return "\n\n".join(filter(None, [text, sources_markdown(citations)]))
        case ContentCitation() as citation:
            return f"Source: {source_link(citation)}"
        case ContentThinking(thinking=thinking):
            return f"<thinking>\n{thinking}\n</thinking>\n" if thinking else None
        case ContentImageInline(type=type, data=data):
            return f"![](data:{type};base64,{data})"
        case ContentImageRemote(url=url):
            return f"![]({url.translate(_IN_A_LINK)})"
        case ContentPDF(filename=filename):
            return f"`[PDF: {filename}]`"
        case ContentFile(filename=filename):
            return f"`[file: {filename}]`"
        case ContentUploaded(type=type):
            return f"`[uploaded {type} file]`"
        case ContentJson(value=value):
            return f"```json\n{json.dumps(value, ensure_ascii=False, indent=2)}\n```"
        case ContentToolResult() as result:
            return "\n\n".join(shown(media_of(result), contents_markdown)) or None
        case ContentUnknown() | ContentToolRequest() | None:
            return None
        case never:
            assert_never(never)


@contents_markdown.register(Turn)
def _(turn: Turn) -> str:
    return "\n\n".join(shown(turn.contents, contents_markdown))


# --- Markdown in notebooks -------------------------------------------------------------------------------


#: The beginning of an image whose bytes are not here, and that of an element of HTML.
_LOADS = re.compile(
    r"!(?=\[)(?!\[\]\(data:image/[\w.+-]{1,50};base64,[A-Za-z0-9+/=]*+\))|<(?=[A-Za-z/!?])", re.ASCII
)


def loads(markdown: str) -> bool:
    """Tells whether Markdown may load something when a notebook shows it: a model can send what it knows to any address in this way."""
    return _LOADS.search(markdown) is not None


def notebook_markdown(value: Any) -> str:
    """Renders a content, a turn, a list of turns or a chat as Markdown that loads nothing."""
    return loading_nothing(contents_markdown(value) or "")


def loading_nothing(markdown: str) -> str:
    """Returns Markdown in which an image at an address is a link, and HTML is text. In code they have entities, because notebooks differ
    in where code ends.
    """
    return _LOADS.sub(lambda found: f"&#{ord(found[0])};", markdown).replace("&#33;[](", "&#33;[image](")


# --- plain text ------------------------------------------------------------------------------------------


@singledispatch
def contents_text(value: Any) -> str | None:
    """Returns the text of a content, a turn, a list of turns or a chat.

    Several turns are each enclosed in `<user>` and `</user>`, or `<assistant>` and `</assistant>`.

    Args:
        value: The content, turn, list of turns, or chat.

    Returns:
        The text; `None` for a content that is not text.

    Examples:
        >>> contents_text(ContentText("Hello"))
        'Hello'
    """
    parts = sections(turns_of(value), contents_text)
    return "\n\n".join(f"<{role}>\n{''.join(texts)}\n</{role}>" for role, texts in parts)


@contents_text.register(Content)
def _(_content: Content) -> None:
    return None


@contents_text.register(ContentText)
def _(content: ContentText) -> str:
    return content.text


@contents_text.register(Turn)
def _(turn: Turn) -> str:
    return "".join(shown(turn.contents, contents_text))
