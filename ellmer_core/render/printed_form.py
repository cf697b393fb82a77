"""The printed form of contents, turns and chats. `docs/chat/transcript.md` lists every form. The forms do not change.

The printed text is the model's input: a rich tool result is its pointer, followed by the content (`flatten()`), while
the history keeps the value. Printing never raises, whatever a tool returned.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, zip_longest
from typing import Any, TypeGuard, assert_never
from unicodedata import combining, east_asian_width

from ..base.printable_text import printable
from ..contents.content import (
    Content,
    ContentCitation,
    ContentFile,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentProviderCall,
    ContentProviderResult,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
    any_content,
    replaced,
)
from ..contents.turns import AssistantPartialTurn, AssistantTurn, Turn, UserTurn
from ..errors import error_message
from ..tools.results import flatten, result_parts, result_text
from .citation_footnotes import source_line, sources_text

WIDTH = 80  # columns of a rule between turns, and at most of a tool call or an unknown block


def format_value(value: Content | Turn) -> str:
    """Returns the printed form of a content or a turn."""
    return format_turn(value) if isinstance(value, Turn) else format_content(value)


def format_content(content: Content) -> str:
    """Returns a content as text, for example the line of a tool result without the content that it points at."""
    try:
        return printable(_content(content))
    except Exception:  # noqa: BLE001 - printing a conversation must not end it
        return f"[{type(content).__name__}]"


def format_turn(turn: Turn) -> str:
    """Returns a turn: its role, and its contents one after the other."""
    return printable("\n".join([f"<Turn: {turn.role}{_partial(turn)}>", *map(format_content, visible(turn))]))


def format_chat(
    provider: str, model: str, turns: Sequence[Turn], unsent: Turn | None = None, *, as_sent: bool = False
) -> str:
    """Returns a whole chat: the tokens in and out and, if known, US dollars; then each turn under its own rule.

    An answer's rule shows its output tokens. A user turn's rule shows its own input tokens: those of its answer minus
    those (in and out) of the previous answer. If that is negative, there is no number: providers do not count
    reasoning and images again. `?` means unknown. `unsent` are the results that are sent with the next request. With
    `as_sent`, the turns are as the model gets them.
    """
    lines = [header(provider, model, turns)]
    for turn, label in zip(turns, labels(turns), strict=True):
        lines += [_rule(label), *map(format_content, visible(turn, as_sent=as_sent))]
    if unsent is not None:
        lines += [
            _rule(f"{unsent.role} [not sent yet]"),
            *map(format_content, visible(unsent, as_sent=as_sent)),
        ]
    return printable("\n".join(lines))


def visible(turn: Turn, *, as_sent: bool = False) -> list[Content]:
    """Returns the contents that have a line; a signed thought without text has none. If the turn is `as_sent`, media that
    are still in a result are sent there, and are named there.
    """
    contents = [_with_media(c) for c in turn.contents] if as_sent else flatten(turn.contents)
    return [content for content in contents if not is_silent(content)]


def _with_media(content: Content) -> Content:
    parts = result_parts(content) if isinstance(content, ContentToolResult) else None
    return replaced(content, value="\n".join(map(format_content, parts))) if parts else content


def is_silent(content: Content) -> bool:
    """Tells whether a content has nothing to print."""
    words = {ContentText: "text", ContentThinking: "thinking"}
    return any(isinstance(content, kind) and not getattr(content, name) for kind, name in words.items())


# contents ---------------------------------------------------------------------------------------------------


def _content(content: Content) -> str:  # noqa: C901, PLR0911, PLR0912 - one case per class
    match any_content(content):
        case ContentText(text=text, citations=citations):
            return "\n".join(filter(None, [text, sources_text(citations)]))
        case ContentCitation() as citation:
            return f"[source]: {source_line(citation)}"
        case ContentThinking(thinking=thinking):
            return f"<thinking>\n{thinking}\n</thinking>\n"
        case ContentImageRemote(url=url):
            return f"[remote image]: {url}"
        case ContentImageInline():
            return "[inline image]"
        case ContentPDF():
            return "<PDF document>"
        case ContentFile(filename=filename, type=type):
            return f"[file]: {filename} ({type})"
        case ContentJson(value=value):
            return f"[data] {json.dumps(value, ensure_ascii=False, indent=2)}"
        case ContentUploaded(type=type):
            return f"[uploaded file]: {type}"
        case ContentToolRequest(id=id) as request:
            return f"[tool request ({id})]: {_call(request)}"
        case ContentToolResult(id=id) as result:
            return f"[tool result  ({id}){_decision(result)}]: {_on_its_own_lines(_outcome(result))}"
        case ContentProviderCall() as call:
            both = (call.request, call.result)
            parts = both[1:] if isinstance(call, ContentProviderResult) else both
            return "\n".join(_content(part) for part in parts if part)
        case ContentUnknown(wire=wire, data=data):
            return f"[unknown content ({wire})]: {_cut(_json(dict(data)), '...')}"
        case None:
            return f"[{content.__class__.__name__}]"
        case never:
            assert_never(never)


def _decision(result: ContentToolResult) -> str:
    if result.decision == "edited" and result.request:
        return f", edited to {_call(result.request)}"
    return f", {result.decision}" if result.decision else ""


def _call(request: ContentToolRequest) -> str:
    if request.problem is not None:  # not every format keeps the text of a call that it cut
        return f"{request.name}(...)"
    arguments = ", ".join(f"{name} = {_json(value)}" for name, value in request.arguments.items())
    return _cut(f"{request.name}({arguments})", "...)")


def _outcome(result: ContentToolResult) -> str:
    if result.error is not None:
        return f"Error: {error_message(result.error)}"
    try:
        return result_text(result)
    except Exception:  # noqa: BLE001 - a value that cannot be sent can still be printed
        return "<tool result preview not available>"


def _on_its_own_lines(text: str) -> str:
    return f"\n{text}" if "\n" in text else text


def _json(value: Any) -> str:
    return json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), default=lambda v: f"<{type(v).__name__}>"
    )


# chats ------------------------------------------------------------------------------------------------------


def _complete(turn: Turn | None) -> TypeGuard[AssistantTurn]:
    """Tells whether the answer is complete. The usage of an incomplete one is unknown."""
    return isinstance(turn, AssistantTurn) and not turn.lost


def header(provider: str, model: str, turns: Sequence[Turn]) -> str:
    """Returns the first line of a printed chat."""
    answers = list(filter(_complete, turns))
    tokens = f"{_sum(a.tokens.input for a in answers)}/{_sum(a.tokens.output for a in answers)}"
    costs = [a.cost for a in answers if a.cost is not None]
    dollars = f" ${sum(costs):.2f}" if costs and len(costs) == len(answers) else ""
    return f"<Chat {provider}/{model} turns={len(turns)} tokens={tokens}{dollars}>"


def labels(turns: Sequence[Turn]) -> Iterator[str]:
    """Yields the labels over each turn: role and tokens.

    The number of an assistant turn is the output of its request. The number of a user turn is what the turn added to
    the input: the difference between two requests, since providers do not count single turns.
    """
    before: int | None = 0  # tokens in and out of the last complete answer
    for turn, following in zip_longest(turns, turns[1:]):
        if _complete(turn):
            yield f"{turn.role} [{_sum([turn.tokens.output])}]{_partial(turn)}"
            before = _total([turn.tokens.input, turn.tokens.output])
        elif isinstance(turn, UserTurn):
            after = following.tokens.input if _complete(following) else None
            yield turn.role + _added(before, after)
        else:
            yield turn.role + (_partial(turn) or " [0]")


def _added(before: int | None, after: int | None) -> str:
    """Returns the tokens that a turn added to the input: `[?]` if a count is unknown, nothing if the counts do not fit."""
    if before is None or after is None:
        return " [?]"
    return f" [{after - before}]" if after >= before else ""


def _total(counts: Iterable[int | None]) -> int | None:
    numbers = list(counts)
    return None if None in numbers else sum(filter(None, numbers))


def _sum(counts: Iterable[int | None]) -> str:
    total = _total(counts)
    return "?" if total is None else str(total)


def _partial(turn: Turn) -> str:
    return f" [{turn.reason}]" if isinstance(turn, AssistantPartialTurn) else ""


def _rule(label: str) -> str:
    rule = f"── {' '.join(label.split())} "
    return rule + "─" * max(2, WIDTH - _columns(rule))


# text -------------------------------------------------------------------------------------------------------


def _columns(text: str) -> int:
    """Returns the number of terminal columns of the text."""
    return sum(1 + (east_asian_width(c) in "WF") for c in text if not combining(c))


def _cut(text: str, ending: str) -> str:
    """Returns at most `WIDTH` columns of the text, with the ending instead of the rest."""
    if _columns(text) <= WIDTH:
        return text
    room = WIDTH - len(ending)
    widths = accumulate(map(_columns, text))
    return text[: sum(1 for width in widths if width <= room)] + ending
