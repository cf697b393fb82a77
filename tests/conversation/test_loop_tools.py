"""The tools that the loop runs, their callbacks and their results."""

from dataclasses import replace

import pytest
from chats.loop import (
    PLAN,
    STREAM,
    Outside,
    called,
    f,
    piece,
    ran,
    results,
    status,
    talk,
    tools_streamed,
    whole,
)

from ellmer_core.contents.content import ContentText, ContentToolResult
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, UserTurn
from ellmer_core.conversation.history import INTERRUPTED, NEVER_CALLED, History
from ellmer_core.conversation.io_operations import CallTools
from ellmer_core.errors import IncompleteResponseError, ServerError, ToolReject, ToolRoundsError
from ellmer_core.schemas.type_functions import type_object, type_string
from ellmer_core.tool_execution import invoke
from ellmer_core.tools.definition import tool

pytestmark = pytest.mark.usefixtures("no_tool_ran_yet")


def test_tools_run_one_by_one_each_with_its_request_shown_before_and_its_result_after():
    history, outside = History(), Outside(called("a", "b"), whole("ok"))
    seen = []
    settings = replace(
        PLAN, on_request=[lambda r: seen.append(r.id)], on_result=[lambda r: seen.append(r.value)]
    )

    talk(history, outside, settings=settings)

    assert seen == ["a", "<a>", "b", "<b>"]
    assert [type(c).__name__ for c in outside.shown] == [
        *("UserTurn", "AssistantTurn"),
        *("ContentToolRequest", "ContentToolResult") * 2,
        *("ContentText", "AssistantTurn"),
    ]
    assert results(outside.bodies[1]) == [("a", "<a>"), ("b", "<b>")]
    assert [type(t) for t in history.turns] == [UserTurn, AssistantTurn] * 2


def test_concurrent_tools_run_in_one_step_and_answer_in_the_order_of_the_calls():
    outside = Outside(called("a", "b"), whole("ok"))
    backwards = outside.do

    def do(effect):
        if isinstance(effect, CallTools):
            for place in reversed(effect.requests):
                effect.keep(place, invoke(effect.requests[place]))
            return None
        return backwards(effect)

    outside.do = do
    talk(History(), outside, settings=replace(PLAN, concurrent=True))
    assert ran == ["b", "a"]
    assert results(outside.bodies[1]) == [("a", "<a>"), ("b", "<b>")]
    assert [c.id for c in outside.shown if isinstance(c, ContentToolResult)] == ["a", "b"]


def test_equal_calls_both_run():
    talk(History(), outside := Outside(whole(None, *[(i, "f", '{"x": "a"}') for i in "12"]), whole("ok")))
    assert ran == ["a", "a"]
    assert results(outside.bodies[1]) == [("1", "<a>"), ("2", "<a>")]


def test_failures_are_results():
    calls = whole(
        None, ("1", "f", '{"x": "bad"}'), ("2", "g", "{}"), ("3", "f", '{"x": '), ("4", "f", '{"x": "a"}')
    )
    talk(History(), outside := Outside(calls, whole("ok")))
    assert ran == ["bad", "a"]
    texts = dict(results(outside.bodies[1]))
    assert "no such thing" in texts["1"]
    assert "nknown tool" in texts["2"]
    assert "not JSON" in texts["3"]
    assert texts["4"] == "<a>"


def test_a_call_that_was_cut_at_the_limit_is_told_so_and_not_run():
    cut, asked = whole(None, ("1", "f", '{"x": "Pa'), finish="length"), []
    talk(History(), outside := Outside(cut, whole("ok")), settings=replace(PLAN, on_request=[asked.append]))
    assert ran == asked == []
    assert "cut off" in dict(results(outside.bodies[1]))["1"]


def test_a_callback_can_refuse_a_call():
    def refuse(request):
        if request.arguments["x"] == "a":
            raise ToolReject("Not now.")

    seen = []
    settings = replace(PLAN, on_request=[refuse], on_result=[seen.append])
    talk(History(), outside := Outside(called("a", "b"), whole("ok")), settings=settings)
    assert ran == ["b"]
    assert "Not now." in dict(results(outside.bodies[1]))["a"]
    assert [result.id for result in seen] == ["a", "b"]


def test_another_exception_in_a_callback_is_the_callers_and_the_chat_goes_on():
    history = History()

    def fail(content):
        if content.id == "b":
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        talk(history, Outside(called("a", "b", "c")), settings=replace(PLAN, on_request=[fail]))
    talk(history, outside := Outside(whole("ok")))
    assert results(outside.bodies[0]) == [
        ("a", "<a>"),
        *[(i, f"Tool calling failed with error {NEVER_CALLED}") for i in "bc"],
    ]
    assert ran == ["a"]


def test_each_result_is_kept_the_moment_it_exists():
    history = History()
    with pytest.raises(KeyboardInterrupt):
        talk(history, Outside(called("a", "b", "stop", "d")))
    assert [r.value for r in history.results.values()] == ["<a>", "<b>", None]
    assert history.turns[-1].tool_requests

    talk(history, outside := Outside(whole("ok")), [ContentText("Go on.")])
    assert ran == ["a", "b", "stop"]
    assert [text for _, text in results(outside.bodies[0])] == [
        "<a>",
        "<b>",
        f"Tool calling failed with error {INTERRUPTED}",  # it may have done something before
        f"Tool calling failed with error {NEVER_CALLED}",
    ]
    assert outside.bodies[0]["messages"][-1] == {"role": "user", "content": "Go on."}


def test_results_stay_when_the_request_that_carries_them_fails():
    history = History()
    with pytest.raises(ServerError):
        talk(history, Outside(called("a"), status(500)), settings=replace(PLAN, max_tries=1))
    assert history.turns[-1].tool_requests
    assert len(history.turns) == 2

    talk(history, outside := Outside(whole("ok")), [])
    assert ran == ["a"]
    assert results(outside.bodies[0]) == [("a", "<a>")]
    assert history.results == {}


def test_results_are_history_once_an_answer_to_them_was_shown():
    history = History()
    with pytest.raises(IncompleteResponseError):
        talk(history, Outside(tools_streamed("a"), [[piece("Half")]]), settings=STREAM)
    assert isinstance(history.turns[-1], AssistantPartialTurn)
    assert history.turns[-2].tool_results
    assert history.results == {}


def test_there_is_a_limit_to_rounds():
    history = History()
    with pytest.raises(ToolRoundsError, match="max_tool_rounds"):
        talk(history, Outside(*map(called, "abcd")), settings=replace(PLAN, max_tool_rounds=2))
    assert ran == ["a", "b"]
    talk(history, outside := Outside(whole("ok")))
    assert NEVER_CALLED in results(outside.bodies[0])[-1][1]


def test_tools_and_structured_output_share_one_loop():
    settings = replace(PLAN, type=type_object(title=type_string()))
    turn = talk(History(), outside := Outside(called("a"), whole('{"title": "x"}')), settings=settings)
    assert turn.text == '{"title": "x"}'
    assert all("tools" in body and "response_format" in body for body in outside.bodies)


def test_a_tool_that_was_registered_by_a_tool_is_offered_at_once():
    tools = {}

    @tool
    def learn() -> str:
        """Learns f."""
        tools["f"] = f
        return "learnt"

    tools["learn"] = learn
    settings = replace(PLAN, tools=tools)
    talk(
        History(),
        outside := Outside(whole(None, ("1", "learn", "{}")), called("a"), whole("ok")),
        settings=settings,
    )
    assert [len(body["tools"]) for body in outside.bodies] == [1, 2, 2]
    assert ran == ["a"]
