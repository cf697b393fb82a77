"""Unanswered tool requests, and the turns that answer them."""

from dataclasses import replace

import pytest
from chats.loop import OPEN, PLAN, Outside, results, talk, whole

from ellmer_core.contents.content import ContentText, ContentToolRequest, ContentToolResult
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, UserTurn
from ellmer_core.conversation.history import History
from ellmer_core.conversation.repaired_turns import NEVER_CALLED
from ellmer_core.errors import EllmerWarning, UsageError


def dangling():
    return History([SystemTurn("s"), UserTurn("q"), AssistantTurn(OPEN)])


def test_an_open_request_is_answered_before_anything_else_is_said():
    talk(dangling(), outside := Outside(whole("ok")))
    roles = [message["role"] for message in outside.bodies[0]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    assert {text for _, text in results(outside.bodies[0])} == {
        f"Tool calling failed with error {NEVER_CALLED}"
    }


@pytest.mark.parametrize(
    "request_", [OPEN[1], replace(OPEN[1]), ContentToolRequest("b", "")], ids=["same", "equal", "by id"]
)
def test_the_caller_may_answer_it(request_):
    given = ContentToolResult("real", request=request_)
    history = dangling()
    talk(history, outside := Outside(whole("ok")), [ContentText("Here."), given])
    assert [text for _, text in results(outside.bodies[0])][1] == "real"
    assert NEVER_CALLED in results(outside.bodies[0])[0][1]
    assert history.turns[3].tool_results[1].request is OPEN[1]
    assert given.request is request_
    assert outside.bodies[0]["messages"][-1]["content"] == "Here."


def test_a_result_without_a_request_answers_the_only_open_one():
    history = History([UserTurn("q"), AssistantTurn(OPEN[:1])])
    talk(history, outside := Outside(whole("ok")), [ContentToolResult("real")])
    assert results(outside.bodies[0]) == [("a", "real")]


def test_equal_ids_are_answered_in_order():
    history = History(
        [UserTurn("q"), AssistantTurn([ContentToolRequest("", "f"), ContentToolRequest("", "f")])]
    )
    given = [ContentToolResult(v, request=ContentToolRequest("", "f")) for v in "12"]
    assert [r.value for r in history.reply(given).tool_results] == ["1", "2"]


@pytest.mark.parametrize(
    "given",
    [
        [ContentToolResult("x", request=ContentToolRequest("z", "f"))],
        [ContentToolResult("x")],
        [ContentToolResult("x", request=OPEN[0]), ContentToolResult("y", request=OPEN[0])],
    ],
    ids=["unknown", "ambiguous", "twice"],
)
def test_a_result_that_answers_nothing_is_an_error(given):
    with pytest.raises(UsageError, match="not an open tool request"):
        talk(dangling(), Outside(), given)


def test_a_result_is_checked_at_the_door():
    with pytest.raises(UsageError, match=r"`f`.*value\[0\]"):
        talk(dangling(), Outside(), [ContentToolResult([object()], request=OPEN[0])])


def test_open_requests_in_the_middle_of_a_history_are_answered_too():
    turns = [UserTurn("q"), AssistantTurn(OPEN), UserTurn("never mind"), AssistantTurn("fine")]
    again = [UserTurn("q"), AssistantTurn(OPEN), AssistantTurn("fine")]
    for history in (History(list(turns)), History(list(again))):
        before = list(history.turns)
        with pytest.warns(EllmerWarning, match=r"a call without a result \(f, 'a'\)"):
            talk(history, outside := Outside(whole("ok")), settings=replace(PLAN, warned=set()))
        assert [id for id, _ in results(outside.bodies[0])] == ["a", "b"]
        assert history.turns[:-2] == before


def test_a_partly_answered_history_gets_only_what_is_missing():
    turns = [
        UserTurn("q"),
        AssistantTurn(OPEN),
        UserTurn([ContentToolResult("1", request=OPEN[0])]),
        AssistantTurn("?"),
    ]
    with pytest.warns(EllmerWarning, match="a call without a result"):
        talk(History(turns), outside := Outside(whole("ok")), settings=replace(PLAN, warned=set()))
    assert min(results(outside.bodies[0])) == ("a", "1")
    assert len(results(outside.bodies[0])) == 2
