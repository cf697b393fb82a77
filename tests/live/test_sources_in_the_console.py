"""The console lists the sources of an answer below it, once, and not those of an earlier answer."""

import io

import pytest

pytest.importorskip("prompt_toolkit", reason="The console is an extra: ellmer-core[console].")

from rich.console import Console

from ellmer_core import ContentCitation, ContentText
from ellmer_core.live.console import Screen


@pytest.fixture
def screen():
    return Screen(None, Console(file=io.StringIO(), width=100, force_terminal=False))


def written(screen, *contents):
    """Returns what is written for an answer of these contents."""
    before = len(screen.console.file.getvalue())
    for content in contents:
        screen.show(content)
    screen.finish()
    return screen.console.file.getvalue()[before:]


def test_sources_are_below_the_answer(screen):
    cited = ContentCitation("https://example.com/a", "The weather")
    text = written(screen, ContentText("It rains."), cited)
    assert text.index("It rains.") < text.index("The weather")


def test_a_source_is_a_link_in_a_terminal():
    terminal = Screen(None, Console(file=io.StringIO(), width=100, force_terminal=True))
    text = written(
        terminal, ContentText("It rains."), ContentCitation("https://example.com/a", "The weather")
    )
    assert "https://example.com/a" in text


def test_the_next_answer_has_its_own_sources(screen):
    written(screen, ContentText("It rains."), ContentCitation("https://example.com/a", "The weather"))
    assert "weather" not in written(screen, ContentText("Nothing else."))


def test_a_source_does_not_control_the_terminal(screen):
    text = written(
        screen, ContentText("It rains."), ContentCitation("https://example.com/a", "\x1b[2JThe\x07")
    )
    assert not set(text) & {"\x1b", "\x07"}
