"""An answer is shown once: in a console while it arrives, in a notebook as Markdown. Answers between tool rounds are
separate.
"""

import json
import pickle
import sys
from types import SimpleNamespace

import pytest

import ellmer_core as ec
from ellmer_core._chat.answers import Answer, Texts, default_echo
from ellmer_core.contents.content import ContentCitation, ContentText, ContentToolRequest
from ellmer_core.contents.turns import AssistantTurn
from ellmer_core.tool_execution import Progress

TURN = AssistantTurn([ContentText("It *rains*.", citations=(ContentCitation("https://w.test", "Weather"),))])


def test_an_answer_is_a_string_that_notebooks_show_as_markdown():
    answer = Answer(TURN, shown=False)

    assert answer == "It *rains*."
    assert json.dumps([answer]) == '["It *rains*."]'
    assert repr(answer) == "'It *rains*.'"
    assert answer.turn is TURN
    assert answer._repr_markdown_().startswith("It *rains*.\n\n**Sources**")
    assert type(pickle.loads(pickle.dumps(answer))) is str


def test_what_was_written_while_it_came_is_not_shown_again_in_a_console(monkeypatch):
    shown, quiet = Answer(TURN, shown=True), Answer(TURN, shown=False)
    assert repr(shown) == "'It *rains*.'"

    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert (repr(shown), str(shown)) == ("<the answer above>", "It *rains*.")
    assert repr(quiet) == "'It *rains*.'"


def test_a_notebook_shows_the_last_value_of_a_cell_and_nothing_before(monkeypatch):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    monkeypatch.setitem(sys.modules, "IPython", kernel)

    names = {"__name__": "__main__", "default_echo": default_echo}
    exec("found = default_echo(1)", names)
    assert names["found"] == "none"
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    exec("found = default_echo(1)", names)
    assert names["found"] == "output"


def test_rounds_of_text_with_calls_between_are_apart():
    calls = AssistantTurn([ContentToolRequest("a", "f")])
    texts = Texts()
    shown = [
        ContentText("I "),
        ContentText("look."),
        calls,
        ContentText(""),
        ContentText("It"),
        ContentText(" rains."),
        TURN,
    ]

    assert [text for one in shown if (text := texts(one))] == ["I ", "look.", "\n\nIt", " rains."]
    silent = Texts()
    assert [text for one in [calls, ContentText("It rains.")] if (text := silent(one))] == ["It rains."]


def test_progress_may_replace_what_was_said():
    said = []
    progress = Progress(said.append)
    progress.append("a")
    progress.append("b")
    progress.append("c", operation="replace")

    assert said == ["a", "ab", "c"]
    with pytest.raises(ec.UsageError, match="operation="):
        progress.append("d", operation="insert")
