"""The parts of the chat page beside the messages: errors, decisions, and the status."""

from __future__ import annotations

from htmltools import HTML, Tag, TagList, tags

from .._chat.chat import Chat
from ..contents.content import ContentToolRequest
from ..render.tool_card import card

__all__ = ["question_tag", "status_bar", "status_text", "toolbar", "trouble_tag"]


def trouble_tag(words: str, detail: str, *, retry: bool = False) -> Tag:
    """Returns the box for an error, with a hint on what to do."""
    return tags.div(
        tags.p(tags.strong(words)),
        tags.p(detail, class_="ellmer-detail") if detail else None,
        _button("Retry", "retry") if retry else None,
        _button("Edit", "edit") if retry else None,
        class_="ellmer-trouble",
        role="alert",
    )


def question_tag(request: ContentToolRequest) -> Tag:
    """Returns the box for a call that needs a decision."""
    shown = card(request)
    return tags.div(
        tags.p(tags.strong(f"{shown.title}?"), " The model wants to run this call. Decide whether it may."),
        tags.label(
            "Arguments",
            tags.textarea(shown.arguments, rows=min(12, shown.arguments.count("\n") + 1), spellcheck="false"),
        ),
        tags.p("This is not a JSON object.", class_="ellmer-detail", role="alert", hidden=""),
        _button("Approve", "approve", primary=True),
        _button("Deny", "deny"),
        class_="ellmer-question",
        role="group",
        aria_label=f"Decide: {shown.title}",
        data_ellmer_question=request.id,
    )


def toolbar() -> TagList:
    """Returns the buttons for the conversation."""
    return TagList(
        _button("New chat", "new"),
        _button("Undo", "undo", title="Undo the last exchange"),
        _button("Edit", "edit", title="Undo the last message, and edit it"),
    )


def status_bar() -> Tag:
    """Returns the bar for the model, the tokens and the cost."""
    return tags.div(HTML("&nbsp;"), id="ellmer-status", class_="ellmer-status")


def status_text(chat: Chat) -> str:
    """Returns `claude-sonnet-5 · 1,204 tokens in, 88 out · $0.01`, without unknown parts."""
    rows, cost = chat.get_tokens(), chat.get_cost()
    parts = [chat.get_model()]
    if rows:
        into, out = (sum(row[name] or 0 for row in rows) for name in ("input", "output"))
        parts.append(f"{into:,} tokens in, {out:,} out")
    if rows and cost is not None:
        parts.append(f"${cost:.4f}" if cost < 0.1 else f"${cost:.2f}")
    return " · ".join(parts)


def _button(label: str, do: str, *, primary: bool = False, title: str | None = None) -> Tag:
    kind = "primary" if primary else "outline-secondary"
    return tags.button(label, type="button", class_=f"btn btn-sm btn-{kind}", data_ellmer=do, title=title)
