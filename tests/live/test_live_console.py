"""`live_console()` in a real terminal (a pseudo-terminal), against the strict server's scripted model."""

# ruff: noqa: E402 - what is imported first decides whether there is anything to test

import io
import os
import re
import sys

import pytest

pytest.importorskip("prompt_toolkit", reason="The console is an extra: ellmer-core[console].")
pexpect = pytest.importorskip("pexpect", reason="A terminal is needed: pip install pexpect.")
from rich.console import Console

from ellmer_core import ContentText, ContentThinking, ContentToolRequest, ContentToolResult, tool
from ellmer_core.live.console import Screen, talk

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
    it = Screen(None, Console(file=io.StringIO(), width=60, height=10, force_terminal=True))
    for number in range(30):
        it.show(ContentText(f"Paragraph {number}.\n\n"))
    before = it.console.file.getvalue()

    assert all(f"Paragraph {number}." in before for number in range(29))
    assert written(it).count("Paragraph 3.") == 1


def test_of_a_long_block_the_end_is_seen():
    it = Screen(None, Console(file=io.StringIO(), width=60, height=10, force_terminal=True))
    it.show(ContentText("```\n"))
    for number in range(50):
        it.show(ContentText(f"line {number}\n"))
    it.live.refresh()

    assert "line 49" in it.console.file.getvalue()
    assert "…" not in it.console.file.getvalue()


def test_an_unknown_command_gets_help_and_a_path_is_said():
    it, said = screen(), []
    it.answer = said.append
    it.take("/foo")
    it.take("/etc/hosts is what?")

    assert "There is no /foo. Enter sends" in " ".join(written(it).split())
    assert said == ["/etc/hosts is what?"]


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
