"""`live_console()` in a real terminal (a pseudo-terminal), against the strict server's scripted model."""

# ruff: noqa: E402 - what is imported first decides whether there is anything to test

import io
import os
import re
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

pytest.importorskip("prompt_toolkit", reason="The console is an extra: ellmer-core[console].")
pyte = pytest.importorskip("pyte", reason="A terminal in memory is needed: pip install pyte.")
pexpect = pytest.importorskip("pexpect", reason="A terminal is needed: pip install pexpect.")
from rich.console import Console

from ellmer_core import (
    ContentImageInline,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    tool,
)
from ellmer_core.live.console import Screen, Suggested, _kept, talk

READY = re.escape("\x1b[?2004h")  # the prompt takes input
CHILD = """
from ellmer_conformance.demo import demo_chat
from ellmer_conformance.scenarios.script import Answer, Call, Delivery, Say, Script
from ellmer_conformance.server.strict_server import StrictServer
from ellmer_core import live_console

STEPS = [
    Answer((Say("I will **look**."), Call("get_weather", {"city": "Köln"}))),
    Answer((Say("18.5 degrees."),)),
    Answer((Call("search_flights", {"to": "Lisbon"}),)),
    Answer((Call("print_report"),)),
    Answer((Say("It failed."),)),
    Delivery(Answer((Say("Once upon a time", ("Once ", "upon ", "a ", "time")),)), after=900, ending="stall"),
    Answer((Say("Fine."),)),
]
with StrictServer({"demo": Script(STEPS)}) as server:
    chat = demo_chat(server.url("demo", "1"), pause=0.15)
    live_console(chat)
    print("LAST", repr(chat.last_turn().text), len(chat.get_turns()))
    print("SAID", [t.text for t in chat.get_turns() if t.role == "user" and t.text])
    print("PARTIAL", [t.reason for t in chat.get_turns() if hasattr(t, "reason")])
"""


@pytest.fixture
def terminal(tmp_path):
    program = tmp_path / "talk.py"
    program.write_text(CHILD, encoding="utf-8")
    env = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm", "COLUMNS": "100"}
    child = pexpect.spawn(
        sys.executable, [str(program)], env=env, encoding="utf-8", timeout=120, dimensions=(40, 100)
    )
    yield child
    child.close(force=True)


@pytest.mark.slow
def test_a_conversation_with_tools_newlines_and_an_interrupted_answer(terminal):
    terminal.expect(READY)
    terminal.send("first line\x1b\rsecond line\r")
    terminal.expect("look")
    terminal.expect(r"✓ .*Get weather in Köln.*celsius")
    terminal.expect("18.5 degrees")
    terminal.expect(READY)

    terminal.send("flights\r")
    terminal.expect("50 % of all airlines asked")
    terminal.expect("✓ .*Flights to Lisbon.*3 found")
    terminal.expect("✗ .*Print the report.*RuntimeError: The printer is on fire|printer is on fire")
    terminal.expect("It failed")
    terminal.expect(READY)

    terminal.send("/calls\r")
    terminal.expect("search_flights")
    terminal.expect(READY)

    terminal.send("a story\r")
    terminal.expect("Once")
    terminal.sendintr()  # Ctrl-C
    terminal.expect("Stopped")
    terminal.expect(READY)

    terminal.send("go on\r")
    terminal.expect("Fine")
    terminal.expect(READY)
    terminal.sendeof()
    terminal.expect(r"LAST 'Fine.' (\d+)")
    terminal.expect(r"SAID \['first line\\nsecond line', 'flights', 'a story', 'go on'\]")
    terminal.expect(r"PARTIAL \['interrupted'\]")
    terminal.expect(pexpect.EOF)


@pytest.mark.parametrize("when", ["show", "finish"])
def test_an_interrupt_at_any_time_ends_the_answer_and_not_the_program(monkeypatch, capsys, when):
    class Chat:
        def get_model(self):
            return "m"

        def stream(self, *_args, **_options):
            yield ContentText("Once")
            yield ContentText(" upon")

    left, typed, real = [1], ["a story", "/calls", "/quit"], getattr(Screen, when)

    def interrupted(screen, *given):
        if left and screen.live:
            left.pop()
            raise KeyboardInterrupt
        return real(screen, *given)

    monkeypatch.setattr(Screen, when, interrupted)
    monkeypatch.setattr("builtins.input", lambda *_: typed.pop(0))
    talk(Chat())

    assert not left
    assert typed == []
    assert "No tool was called." in capsys.readouterr().out


# The screen -------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A terminal in memory. After each write it counts how often each line such as `mark 1.` stands there."""

    def __init__(self, height):
        super().__init__()
        self.screen = pyte.HistoryScreen(60, height, history=1000)
        self.stream = pyte.Stream(self.screen)
        self.most = Counter()

    def lines(self):
        gone = ("".join(row[x].data for x in range(60)) for row in self.screen.history.top)
        return [line.strip() for line in (*gone, *self.screen.display)]

    def write(self, text):
        self.stream.feed(text.replace("\n", "\r\n"))
        self.most |= Counter(line for line in self.lines() if re.search(r"mark \w+\.$", line))
        return len(text)

    def screen_of_a_chat(self):
        height = self.screen.lines
        return Screen(None, Console(file=self, width=60, height=height, force_terminal=True))


MARKS = [f"mark {n}." for n in range(14)]
CODE = "\n".join(
    ["Here:", "", "```", *MARKS, "```", "", "And", "more.", "", "- mark a.", "- mark b.", "", "End."]
)


@pytest.mark.parametrize("height", [10, 30])
@pytest.mark.parametrize("size", [5, 40])
def test_nothing_stands_twice_on_the_screen_at_any_time(height, size):
    terminal = Terminal(height)
    it = terminal.screen_of_a_chat()
    for start in range(0, len(CODE), size):
        it.show(ContentText(CODE[start : start + size]))
        it.live.refresh()
    it.finish()

    assert terminal.most == dict.fromkeys([*MARKS, "• mark a.", "• mark b."], 1)


def screen():
    return Screen(None, Console(file=io.StringIO(), width=60, force_terminal=False))


def written(it):
    it.finish()
    return it.console.file.getvalue()


def test_a_call_is_one_line_whatever_it_returned():
    request = ContentToolRequest(
        "c1", "get_rows", {"n": 3}, tool(lambda n: n, name="get_rows", arguments={"n": int})
    )
    it = screen()
    it.show(request)
    it.show(ContentToolResult("\n".join(map(str, range(500))), request=request))

    [line] = [line for line in written(it).splitlines() if line.strip()]
    assert line.startswith("✓ Get rows  0 1 2 3")
    assert len(line) <= 60
    it.unfold()
    assert "499" in written(it)


def test_neither_a_model_nor_a_tool_controls_the_terminal():
    evil = "\x1b]0;title\x07\x1b[2J\x9b31m!"
    request = ContentToolRequest("c1", evil, {"a": evil})
    it = screen()
    it.show(ContentText(evil))
    it.show(ContentThinking(evil))
    it.show(ContentToolResult(evil, request=request))
    it.show(ContentToolResult(error=evil, request=request))
    it.progress(request, evil)
    it.unfold()

    assert not set(written(it)) & {"\x1b", "\x07", "\x9b"}


def test_a_thought_is_folded_when_it_is_whole():
    it = screen()
    it.show(ContentThinking("First this.\nThen "))
    it.show(ContentThinking("that."))
    it.show(ContentText("*Done.*"))

    assert written(it).split() == ["First", "this.", "…", "Done."]


def test_a_long_answer_scrolls_as_it_comes():
    terminal = Terminal(10)
    it = terminal.screen_of_a_chat()
    for number in range(30):
        it.show(ContentText(f"mark {number}.\n\n"))
    before = terminal.lines()
    it.finish()

    assert [line for line in before if line][:29] == [f"mark {number}." for number in range(29)]
    assert set(terminal.most.values()) == {1}


def test_of_a_long_block_the_end_is_seen():
    it = Screen(None, Console(file=io.StringIO(), width=60, height=10, force_terminal=True))
    it.show(ContentText("```\n"))
    for number in range(50):
        it.show(ContentText(f"line {number}\n"))
    it.live.refresh()
    seen = it.console.file.getvalue()
    it.finish()  # else a thread draws it until the last test

    assert "line 49" in seen
    assert "…" not in seen


def test_an_unknown_command_gets_help_and_a_path_is_said():
    it, said = screen(), []
    it.answer = said.append
    it.take("/foo")
    it.take("/etc/hosts is what?")

    assert "There is no /foo. Enter sends" in " ".join(written(it).split())
    assert said == ["/etc/hosts is what?"]


# Commands ---------------------------------------------------------------------------------------------------


@pytest.fixture
def talked(tmp_path):
    from ellmer_core import AssistantTurn, Tokens, UserTurn, chat_openai

    chat = chat_openai(model="gpt-4.1", api_key="any")
    chat.set_turns(
        [
            UserTurn("First\nthing"),
            AssistantTurn("One.", tokens=Tokens(5, 1)),
            UserTurn("Second"),
            AssistantTurn("Two.", tokens=Tokens(9, 1)),
        ]
    )
    return Screen(chat, Console(file=io.StringIO(), width=100, force_terminal=False))


def test_undo_removes_the_last_message_and_its_answer(talked):
    for _ in range(3):
        talked.take("/undo")

    assert talked.chat.get_turns() == []
    shown = written(talked)
    assert "answer: Second" in shown
    assert "answer: First" in shown
    assert "There is no message to remove." in shown


def test_save_writes_a_page_and_never_replaces_one(talked, tmp_path):
    path = tmp_path / "a chat.html"
    for _ in range(2):
        talked.take(f"/save {path}")
    talked.take("/save")
    talked.take("/save chat.pdf")

    assert "Second" in path.read_text(encoding="utf-8")
    shown = " ".join(written(talked).split())
    assert "exists" in shown
    assert "For example: /save chat.html" in shown
    assert "not '.pdf'" in shown


def test_model_shows_and_changes_the_model_and_cost_shows_the_tokens(talked):
    talked.take("/model")
    talked.take("/model gpt-5.6")
    talked.take("/cost")
    talked.take("/help")

    shown = written(talked)
    assert shown.index("The model is gpt-4.1.") < shown.index("The model is gpt-5.6.")
    assert "tokens=14/2" in shown
    assert "/undo   removes your last message" in shown
    assert talked.chat.get_model() == "gpt-5.6"


def test_tab_completes_commands_and_what_the_last_answer_suggested():
    it = screen()
    it.show(
        ContentText('Try <span class="suggestion">Say hello</span> or <span class="suggestion">Stop</span>.')
    )
    it.finish()
    completer = Suggested(it.suggestions)

    def completed(typed):
        return [c.text for c in completer.get_completions(SimpleNamespace(text=typed), None)]

    assert completed("") == ["Say hello", "Stop"]
    assert completed("sa") == ["Say hello"]
    assert completed("/mo") == ["/model"]


def test_what_was_typed_is_kept_between_runs_on_request(tmp_path):
    path = tmp_path / "kept" / "history"
    _kept(path).store_string("hello\nthere")

    assert list(_kept(path).load_history_strings()) == ["hello\nthere"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(_kept(None).load_history_strings()) == []


def test_a_suggestion_is_no_stray_line():
    it = screen()
    for piece in ("Try:\n\n", '<span class="sugg', 'estion submit">Say ', "hello</sp", "an>\n"):
        it.show(ContentText(piece))

    assert written(it).split("\n")[:3] == ["Try:" + " " * 56, "", "“Say hello”".ljust(60)]


DELETE = ContentToolRequest("c1", "delete", {"path": "a"})


@pytest.mark.parametrize(
    ("typed", "approved", "arguments"),
    [
        (["y"], True, None),
        ([""], False, None),
        (["no"], False, None),
        (["e", '{"path": "b"}'], True, {"path": "b"}),
        (["e", "nonsense"], False, None),
        (["e", "[1]"], False, None),
    ],
)
def test_a_call_is_decided_about(typed, approved, arguments):
    it = Screen(None, Console(file=io.StringIO(), width=60), lambda _question: typed.pop(0))
    decision = it.decide(DELETE)

    assert (decision.approved, decision.arguments) == (approved, arguments)
    assert 'delete(path = "a")' in written(it)


def test_a_denied_call_looks_denied():
    it = screen()
    it.show(ContentToolResult(error="Tool call denied. No.", extra={"decision": "denied"}, request=DELETE))

    assert written(it).startswith("⊘ denied: Delete")


# Pictures ---------------------------------------------------------------------------------------------------

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        ({"TERM": "xterm-kitty"}, f"\x1b_Ga=T,f=100,q=2,m=0;{DOT}\x1b\\"),
        ({"TERM": "xterm", "TERM_PROGRAM": "iTerm.app"}, f"\x1b]1337;File=inline=1:{DOT}\x07"),
        ({"TERM": "xterm"}, ""),
        ({"TERM": "xterm-kitty", "TMUX": "1"}, ""),
    ],
)
def test_a_picture_is_drawn_where_the_terminal_says_that_it_can(monkeypatch, variables, shown):
    for name in ("TERM", "TERM_PROGRAM", "TMUX"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    it = Screen(None, Console(file=io.StringIO(), width=60, force_terminal=True))
    it.show(ContentToolResult([ContentImageInline("image/png", DOT)], request=DELETE))

    output = written(it)
    assert shown in output
    assert (DOT in output) == bool(shown)
