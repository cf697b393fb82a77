"""Turns and contents: plain values that cannot be changed and may be subclassed."""

import dataclasses

import pytest

from ellmer_core.contents.content import (
    ContentImageInline,
    ContentPDF,
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    replaced,
)
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, Tokens, UserTurn
from ellmer_core.errors import UsageError

CAT = ContentImageInline("image/png", "abc")


@pytest.mark.parametrize(
    ("given", "contents"),
    [
        ("Hi", (ContentText("Hi"),)),
        (CAT, (CAT,)),
        (["Look:", CAT], (ContentText("Look:"), CAT)),
        ((), ()),
        ((c for c in [CAT]), (CAT,)),
    ],
)
def test_what_may_be_written_for_contents(given, contents):
    assert UserTurn(given).contents == contents


def test_anything_else_is_named():
    with pytest.raises(UsageError, match="not bytes"):
        UserTurn(["a", b"b"])


def test_the_views_of_a_turn():
    request = ContentToolRequest("1", "f")
    result = ContentToolResult(1, request=request)

    assert AssistantTurn(["a", request, "b"]).text == "ab"
    assert AssistantTurn(["a", request]).tool_requests == (request,)
    assert UserTurn([result, "b"]).tool_results == (result,)
    assert (result.id, ContentToolResult().id) == ("1", "")


def test_turns_are_values():
    turn = AssistantTurn("a", tokens=Tokens(1, 2), finish_reason="success", json={"x": 1}, duration=1.0)

    assert turn == AssistantTurn("a", tokens=Tokens(1, 2), finish_reason="success")
    assert turn != AssistantPartialTurn("a", tokens=Tokens(1, 2), finish_reason="success")
    with pytest.raises(dataclasses.FrozenInstanceError):
        turn.cost = 1


def test_replaced_keeps_any_subclass():
    class Shown(ContentToolResult):
        def __init__(self, html):
            super().__init__(html)

    shown = Shown("<b>")

    assert type(replaced(shown, value=1)) is Shown
    assert (replaced(shown, value=1).value, shown.value) == (1, "<b>")


def test_no_repr_holds_the_bytes():
    image, pdf = ContentImageInline("image/png", "A" * 100), ContentPDF("application/pdf", "A" * 100)

    assert "AAA" not in repr(UserTurn([image, pdf, ContentToolResult([image])]))
    assert ContentImageInline("image/png", "A") != ContentImageInline("image/png", "B")
