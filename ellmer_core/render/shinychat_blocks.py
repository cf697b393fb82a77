"""Cards as shinychat's blocks: data that its page draws. A request is a line that waits, and the result of the
same id takes its place. Needs the extra `shiny`; the shapes are those of shinychat 0.7."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, cast

from htmltools import HTML, HTMLDependency, Tag, TagList, tags
from shinychat.types import ChatMessage

from ..contents.tool_requests_and_results import ContentToolRequest, ContentToolResult
from .html import media_html
from .markup_escaping import literal
from .tool_card import Card, card, value_text

__all__ = ["in_place", "next_block", "page_scripts", "progress_script", "request_message", "result_message"]


def request_message(request: ContentToolRequest) -> ChatMessage:
    """Returns a call that waits for its result, with a place for what the tool says meanwhile."""
    shown, message = card(request), ChatMessage("")
    block = _common(shown, message) | {"type": "tool_request", "arguments": _code(shown.arguments)}
    return _waiting(message, block, request)


def result_message(result: ContentToolResult) -> ChatMessage:
    """Returns a call that is done: the call and what came of it, folded unless it is to be seen."""
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
    """Nothing to be seen: the text before it is drawn no more, however long the answer becomes."""
    return _with_block(ChatMessage(""), {"type": "html_block", "version": 1, "content": ""})


def in_place(content: ContentToolRequest | ContentToolResult, shown: ChatMessage) -> ChatMessage:
    """Returns what a class of yours looks like, in the place of its tool call, beside which it would stand else."""
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
    """Returns what fills the place that each waiting line has for what its tool says."""
    return HTMLDependency(
        "ellmer-progress",
        "1",
        source={"package": "ellmer_core", "subdir": "render/www"},
        script={"src": "progress.js"},
    )


def page_scripts(image_hosts: Sequence[str]) -> list[Tag | HTMLDependency]:
    """Returns what the chat app's page does beside shinychat, and its looks; it shows images of these hosts on a click."""
    app = HTMLDependency(
        "ellmer-app",
        "1",
        source={"package": "ellmer_core", "subdir": "render/www"},
        stylesheet={"href": "app.css"},
        script={"src": "app.js", "type": "module"},
    )
    return [progress_script(), app, tags.meta(name="ellmer-image-hosts", content=" ".join(image_hosts))]


def _own(result: ContentToolResult, html: str, shown: ChatMessage) -> dict[str, Any]:
    """Returns the block of a result that looks as its class says."""
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
    """Returns what the blocks of requests and results share."""
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
    """Returns how the block of a result is laid out."""
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
    """Returns the result in a word, after what somebody decided: the one place that each call of a group has
    for itself.
    """
    decision = "denied" if shown.status == "denied" else shown.decision
    words = [word for word in (decision, shown.display.get("value_preview")) if word]
    return {"value_preview": " · ".join(words)} if words else {}


def _call(request: ContentToolRequest) -> str:
    call = {"id": request.id, "name": request.name, "arguments": dict(request.arguments)}
    return json.dumps(call, ensure_ascii=False, indent=2, default=value_text)


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
    """Returns what shinychat shows between two fences of eight marks: it holds no eight in a row."""
    return re.sub("`{7}", "\\g<0>\u200b", text)


def _html(trusted: Any, message: ChatMessage) -> str:
    """Returns the author's HTML, a string or tags; what it depends on goes with the message."""
    rendered = TagList(HTML(trusted) if isinstance(trusted, str) else trusted).render()
    message.html_deps += rendered["dependencies"]
    return str(rendered["html"])


def _with_block(message: ChatMessage, block: Mapping[str, Any]) -> ChatMessage:
    message.segments = [*message.segments, cast("Any", dict(block))]
    return message
