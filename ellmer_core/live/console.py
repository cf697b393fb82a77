"""A chat in the terminal: answers are shown as Markdown while they arrive, and each tool call is one line."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from contextlib import closing
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from prompt_toolkit import PromptSession
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.panel import Panel
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from .._chat.chat import Chat
from ..contents.content import (
    Content,
    ContentCitation,
    ContentProviderCall,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
)
from ..conversation.settings import Decision, deciding
from ..errors import EllmerError
from ..render.citation_footnotes import sources_markdown
from ..render.html import SUGGESTION
from ..render.markdown import contents_markdown
from ..render.markup import complete, formula_rules
from ..render.rich_console import safe
from ..render.tool_card import Card, card, value_text
from ..tool_execution import showing

# --- Markdown that streams -------------------------------------------------------------------------------


#: The beginning of a suggestion of which the rest is still to come.
BEGUN = re.compile(r"<(?:s(?:p(?:a(?:n[^<>]*)?)?)?)?$|<span class=[^<>]*>[^<>]*(?:<[^>]*)?$")


class Bottom:
    """The end of a renderable, as much as fits on the screen."""

    def __init__(self, whole: RenderableType) -> None:
        self.whole = whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = max(1, console.size.height - 2)
        lines = console.render_lines(self.whole, options.update(height=None), pad=False)
        for line in lines[-room:]:
            yield from line
            yield Segment.line()


def markdown(text: str) -> Markdown:
    """Returns a model's Markdown for a terminal. Suggestions are shown as text to type."""
    shown = Markdown("")
    shown.parsed = _parsed(BEGUN.sub("", SUGGESTION.sub(r"“\1”", safe(text))))
    return shown


def _parsed(text: str) -> list[Token]:
    """Returns the tokens of a Markdown text. Formulas stay as source, which Markdown would change."""
    tokens = _with_formulas().parse(text)
    for token in [*tokens, *(child for block in tokens for child in block.children or [])]:
        if token.type.startswith("math_"):
            token.type, token.tag = (
                ("fence", "code") if token.type == "math_block" else ("code_inline", "code")
            )
    return tokens


@cache
def _with_formulas() -> MarkdownIt:
    return formula_rules(MarkdownIt().enable("strikethrough").enable("table"))


# --- the console -----------------------------------------------------------------------------------------


HELP = "Enter sends, Alt-Enter starts a new line, Ctrl-C stops an answer. /calls shows the last tool calls. /quit ends the chat."

COMMAND = re.compile(r"/[a-z]+")
MARKS = {
    "running": ("", ""),
    "success": ("✓ ", "green"),
    "error": ("✗ ", "red"),
    "denied": ("⊘ denied: ", "yellow"),
}


def talk(chat: Chat) -> None:
    """Reads input and answers it until the end of input."""
    read: Callable[..., str] = _prompt() if sys.stdin.isatty() else input
    screen = Screen(chat, Console(), read)
    screen.note(f"{chat.get_model()}. {HELP}")
    while (said := _next(read)).strip() != "/quit":
        try:
            screen.take(said)
        except KeyboardInterrupt:  # it came when the answer was whole
            screen.finish()


def _next(read: Callable[[], str]) -> str:
    """Returns the next input. Ctrl-C discards it, and the end of input ends the chat."""
    try:
        return read()
    except KeyboardInterrupt:
        return ""
    except EOFError:
        return "/quit"


def _prompt() -> Callable[..., str]:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    session: PromptSession[str] = PromptSession(
        "› ", multiline=True, key_bindings=keys, prompt_continuation="  "
    )

    def read(question: str = "› ") -> str:
        return session.prompt(question)

    return read


class Screen:
    """The output of a chat. One part changes at a time: a growing text, or a waiting line."""

    def __init__(self, chat: Chat, console: Console, read: Callable[..., str] = input) -> None:
        self.chat = chat
        self.console = console
        self.read = read
        self.text: tuple[type[Content], str] = (ContentText, "")
        self.cited: list[ContentCitation] = []
        self.live: Live | None = None
        self.waiting: Status | None = None
        self.calls: list[Card] = []

    def take(self, said: str) -> None:
        """Handles an input or a command."""
        match said.strip():
            case "":
                return
            case "/help":
                self.note(HELP)
            case "/calls":
                self.unfold()
            case command if COMMAND.fullmatch(command):
                self.note(f"There is no {safe(command)}. {HELP}")
            case _:
                self.answer(said)

    def answer(self, said: str) -> None:
        """Shows the answer as it arrives. Ctrl-C ends it, and the chat keeps the received part."""
        self.calls.clear()
        try:
            with (
                showing(self.progress),
                deciding(self.decide),
                closing(self.chat.stream(said, content="all")) as contents,
            ):
                for content in contents:
                    self.show(content)
        except KeyboardInterrupt:
            self.finish()
            self.note("Stopped. The received part is kept.")
        except EllmerError as error:
            self.finish()
            self.console.print(Text(safe(str(error)), style="red"))
        finally:
            self.finish()

    def show(self, content: Content) -> None:
        """Shows a piece of an answer."""
        match content:
            case ContentText(text) | ContentThinking(text):
                self._grow(type(content), text)
            case ContentToolRequest():
                self.finish()
                self.waiting = self.console.status(self._line(card(content)))
                self.waiting.start()
            case ContentToolResult():
                self.finish()
                self.calls.append(card(content))
                self.console.print(self._line(self.calls[-1]), no_wrap=True, overflow="ellipsis")
            case ContentProviderCall():
                self.finish()
                if content.result:
                    self.show(content.result)
            case ContentCitation():
                self.cited.append(content)
            case _:
                self.finish()
                self.console.print(markdown(contents_markdown(content) or ""))

    def progress(self, request: ContentToolRequest, text: str) -> None:
        """Shows the progress of a tool."""
        if self.waiting:
            self.waiting.update(self._line(card(request)).append(f"  {safe(text)}", "italic"))

    def decide(self, request: ContentToolRequest) -> Decision:
        """Asks whether a call may run. An unclear answer means no."""
        self.finish()
        shown = card(request)
        self.console.print(Text.assemble((f"{safe(shown.title)}?", "bold"), f"\n{safe(shown.call)}"))
        try:
            match self.read("Run it? [y]es, [n]o, [e]dit the arguments: ").strip().lower():
                case "y" | "yes":
                    return Decision(approved=True)
                case "e" | "edit":
                    return self._edited(self.read("Arguments, as JSON: "))
        except EOFError:
            pass
        return Decision(approved=False)

    def _edited(self, text: str) -> Decision:
        try:
            arguments = json.loads(text)
        except ValueError as error:
            self.note(f"This is not JSON ({error}), so the call was not run.")
            return Decision(approved=False)
        return Decision(isinstance(arguments, dict), arguments if isinstance(arguments, dict) else None)

    def finish(self) -> None:
        """Keeps the current screen."""
        if self.live:
            self.live.update(_grown(*self.text, whole=True))
            self.live.stop()
            if not self.console.is_terminal:
                self.console.line()
        if self.waiting:
            self.waiting.stop()
        self.live = self.waiting = None
        self.text = (ContentText, "")
        cited, self.cited = self.cited, []
        if cited:
            self.console.print(markdown(safe(sources_markdown(cited))))

    def unfold(self) -> None:
        """Shows the tool calls of the last answer in full."""
        for shown in self.calls:
            text = f"{shown.call}\n\n{_body(shown)}"
            style = MARKS[shown.status][1] if shown.status != "success" else "dim"
            self.console.print(Panel(Text(safe(text)), title=Text(safe(shown.title)), border_style=style))
        if not self.calls:
            self.note("No tool was called.")

    def note(self, text: str) -> None:
        """Shows a message of the program."""
        self.console.print(Text(text, style="dim"))

    def _grow(self, kind: type[Content], text: str) -> None:
        if self.live is None or kind is not self.text[0]:
            self.finish()
            self.live = Live(console=self.console, refresh_per_second=8, vertical_overflow="visible")
            self.live.start()
        self.text = (kind, self.text[1] + text)
        if kind is ContentText and "\n" in text:
            self._scroll()
        self.live.update(Bottom(_grown(*self.text, whole=False)))

    def _scroll(self) -> None:
        """Prints the complete blocks above the growing one."""
        kind, text = self.text
        if done := complete(text):
            self.console.print(markdown(text[:done]))
            self.console.line()
            self.text = (kind, text[done:])

    def _line(self, shown: Card) -> Text:
        """Returns a call as one line: `✓ Get weather in Köln {"celsius": 18.5}`."""
        mark, style = MARKS[shown.status]
        icon = f"{shown.icon} " if isinstance(shown.icon, str) and "<" not in shown.icon else ""
        beside = shown.display.get("value_preview") or " ".join(_body(shown).split())
        after = "" if shown.status == "running" else f"  {safe(str(beside))}"
        return Text.assemble(
            (mark, style), f"{icon}{safe(shown.title)}", (after, style if shown.status == "error" else "dim")
        )


def _grown(kind: type[Content], text: str, *, whole: bool) -> RenderableType:
    """Returns a text so far. A complete thought is shortened to its first line."""
    if kind is not ContentThinking:
        return markdown(text)
    first, *rest = text.strip().splitlines() or [""]
    return Text(safe(f"{first}{' …' if rest else ''}" if whole else text), style="dim italic")


def _body(shown: Card) -> str:
    """Returns a result as text. Instead of HTML, it has the text for terminals."""
    match shown.kind:
        case "media":
            return "\n".join(map(value_text, shown.body))
        case "html":
            return str(shown.display.get("value_preview") or shown.display.get("title") or "")
    return str(shown.body)
