"""Cards as shinychat's blocks: data that its page draws. A request is a waiting line, and the result with the same id
replaces it. It needs the extra `shiny`; the shapes are those of shinychat 0.7.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, cast

from htmltools import HTML, HTMLDependency, Tag, TagList, tags
from shinychat.types import ChatMessage

from ..base.printable_text import revealed
from ..contents.content import ContentToolRequest, ContentToolResult
from .html import media_html
from .markup import literal
from .tool_card import Card, card, value_text


def request_message(request: ContentToolRequest) -> ChatMessage:
    """Returns a call that waits for its result, with a place for its progress."""
    shown, message = card(request), ChatMessage("")
    block = _common(shown, message) | {"type": "tool_request", "arguments": _code(shown.arguments)}
    return _waiting(message, block, request)


def result_message(result: ContentToolResult) -> ChatMessage:
    """Returns a finished call with its result, folded unless the result is to be seen."""
    shown, message = card(result), ChatMessage("")
    display = shown.display
    block = _common(shown, message) | _looks(shown) | {
        "type": "tool_result",
        "status": "error" if shown.status == "error" else "success",  # shinychat knows no other
        "request_call": _call(shown.request),
        "value": _value(shown, message),
        "value_type": "html" if shown.kind == "media" else shown.kind,
    }  # fmt: skip
    if "footer" in display:
        block["footer"] = _html(display["footer"], message)
    return _with_block(message, block)


def next_block() -> ChatMessage:
    """Returns a separator block, so that the text before it is not drawn again however long the answer becomes."""
    return _with_block(ChatMessage(""), {"type": "html_block", "version": 1, "content": ""})


def in_place(content: ContentToolRequest | ContentToolResult, shown: ChatMessage) -> ChatMessage:
    """Returns the display of a custom class in the place of its tool call. Without it, it would be shown beside the
    call.
    """
    if any(block["type"].startswith("tool_") for block in shown.blocks):
        return shown
    html = "".join(str(block.get("content", "")) for block in shown.blocks)
    message = ChatMessage("")
    message.html_deps = list(shown.html_deps)
    block = _common(card(content), message)
    if isinstance(content, ContentToolRequest):
        block |= {"type": "tool_request", "title": html or escape(shown.content)}
        return _waiting(message, block | {"arguments": _code(card(content).arguments)}, content)
    return _with_block(message, block | _preview(card(content)) | _own(content, html, shown))


def progress_script() -> HTMLDependency:
    """Returns the script that shows progress beside waiting calls."""
    return HTMLDependency(
        "ellmer-progress",
        "1",
        source={"package": "ellmer_core", "subdir": "render/www"},
        script={"src": "progress.js"},
    )


def page_scripts(image_hosts: Sequence[str]) -> list[Tag | HTMLDependency]:
    """Returns the scripts and styles of the chat app's page. A click shows images of these hosts."""
    app = HTMLDependency(
        "ellmer-app",
        "1",
        source={"package": "ellmer_core", "subdir": "render/www"},
        stylesheet={"href": "app.css"},
        script=[{"src": f"{name}.js", "type": "module"} for name in ("app", "conversations", "contents")],
    )
    return [progress_script(), app, tags.meta(name="ellmer-image-hosts", content=" ".join(image_hosts))]


def _own(result: ContentToolResult, html: str, shown: ChatMessage) -> dict[str, Any]:
    """Returns the block of a result with its class's own display."""
    return {
        "type": "tool_result",
        "status": "success" if result.error is None else "error",
        "value": html or shown.content,
        "value_type": "html" if html else shown.content_type,
        "show_request": False,
        "custom_display": True,
    }


def _waiting(message: ChatMessage, block: dict[str, Any], request: ContentToolRequest) -> ChatMessage:
    block["title"] += f' <ellmer-progress call="{escape(request.id)}"></ellmer-progress>'
    message.html_deps.append(progress_script())
    return _with_block(message, block)


def _common(shown: Card, message: ChatMessage) -> dict[str, Any]:
    """Returns the common fields of requests and results."""
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


def _looks(shown: Card) -> dict[str, Any]:
    """Returns the layout fields of a result's block."""
    display = shown.display
    return (
        _preview(shown)
        | ({"label": shown.label} if shown.label else {})
        | {
            "show_request": display.get("show_request", True),
            "expanded": shown.open,
            "full_screen": display.get("full_screen", False),
            "open_style": "framed" if shown.block else "minimal",
        }
    )


def _preview(shown: Card) -> dict[str, str]:
    """Returns the result in a few words, after any decision. A group of calls has only this place for each call."""
    decision = "denied" if shown.status == "denied" else shown.decision
    words = [word for word in (decision, shown.display.get("value_preview")) if word]
    return {"value_preview": " · ".join(words)} if words else {}


def _call(request: ContentToolRequest) -> str:
    call = {"id": request.id, "name": request.name, "arguments": dict(request.arguments)}
    return revealed(json.dumps(call, ensure_ascii=False, indent=2, default=value_text))


def _value(shown: Card, message: ChatMessage) -> str:
    match shown.kind:
        case "html":
            return _html(shown.body, message)
        case "media":
            return media_html(shown.body, shown.title)
        case "markdown":
            return literal(str(shown.body))
        case "text":
            return str(shown.body)
    return _code(str(shown.body))


def _code(text: str) -> str:
    """Returns the value as a code block between fences of eight marks. The value has no eight marks in a row."""
    return re.sub("`{7}", "\\g<0>\u200b", text)


def _html(trusted: Any, message: ChatMessage) -> str:
    """Returns the author's HTML, a string or tags, with its dependencies."""
    rendered = TagList(HTML(trusted) if isinstance(trusted, str) else trusted).render()
    message.html_deps += rendered["dependencies"]
    return str(rendered["html"])


def _with_block(message: ChatMessage, block: Mapping[str, Any]) -> ChatMessage:
    message.segments = [*message.segments, cast("Any", dict(block))]
    return message
