"""Chats, turns, contents and tools for rich, in `Console().print(chat)`: text as Markdown, and other content in its
printed form, in the width of the terminal.
"""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.rule import Rule
from rich.text import Text

from ..contents.content import Content, ContentText, ContentThinking, ContentToolResult, ToolDef, replaced
from ..contents.turns import AssistantTurn, Turn
from ..conversation.request import conversation_as_sent
from .citation_footnotes import sources_markdown
from .printed_form import format_content, header, labels, visible

#: Characters that a terminal would obey. Neither a model nor a tool has a say in that.
CONTROLS = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def renderable(value: Any) -> RenderableType:
    """Returns the rich renderable of a content, a turn, a tool or a chat."""
    match value:
        case ContentText():
            return Markdown(safe("\n\n".join(filter(None, [value.text, sources_markdown(value.citations)]))))
        case ContentToolResult(value=ContentText(text), error=None) if "\n" in text:
            label = format_content(replaced(value, value=""))
            return Group(Text(safe(label.partition("]: ")[0] + "]:")), Markdown(safe(text)))
        case Content():
            return _printed(value)
        case Turn():
            [label] = labels([value])
            return _turn(value, label if isinstance(value, AssistantTurn) else value.role)
        case ToolDef():
            return Text.assemble((repr(value), "bold"), "\n", (safe(value.description), "dim"))
    turns = value.get_turns(include_system_prompt=True)
    first = Text(safe(header(value.wire.provider, value.wire.model, turns)), style="bold")
    shown = conversation_as_sent(value.wire, turns)
    return Group(
        first, *(_turn(turn, label, sent=True) for turn, label in zip(shown, labels(shown), strict=True))
    )


def safe(text: str) -> str:
    """Returns the text without terminal control characters."""
    return text.translate(CONTROLS)


def _turn(turn: Turn, label: str, *, sent: bool = False) -> Group:
    rule = Rule(Text(safe(label)), align="left")
    return Group(rule, *map(renderable, visible(turn, as_sent=sent)))


def _printed(content: Content) -> Text:
    style = "dim italic" if isinstance(content, ContentThinking) else ""
    if isinstance(content, ContentToolResult) and content.error is not None:
        style = "red"
    return Text(safe(format_content(content)).rstrip("\n"), style=style)
