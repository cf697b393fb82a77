"""A chat in the terminal: answers are shown as Markdown while they arrive, and each tool call is one line."""

from __future__ import annotations

import json
import os
import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
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
    ContentImageInline,
    ContentProviderCall,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    contents_in,
)
from ..conversation.approval import Decision, deciding
from ..conversation.history import last_message
from ..errors import EllmerError
from ..render.citation_footnotes import sources_markdown
from ..render.html import SUGGESTION, export
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


# --- pictures --------------------------------------------------------------------------------------------


def picture(image: ContentImageInline) -> str | None:
    """Returns the characters that make this terminal show a picture, or `None` if the terminal does not say that it can.

    Kitty and Ghostty take PNG only, iTerm2 and WezTerm any image: <https://sw.kovidgoyal.net/kitty/graphics-protocol/>,
    <https://iterm2.com/documentation-images.html>.
    """
    program, kind = os.environ.get("TERM_PROGRAM", ""), os.environ.get("TERM", "")
    try:  # no other character reaches the terminal
        data = b64encode(b64decode(image.data, validate=True)).decode("ascii")
    except ValueError:
        return None
    if "TMUX" in os.environ:
        return None
    if kind in {"xterm-kitty", "xterm-ghostty"} and image.type == "image/png":
        return _kitty(data)
    return f"\x1b]1337;File=inline=1:{data}\x07\n" if program in {"iTerm.app", "WezTerm"} else None


def _kitty(data: str) -> str:
    """Returns a picture in pieces of 4,096 characters, to which the terminal does not reply."""
    pieces = [data[start : start + 4096] for start in range(0, len(data), 4096)]
    marks = [f"{'' if n else 'a=T,f=100,q=2,'}m={int(n + 1 < len(pieces))}" for n in range(len(pieces))]
    return "".join(f"\x1b_G{mark};{piece}\x1b\\" for mark, piece in zip(marks, pieces, strict=True)) + "\n"


# --- the console -----------------------------------------------------------------------------------------


COMMANDS = {
    "/calls": "shows the tool calls of the last answer",
    "/cost": "shows the tokens and the cost so far",
    "/model": "shows the model; /model NAME changes it",
    "/save": "writes the chat: /save FILE.html, or .md",
    "/undo": "removes your last message and its answer",
    "/help": "shows this",
    "/quit": "ends the chat",
}
HELP = "Enter sends, Alt-Enter starts a new line, Ctrl-C stops an answer, Tab completes. /help shows the commands. /quit ends the chat."

COMMAND = re.compile(r"(/[a-z]+)(?: +(\S.*))?")
MARKS = {
    "running": ("", ""),
    "success": ("✓ ", "green"),
    "error": ("✗ ", "red"),
    "denied": ("⊘ denied: ", "yellow"),
}


def talk(chat: Chat, history: str | Path | None = None) -> None:
    """Reads input and answers it until the end of input."""
    screen = Screen(chat, Console())
    screen.read = _prompt(screen.suggestions, history) if sys.stdin.isatty() else input
    screen.note(f"{chat.get_model()}. {HELP}")
    while (typed := _next(screen.read)).strip() != "/quit":
        try:
            screen.take(typed)
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


def _prompt(suggestions: list[str], history: str | Path | None) -> Callable[..., str]:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    session: PromptSession[str] = PromptSession(
        "› ",
        multiline=True,
        key_bindings=keys,
        prompt_continuation="  ",
        history=_kept(history),
        completer=Suggested(suggestions),
        complete_while_typing=False,
    )

    def read(question: str = "› ") -> str:
        return session.prompt(question)

    return read


def _kept(history: str | Path | None) -> History:
    """Returns the earlier inputs. A file of them is readable by its owner only."""
    if history is None:
        return InMemoryHistory()
    path = Path(history).expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_APPEND, 0o600))
    return FileHistory(path)


class Suggested(Completer):
    """Completes the commands, and what the last answer suggested as the next message."""

    def __init__(self, suggestions: list[str]) -> None:
        self.suggestions = suggestions

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002 - their name
        typed = document.text
        for text in [*self.suggestions, *(COMMANDS if typed.startswith("/") else ())]:
            if text.lower().startswith(typed.lower()):
                yield Completion(text, -len(typed), display_meta=COMMANDS.get(text, "suggested"))


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
        self.suggestions: list[str] = []

    def take(self, typed: str) -> None:
        """Handles an input or a command."""
        if not typed.strip():
            return
        command = COMMAND.fullmatch(typed.strip())
        if command:
            self.run(command[1], command[2] or "")
        else:
            self.answer(typed)

    def run(self, command: str, argument: str) -> None:
        """Runs a command. An error is shown, and the chat goes on."""
        actions = {
            "/calls": self.unfold,
            "/cost": self.cost,
            "/model": lambda: self.model(argument),
            "/save": lambda: self.save(argument),
            "/undo": self.undo,
            "/help": self.help,
        }
        try:
            actions.get(command, lambda: self.unknown(command))()
        except (EllmerError, OSError) as error:
            self.console.print(Text(safe(str(error)), style="red"))

    def unknown(self, command: str) -> None:
        """Says that there is no such command."""
        self.note(f"There is no {safe(command)}. {HELP}")

    def help(self) -> None:
        """Shows the commands."""
        self.note("\n".join([HELP, *(f"  {name:<8}{text}" for name, text in COMMANDS.items())]))

    def cost(self) -> None:
        """Shows the tokens and the cost so far."""
        self.note(repr(self.chat).strip("<>"))

    def model(self, name: str) -> None:
        """Shows or changes the model."""
        if name:
            self.chat.set_model(name)
        self.note(f"The model is {safe(self.chat.get_model())}.")

    def save(self, path: str) -> None:
        """Writes the chat to a file."""
        if not path:
            self.note("Where to? For example: /save chat.html")
        else:
            self.note(f"The chat is in {export(self.chat, Path(path).expanduser())}.")

    def undo(self) -> None:
        """Removes the last message of the user with what followed."""
        turns = self.chat.get_turns()
        place = last_message(turns)
        if place is None:
            self.note("There is no message to remove.")
            return
        self.chat.set_turns(turns[:place])
        first = turns[place].text.strip().partition("\n")[0]
        self.note(f"Removed your last message and its answer: {safe(first)}")

    def answer(self, typed: str) -> None:
        """Shows the answer as it arrives. Ctrl-C ends it, and the chat keeps the received part."""
        self.calls.clear()
        self.suggestions.clear()
        try:
            with (
                showing(self.progress),
                deciding(self.decide),
                closing(self.chat.stream(typed, content="all")) as contents,
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
                for inner in contents_in(content.value):
                    self._draw(inner)
            case ContentProviderCall():
                self.finish()
                if content.result:
                    self.show(content.result)
            case ContentCitation():
                self.cited.append(content)
            case _:
                self.finish()
                if not self._draw(content):
                    self.console.print(markdown(contents_markdown(content) or ""))

    def _draw(self, content: Content) -> bool:
        """Shows a picture where the terminal can, and tells whether it did."""
        if not isinstance(content, ContentImageInline) or not self.console.is_terminal:
            return False
        if drawn := picture(content):
            self.console.file.write(drawn)
            self.console.file.flush()
        return bool(drawn)

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
            self._offer(self.text[1] if self.text[0] is ContentText else "")
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
            style = MARKS[shown.status][1] if shown.status != "success" else "dim"
            inside = Group(Text(safe(f"{shown.call}\n")), *_unfolded(shown))
            self.console.print(Panel(inside, title=Text(safe(shown.title)), border_style=style))
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
        so_far = self.text[1] + text
        done = complete(so_far) if kind is ContentText and "\n" in text else 0
        self.text = (kind, so_far[done:])
        self.live.update(Bottom(_grown(*self.text, whole=False)), refresh=done > 0)
        if done:  # printed above the live area, which no longer shows it
            self._offer(so_far[:done])
            self.console.print(markdown(so_far[:done]), "")

    def _offer(self, text: str) -> None:
        self.suggestions += [safe(suggested) for suggested in SUGGESTION.findall(text)]

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


def _unfolded(shown: Card) -> Iterator[RenderableType]:
    """Yields the parts of a result, tables as tables."""
    if shown.kind not in {"markdown", "media"}:
        yield Text(safe(_body(shown)))
        return
    for part in [ContentText(str(shown.body))] if shown.kind == "markdown" else shown.body:
        yield markdown(safe(part.text)) if isinstance(part, ContentText) else Text(safe(value_text(part)))


def _body(shown: Card) -> str:
    """Returns a result as text. Instead of HTML, it has the text for terminals."""
    match shown.kind:
        case "media":
            return "\n".join(map(value_text, shown.body))
        case "html":
            return str(shown.display.get("value_preview") or shown.display.get("title") or "")
    return str(shown.body)
