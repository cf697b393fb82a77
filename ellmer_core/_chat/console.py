"""The console of a chat: it shows the conversation while it runs, and asks a person about tool calls.

The echo is `none`, `output` (the answer) or `all` (both directions). With `all`, outgoing lines begin with `> ` and
incoming lines with `< `. Text is wrapped at words. Printing never makes a chat fail: unprintable characters are replaced.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from typing import Any, TextIO, cast

from ..base.printable_text import printable, revealed
from ..contents.content import (
    Content,
    ContentProviderCall,
    ContentText,
    ContentThinking,
    ContentToolQuestion,
    ContentToolRequest,
    ContentToolResult,
)
from ..contents.turns import AssistantTurn, Turn, UserTurn
from ..conversation.approval import DEFER, Decide, Decision
from ..conversation.io_operations import Shown
from ..errors import UsageError
from ..tools.results import flatten
from .answers import EchoMode

# --- Echo ------------------------------------------------------------------------------------------------


LINES = 5  # of a tool result that `output` shows


class Echo:
    """Shows one conversation. Call it with everything that the conversation emits, in order."""

    def __init__(
        self,
        mode: EchoMode,
        out: TextIO | None = None,
        err: TextIO | None = None,
        sent: Callable[[Turn], Turn] | None = None,
    ) -> None:
        self.mode = mode
        self.sent = sent or (lambda turn: UserTurn(flatten(turn.contents)))  # a turn as the model gets it
        self.out, self.err = out or sys.stdout, err or sys.stderr
        self.width = 80 if mode == "none" else shutil.get_terminal_size((80, 24)).columns
        self.text: _Wrapped | None = None
        self.thinking = False

    def __call__(self, shown: Shown) -> None:
        """Shows a piece of an answer, a request, a result, or the rest of a whole turn."""
        match self.mode:
            case "output":
                self._output(shown)
            case "all":
                self._write_shown(shown)

    def _output(self, shown: Shown) -> None:
        match shown:
            case ContentText(text):
                self._write(text)
            case ContentToolRequest():
                self._note(f"◯ [tool call] {self._after_label(shown)}")
            case ContentToolResult():
                self._note(
                    f"{'■' if shown.error or shown.decision == 'denied' else '●'} #> {self._after_label(shown)}"
                )
            case ContentProviderCall(result=ContentToolResult() as result):
                self._output(shown.request)
                self._output(result)
            case AssistantTurn():
                self.close()

    def _write_shown(self, shown: Shown) -> None:
        match shown:
            case ContentText(text) | ContentThinking(text):
                self._think(isinstance(shown, ContentThinking))
                self._write(text)
            case ContentToolResult():
                self._block("> ", shown)
            case UserTurn():
                for content in self.sent(shown).contents:
                    self._block("> ", content)
            case AssistantTurn():
                self.close()
                for content in shown.contents:
                    if not isinstance(content, ContentText | ContentThinking):
                        self._block("< ", content)

    def close(self) -> None:
        """Ends the current text."""
        self._think(False)
        if self.text is not None:
            self.text.feed("\n")
            if self.mode == "all":
                self._put("<\n")
            self.out.flush()
        self.text = None

    def _think(self, now: bool) -> None:
        if now is not self.thinking:
            self._write("<thinking>\n" if now else "\n</thinking>\n")
        self.thinking = now

    def _write(self, text: str) -> None:
        if self.text is None:
            self.text = _Wrapped(self._put, "< " if self.mode == "all" else "", self.width)
        self.text.feed(text)
        self.out.flush()

    def _block(self, prefix: str, content: Content) -> None:
        from ..render.printed_form import format_content  # noqa: PLC0415 - only needed to print

        wrapped = _Wrapped(self._put, prefix, self.width)
        for part in self._parts(content):
            wrapped.feed(format_content(part).removesuffix("\n") + "\n")
        self.out.flush()

    def _parts(self, content: Content) -> list[Content]:
        from ..render.printed_form import visible  # noqa: PLC0415 - only needed to print

        turn = UserTurn([content])
        return visible(self.sent(turn) if isinstance(content, ContentToolResult) else turn, as_sent=True)

    def _after_label(self, content: Content) -> str:
        """Returns `f(x = 1)` of `[tool request (ID)]: f(x = 1)`."""
        from ..render.printed_form import format_content  # noqa: PLC0415 - only needed to print

        return "\n".join(map(format_content, self._parts(content))).partition("]: ")[2]

    def _note(self, text: str) -> None:
        """Prints short lines on stderr, besides the answer."""
        first, *more = text.splitlines() or [""]
        lines = [
            first,
            *(f"  #> {line}" for line in more[: LINES - 1]),
            *(["  #> …"] if more[LINES - 1 :] else []),
        ]
        for line in lines:
            cut = line if len(line) < self.width else f"{line[: self.width - 2]}…"
            _print(self.err, cut + "\n")
        self.err.flush()

    def _put(self, text: str) -> None:
        _print(self.out, text)


class _Wrapped:
    """Writes text that arrives in pieces, word by word, on lines that begin with `prefix`."""

    def __init__(self, put: Callable[[str], None], prefix: str, width: int) -> None:
        self.put, self.prefix, self.width = put, prefix, width
        self.column = 0
        self.rest = ""

    def feed(self, text: str) -> None:
        """Takes more text. A newline at its end shows all of it."""
        text = (self.rest + text).replace("\r\n", "\n").replace("\t", "    ")
        tokens: list[str] = re.findall(r"\n| +|[^ \n]+", text)
        self.rest = tokens.pop() if tokens and tokens[-1] != "\n" else ""
        for piece in tokens:
            self._piece(piece)

    def _piece(self, piece: str) -> None:
        if piece == "\n":
            self._start()
            self.put("\n")
            self.column = 0
            return
        if self.column + len(piece) >= self.width:
            if not piece.strip():
                return
            if self.column > len(self.prefix):
                self.put("\n")
                self.column = 0
        self._start()
        self.put(piece)
        self.column += len(piece)

    def _start(self) -> None:
        if not self.column:
            self.put(self.prefix)
            self.column = len(self.prefix)


def _print(out: TextIO, text: str) -> None:
    text = printable(text)
    try:
        out.write(text)
    except UnicodeEncodeError:
        encoding = getattr(out, "encoding", None) or "ascii"
        out.write(text.encode(encoding, "backslashreplace").decode(encoding))


# --- Who decides about a tool call: a function, the person at the console, or somebody later -------------


QUESTION = "[y]es, [n]o, or [e]dit the arguments? "


def approver(approve: Any) -> Decide | None:
    """Returns the function for the setting `chat.approve`."""
    match approve:
        case None:
            return None
        case "console":
            return ask_at_console
        case "defer":
            return lambda _request: DEFER
        case _ if callable(approve):
            return cast("Decide", approve)
    raise UsageError(f'approve must be a function, "console", "defer" or None, not {approve!r:.80}.')


def ask_at_console(request: ContentToolRequest) -> Decision:
    """Asks the person at the console. If there is none, the answer is no."""
    if isinstance(request, ContentToolQuestion):
        return _ask_fields(request)
    title = request.tool.title(request.arguments) if request.tool else request.name
    arguments = json.dumps(dict(request.arguments), ensure_ascii=False)
    try:
        asked = revealed(f"{title}: {request.name}({arguments})", line=True)
        answer = input(f"{asked}\n{QUESTION}").strip().lower()
        match answer[:1]:
            case "y":
                return Decision(approved=True)
            case "e":
                return _edited(input("Arguments, as JSON: "))
            case _:
                return Decision(approved=False)
    except EOFError:
        return Decision(approved=False, reason="Nobody was there to approve the tool call.")


def _ask_fields(question: ContentToolQuestion) -> Decision:
    """Asks the question of a tool, and then for each field of the answer. An empty line takes the default."""
    print(revealed(f"{question.name} asks: {question.title}", line=True))  # noqa: T201 - the console
    try:
        fields = question.schema.get("properties") or {}
        if input("[y]es or [n]o? ").strip().lower()[:1] != "y":
            return Decision(approved=False)
        answers = {name: _field(name, each, question.arguments.get(name)) for name, each in fields.items()}
    except EOFError:
        return Decision(approved=False, reason="Nobody was there to answer.")
    return Decision(
        approved=True, arguments={name: each for name, each in answers.items() if each is not None}
    )


def _field(name: str, schema: Any, default: Any) -> Any:
    """Asks for one field until its text is a value of the type. An empty line stands for the default."""
    told = schema if isinstance(schema, dict) else {}
    options = f" ({', '.join(map(str, told['enum']))})" if isinstance(told.get("enum"), list) else ""
    label = revealed(f"{told.get('title') or name}{options}", line=True)
    while text := input(f"{label}{'' if default is None else f' [{default}]'}: ").strip():
        if told.get("type") == "string":
            return text
        try:
            return json.loads(text)
        except ValueError:
            print(f"Write a JSON value, such as {json.dumps(told.get('examples', [5])[0])} or true.")  # noqa: T201 - it talks to the person at the console
    return default


def _edited(text: str) -> Decision:
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        return Decision(approved=True, arguments=arguments)
    return Decision(approved=False, reason="The user wanted other arguments, but wrote no JSON object.")
