"""A data frame that a tool returned is a table wherever people see the call, also inside of a value."""

import io

import pytest
from rich.console import Console

from ellmer_core import (
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    UserTurn,
    check_tool_result,
    contents_html,
)
from ellmer_core.live.console import Screen
from ellmer_core.render.shinychat import contents_shinychat
from ellmer_core.render.tool_card import card
from ellmer_core.testing import ScriptedModel

pd = pytest.importorskip("pandas")

FRAME = pd.DataFrame({"city": ["Köln"], "rain": [True]})
VALUES = {
    "alone": FRAME,
    "named": {"rain": FRAME, "unit": "mm"},
    "listed": [FRAME, "mm"],
    "deep": [{"of": [FRAME]}],
}
every_value = pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)


def result_of(value):
    request = ContentToolRequest("1", "get_rain", {"city": "Köln"})
    return ContentToolResult(check_tool_result("get_rain", value), request=request)


@every_value
def test_html_and_the_app_have_a_table(value):
    assert contents_html(result_of(value)).count("<table>") == 1
    assert "<table>" in str(vars(contents_shinychat(result_of(value)))) or value is FRAME


@every_value
def test_the_console_has_a_table(value):
    screen = Screen(ScriptedModel().chat(), Console(file=io.StringIO(), width=60))
    screen.calls = [card(result_of(value))]
    screen.unfold()
    assert "city (str)  rain (bool)" in screen.console.file.getvalue()


def test_a_printed_turn_has_a_table_in_rich():
    console = Console(file=io.StringIO(), width=60)
    console.print(UserTurn([result_of(FRAME)]))
    assert "[tool result  (1)]:\n(1 row, 2 columns)" in console.file.getvalue()
    assert "city (str)  rain (bool)" in console.file.getvalue()


def test_text_of_one_line_stays_in_its_place_and_only_media_are_open():
    assert card(result_of({"a": ContentText("x")})).body == '{\n  "a": "x"\n}'
    assert not card(result_of({"rain": FRAME})).open
