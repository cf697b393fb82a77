"""A tool call in a form for people: one value, which the chat app, HTML pages and the terminal each render."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from ..base.printable_text import revealed
from ..contents.content import (
    Content,
    ContentJson,
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    ContentUploaded,
    Path,
    contents_in,
    in_words,
    is_media,
    mapped,
)
from ..errors import EllmerWarning, ToolReject, error_message
from .printed_form import format_content

__all__ = ["Card", "ToolResultDisplay", "card", "value_text"]

Kind = Literal["code", "text", "markdown", "html", "media"]


class ToolResultDisplay(TypedDict, total=False):
    """How a tool result is shown to people. The model never sees it.

    The first of `html`, `markdown` and `text` that is set is shown in place of the value. A display is a dictionary, so
    a result that has one can be recorded if its fields are strings.

    Args:
        title: Title of the card. Default: the title of the tool.
        label: A text that distinguishes this call from other calls of the tool; it is shown in the line. Default: the
            first argument of the call.
        value_preview: The result in a word; it is shown in the line. Default: none.
        icon: Trusted HTML of an icon. Default: none.
        html: Trusted HTML: a string or htmltools tags. Default: none.
        markdown: Markdown; HTML in it is shown as text. Default: none.
        text: Plain text. Default: none.
        footer: Trusted HTML under the result. Default: none.
        style: `"inline"` (a line that opens) or `"block"` (an open frame). Default: the annotation `display`.
        open: Whether the card is open at first. Default: `True` for `"block"` and for images, else `False`.
        show_request: Whether the arguments of the call are shown. Default: `True`.
        full_screen: Whether the card can fill the window. Default: `False`.
        open_style: shinychat's name for `style`: `"minimal"` or `"framed"`. Default: that of `style`.

    Examples:
        >>> display = ToolResultDisplay(markdown="**3 flights**", title="Flights")
        >>> ContentToolResult("3", extra={"display": display}).value
        '3'
    """

    title: str
    label: str
    value_preview: str
    icon: Any
    html: Any
    markdown: str
    text: str
    footer: Any
    style: Literal["inline", "block"]
    open: bool
    show_request: bool
    full_screen: bool
    open_style: Literal["minimal", "framed"]  # shinychat's word for `style`


@dataclass(frozen=True)
class Card:
    """A tool call. `body` is a string or a tag, or for `kind` `"media"` a list of contents and other values."""

    request: ContentToolRequest
    title: str
    status: Literal["running", "success", "error", "denied"] = "running"
    body: Any = ""
    kind: Kind = "code"
    icon: Any = None
    grouping: str | None = None
    display: Mapping[str, Any] = field(default_factory=dict)
    decision: str = ""

    @property
    def arguments(self) -> str:
        """The arguments as readable JSON, or as the model's text if it is not JSON."""
        if self.request.problem:
            return revealed(self.request.raw or "")
        return revealed(_json({k: v for k, v in self.request.arguments.items() if k != "_intent"}))

    @property
    def call(self) -> str:
        """The call in one line, as it is printed: `get_weather(city = "Köln")`."""
        return revealed(format_content(self.request).partition("]: ")[2])

    @property
    def intent(self) -> str:
        """The model's reason for the call, if it gives one (in the argument `_intent`)."""
        return str(self.request.arguments.get("_intent") or "")

    @property
    def label(self) -> str:
        """The text that distinguishes this call from others of the tool: the display's own label, else its first
        argument. It is empty if the title depends on the arguments.
        """
        notes, arguments = _annotations(self.request), self.request.arguments
        if "label" in self.display or callable(notes.get("title")) or "title" in self.display:
            return str(self.display.get("label", ""))
        named = [*self.request.tool.arguments.properties] if self.request.tool else [*arguments]
        value = next((arguments[name] for name in named if name in arguments), "")
        return " ".join(str(value).split())[:60] if isinstance(value, (str, int, float)) else ""

    @property
    def block(self) -> bool:
        """Whether it is shown in its own frame, not as a line."""
        default = _annotations(self.request).get("display", "inline")
        framed = self.display.get("open_style") == "framed"
        return bool(self.display.get("style", "block" if framed else default) == "block")

    @property
    def open(self) -> bool:
        """Whether its body is unfolded at first. Media are."""
        media = self.kind == "media" and any(
            isinstance(each, Content) and is_media(each) for each in self.body
        )
        return bool(self.display.get("open", self.block or media))


def card(content: ContentToolRequest | ContentToolResult) -> Card:
    """Returns the card of a request, or of a result, which replaces its request's card."""
    if isinstance(content, ContentToolRequest):
        notes = _annotations(content)
        return Card(content, _title(content), icon=notes.get("icon"), grouping=_grouping(content))
    request = content.request or ContentToolRequest("", "tool")
    display = _display(content)
    body, kind = _body(content, display)
    return Card(
        request,
        str(display.get("title") or _own_title(content) or _title(request)),
        _status(content),
        body,
        kind,
        display.get("icon") or _annotations(request).get("icon"),
        _grouping(request),
        display,
        content.decision,
    )


def value_text(value: Any) -> str:
    """Returns a tool's value for people: text unchanged, other values as indented JSON. It never raises."""
    match value:
        case str():
            return value
        case ContentText(text):
            return text
        case ContentJson(inner):
            return _json(inner)
        case Content():
            return str(value)
    return _json(value)


def _status(result: ContentToolResult) -> Literal["success", "error", "denied"]:
    if result.error is None:
        return "denied" if result.decision == "denied" else "success"
    told = error_message(result.error)
    rejected = isinstance(result.error, ToolReject) or told.startswith("Tool call rejected.")
    return "denied" if rejected or result.decision == "denied" else "error"


def _title(request: ContentToolRequest) -> str:
    """Returns the title of a request: its own, else its tool's, else the name in words."""
    title = request.tool.title(request.arguments) if request.tool else in_words(request.name)
    return revealed(_own_title(request) or title, line=True)


def _own_title(content: Content) -> str:
    """Returns a class's own `title`. If that raises, there is none, because a title is only decoration."""
    try:
        return str(getattr(content, "title", None) or "")
    except Exception:  # noqa: BLE001 - a class of the program may raise anything
        return ""


def _annotations(request: ContentToolRequest) -> Mapping[str, Any]:
    return request.tool.annotations if request.tool else {}


def _grouping(request: ContentToolRequest) -> str | None:
    """Returns whether calls of one tool share a line. They do not if each has its own title."""
    notes = _annotations(request)
    grouping = notes.get("grouping", "none" if callable(notes.get("title")) else None)
    return grouping if grouping in {"none", "tool", "all"} else None


def _display(result: ContentToolResult) -> dict[str, Any]:
    """Returns the display of a result, also if it is shinychat's own `ToolResultDisplay`."""
    value = result.extra.get("display", {})
    display = dict(value) if isinstance(value, Mapping) else dict(getattr(value, "__dict__", {}))
    unknown = display.keys() - ToolResultDisplay.__annotations__.keys()
    if unknown or not (isinstance(value, Mapping) or display):
        what = ", ".join(map(repr, sorted(unknown, key=str))) or repr(value)
        names = ", ".join(ToolResultDisplay.__annotations__)
        message = f'extra["display"] of a result is a ToolResultDisplay ({names}), which has no {what}.'
        warnings.warn(message, EllmerWarning, stacklevel=2)
    return {name: value for name, value in display.items() if value is not None and name not in unknown}


def _body(result: ContentToolResult, display: Mapping[str, Any]) -> tuple[Any, Kind]:
    if result.error is not None:
        return error_message(result.error), "code"
    for kind in ("html", "markdown", "text"):
        if kind in display:
            return display[kind], kind
    if isinstance(result.value, ContentText):
        return result.value.text, "markdown"
    shown = [content for content in contents_in(result.value) if _apart(content)]
    if not shown:
        return value_text(result.value), "code"
    items = list(result.value) if isinstance(result.value, (list, tuple)) else [result.value]
    if all(any(content is item for item in items) for content in shown):
        return items, "media"
    return [value_text(mapped(result.value, _pointer)), *shown], "media"


def _apart(content: Content) -> bool:
    """Returns whether a content in a value is shown after it: media, and text of several lines, such as a table."""
    if isinstance(content, ContentText):
        return "\n" in content.text
    return is_media(content) and not isinstance(content, ContentUploaded)


def _pointer(content: Content, path: Path) -> Any:
    where = ("item " if isinstance(path[0], int) else "") + ".".join(map(str, path))
    return f"[see below: {where}]" if _apart(content) else content


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, default=_inside)
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def _inside(value: Any) -> str:
    """Returns what is shown for a value inside of JSON that JSON does not have."""
    return value_text(value) if isinstance(value, Content) else f"<{type(value).__name__}>"
