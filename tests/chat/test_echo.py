"""The output of a chat while it runs. The first test is the format's original example."""

import io
import re
import subprocess
import sys
from textwrap import dedent

import pytest

from ellmer_core._chat.answers import default_echo, echo_mode
from ellmer_core._chat.console import Echo
from ellmer_core.contents.content import (
    ContentImageInline,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
)
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.errors import UsageError

QUESTION = "How long ago exactly was the moment Neil Armstrong touched down on the moon?"
UTC = ContentToolRequest("call_WkRmaly9E7kgpMB5RPWVzijh", "get_current_time", {"tz": "UTC"})
NEW_YORK = ContentToolRequest("call_0OqdPpugMw3wjX9IEz1xVwxd", "get_current_time", {"tz": "America/New_York"})
ANSWER = (
    "Neil Armstrong touched down on the moon on July 20, 1969, at 20:17 UTC.\n\n"
    "As of now, which is February 27, 2025, at 17:53 UTC, it has been approximately 55 years, 7 months, and "
    "7 days since that historic moment."
)
CONVERSATION = [
    UserTurn(QUESTION),
    AssistantTurn([UTC, NEW_YORK]),
    UTC,
    ContentToolResult("2025-02-27 17:53:17 UTC", request=UTC),
    NEW_YORK,
    ContentToolResult("2025-02-27 12:53:17 EST", request=NEW_YORK),
    *map(ContentText, re.findall(r"(?s).{1,7}", ANSWER)),
    AssistantTurn(ANSWER),
]

ALL = """\
> How long ago exactly was the moment Neil Armstrong touched down on the moon?
< [tool request (call_WkRmaly9E7kgpMB5RPWVzijh)]: get_current_time(tz = "UTC")
< [tool request (call_0OqdPpugMw3wjX9IEz1xVwxd)]: get_current_time(tz =\x20
< "America/New_York")
> [tool result  (call_WkRmaly9E7kgpMB5RPWVzijh)]: 2025-02-27 17:53:17 UTC
> [tool result  (call_0OqdPpugMw3wjX9IEz1xVwxd)]: 2025-02-27 12:53:17 EST
< Neil Armstrong touched down on the moon on July 20, 1969, at 20:17 UTC.
<\x20
< As of now, which is February 27, 2025, at 17:53 UTC, it has been\x20
< approximately 55 years, 7 months, and 7 days since that historic moment.
<
"""
OUTPUT = """\
Neil Armstrong touched down on the moon on July 20, 1969, at 20:17 UTC.

As of now, which is February 27, 2025, at 17:53 UTC, it has been approximately\x20
55 years, 7 months, and 7 days since that historic moment.
"""
NOTES = """\
◯ [tool call] get_current_time(tz = "UTC")
● #> 2025-02-27 17:53:17 UTC
◯ [tool call] get_current_time(tz = "America/New_York")
● #> 2025-02-27 12:53:17 EST
"""


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def shown(mode, conversation, close=True):
    out, err = io.StringIO(), io.StringIO()
    echo = Echo(mode, out, err)
    for content in conversation:
        echo(content)
    if close:
        echo.close()
    return out.getvalue(), err.getvalue()


def test_all():
    assert shown("all", CONVERSATION) == (ALL, "")


def test_output():
    assert shown("output", CONVERSATION) == (OUTPUT, NOTES)


def test_none():
    assert shown("none", CONVERSATION) == ("", "")


def test_how_the_text_was_cut_makes_no_difference():
    for size in (1, 2, 3, 1000):
        pieces = [ContentText(ANSWER[i : i + size]) for i in range(0, len(ANSWER), size)]
        assert shown("output", [*pieces, AssistantTurn(ANSWER)])[0] == OUTPUT


def test_a_text_that_breaks_off_ends_its_line():
    assert shown("output", [ContentText("Half an ans")]) == ("Half an ans\n", "")


def test_thinking_is_apart_from_the_answer():
    pieces = [ContentThinking("Hm"), ContentThinking("."), ContentText("Yes.")]
    assert shown("output", pieces)[0] == "Yes.\n"
    assert shown("all", pieces)[0] == "< <thinking>\n< Hm.\n< </thinking>\n< Yes.\n<\n"


def test_images_and_errors_of_tools_are_readable():
    image = ContentImageInline("image/png", "AAAA")
    results = [ContentToolResult(image, request=UTC), ContentToolResult(error=ValueError("no"), request=UTC)]
    out, _ = shown("all", results)
    assert "[see below]" in out
    assert "> [inline image]\n" in out
    assert "Error: no" in out
    _, err = shown("output", results)
    assert "■ #> Error: no" in err
    assert "AAAA" not in out + err


def test_a_long_result_is_cut():
    text = "\n".join(f"line {i} " + "x" * 100 for i in range(9))
    _, err = shown("output", [ContentToolResult(text, request=UTC)])
    lines = err.splitlines()
    assert len(lines) == 6
    assert lines[-1] == "  #> …"
    assert all(len(line) < 80 for line in lines)


def test_words_longer_than_a_line_are_not_cut():
    assert (
        shown("output", [ContentText("see " + "x" * 100 + " there\n")])[0] == f"see \n{'x' * 100}\nthere\n\n"
    )


def test_a_terminal_that_cannot_print_a_character_gets_its_number():
    out = io.TextIOWrapper(io.BytesIO(), "ascii")
    echo = Echo("output", out, out)
    echo(ContentText("日本 "))
    echo.close()
    assert out.buffer.getvalue() == rb"\u65e5\u672c " + b"\n"


def test_modes():
    assert (echo_mode(True), echo_mode(False), echo_mode("all")) == ("output", "none", "all")
    with pytest.raises(UsageError, match="none"):
        echo_mode("text")


def test_the_default_is_silence_inside_functions():
    assert default_echo(1) == "none"


def test_a_script_prints_only_what_it_prints_itself_and_a_console_shows_the_answer(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        dedent("""
        import sys
        from ellmer_core.providers._construction import chat
        from ellmer_core.providers.openai import chat_openai

        def inside(make):
            return make()

        makers = [lambda: chat_openai(model="m", api_key="k"), lambda: chat("openai/m", api_key="k")]
        print(chat_openai(model="m", api_key="k").echo, chat("openai/m", api_key="k").echo)
        sys.ps1 = ">>> "  # what a console has
        print(chat_openai(model="m", api_key="k").echo, chat("openai/m", api_key="k").echo)
        print([inside(make).echo for make in makers])
        """)
    )
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert run.stdout == "none none\noutput output\n['none', 'none']\n"
