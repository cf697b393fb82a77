"""A conversation ends at its limits with a typed error and a valid history."""

from dataclasses import replace

import pytest
from chats.loop import PLAN, Outside, called, ran, talk, whole

import ellmer_core as ec
from ellmer_core import UsageLimits
from ellmer_core.conversation.history import History
from ellmer_core.conversation.io_operations import Send

pytestmark = pytest.mark.usefixtures("no_tool_ran_yet")

#: Each answer reads 10 tokens and writes 5.
LIMITS = [
    (UsageLimits(requests=1), "requests=1", ["a"]),
    (UsageLimits(tokens=15), "tokens=15", ["a"]),
    (UsageLimits(cost=0.5), "cost=0.5", ["a"]),
    (UsageLimits(tool_calls=1), "tool_calls=1", []),
]


@pytest.mark.parametrize(("limits", "why", "called_tools"), LIMITS)
def test_a_limit_ends_the_conversation_before_the_next_request_or_call(limits, why, called_tools):
    history = History()
    outside = Outside(called("a") if called_tools else called("a", "b"), whole("ok"))
    settings = replace(PLAN, usage_limits=limits, price=lambda _wire, _tokens: 0.5)

    with pytest.raises(ec.UsageLimitError, match=why):
        talk(history, outside, settings=settings)

    assert ran == called_tools
    assert len([effect for effect in outside.seen if isinstance(effect, Send)]) == 1
    assert [type(turn).__name__ for turn in history.turns] == ["UserTurn", "AssistantTurn"]
    talk(history, outside, settings=PLAN)
    assert history.turns[-1].text == "ok"
    assert ran == called_tools  # what ran is not run again


def test_an_answer_that_is_there_is_not_lost_to_a_limit():
    history, outside = History(), Outside(whole("ok"))

    assert talk(history, outside, settings=replace(PLAN, usage_limits=UsageLimits(tokens=1))).text == "ok"


def test_a_limit_counts_a_call_of_the_chat_or_all_of_it():
    history, outside = History(), Outside(whole("1"), whole("2"), whole("3"))
    each, in_all = UsageLimits(requests=1), UsageLimits(requests=2, per="chat")

    talk(history, outside, settings=replace(PLAN, usage_limits=each))
    talk(history, outside, settings=replace(PLAN, usage_limits=each))
    with pytest.raises(ec.UsageLimitError, match="used 2 of requests=2"):
        talk(history, outside, settings=replace(PLAN, usage_limits=in_all))
    assert len(history.turns) == 4


def test_a_cost_that_nobody_knows_keeps_no_limit_and_says_so():
    with pytest.raises(ec.UsageLimitError, match=r"cost of .* is not known"):
        talk(
            History(),
            Outside(called("a"), whole("ok")),
            settings=replace(PLAN, usage_limits=UsageLimits(cost=1.0)),
        )


@pytest.mark.parametrize(
    "wrong", [{"requests": -1}, {"tokens": 1.5}, {"cost": "1"}, {"tool_calls": True}, {"per": "day"}]
)
def test_limits_are_numbers(wrong):
    with pytest.raises(ec.UsageError, match=next(iter(wrong))):
        UsageLimits(**wrong)
