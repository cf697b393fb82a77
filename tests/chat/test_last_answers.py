"""`UsageLimits(at_limit="answer")`: the last request that a limit allows has no tools, so that it is an answer."""

import asyncio

import pytest

from ellmer_core import ToolRoundsError, UsageError, UsageLimitError, UsageLimits, tool
from ellmer_core.conversation.loop import REFUSED
from ellmer_core.testing import ScriptedModel, tool_call, tool_results, transcript


@tool
def look(at: str) -> str:
    """Looks at something."""
    return "a cat"


def looking(*answers, **options):
    model = ScriptedModel(*answers)
    chat = model.chat(**options)
    chat.register_tool(look)
    return chat, model


CALL = tool_call("look", at="the sofa")


def test_the_last_request_has_no_tools():
    chat, model = looking(CALL, CALL, "A cat.", usage_limits=UsageLimits(requests=3, at_limit="answer"))
    assert chat.chat("Look.") == "A cat."
    assert [list(asked.tools) for asked in model.asked] == [["look"], ["look"], []]
    assert model.asked[-1].results == ["a cat"]
    assert [type(content).__name__ for content in chat.last_turn("user").contents] == ["ContentToolResult"]


@pytest.mark.parametrize(
    "options",
    [
        {"usage_limits": UsageLimits(tool_calls=1, at_limit="answer")},
        {"usage_limits": UsageLimits(at_limit="answer"), "max_tool_rounds": 1},
    ],
    ids=["calls", "rounds"],
)
def test_calls_beyond_a_limit_are_not_run_and_the_model_answers(options):
    seen = []
    chat, model = looking(CALL, CALL, "A cat.", **options)
    chat.on_tool_result(lambda result: seen.append(result.error))
    assert chat.chat("Look.") == "A cat."
    assert [result.error for result in tool_results(chat)] == seen == [None, REFUSED]
    assert not model.asked[-1].tools


def test_a_model_that_repeats_a_call_answers():
    limits = UsageLimits(same_calls=2, at_limit="answer")
    chat, _ = looking(CALL, CALL, CALL, "A cat.", usage_limits=limits)
    assert chat.chat("Look.") == "A cat."


def test_the_next_call_has_its_tools_again():
    chat, model = looking(
        CALL, "A cat.", CALL, "A dog.", usage_limits=UsageLimits(requests=2, at_limit="answer")
    )
    chat.chat("Look.")
    assert chat.chat("Look again.") == "A dog."
    assert [len(asked.tools) for asked in model.asked] == [1, 0, 1, 0]


def test_streams_and_async_code_do_the_same():
    limits = UsageLimits(tool_calls=0, at_limit="answer")
    chat, _ = looking(CALL, "I cannot look.", usage_limits=limits)
    shown = [type(content).__name__ for content in chat.stream("Look.", content="all")]
    assert shown == ["ContentToolRequest", "ContentToolResult", *["ContentText"] * (len(shown) - 2)]
    other, _ = looking(CALL, "I cannot look.", usage_limits=limits)
    asyncio.run(other.chat_async("Look."))
    assert transcript(other) == transcript(chat)


def test_a_model_that_calls_nevertheless_gets_the_error():
    chat, _ = looking(CALL, CALL, usage_limits=UsageLimits(requests=2, at_limit="answer"))
    with pytest.raises(UsageLimitError):
        chat.chat("Look.")
    chat, _ = looking(CALL, CALL, usage_limits=UsageLimits(at_limit="answer"), max_tool_rounds=0)
    with pytest.raises(ToolRoundsError):
        chat.chat("Look.")


def test_data_are_answered_too():
    limits = UsageLimits(requests=2, at_limit="answer")
    chat, _ = looking(CALL, {"n": 1}, usage_limits=limits)
    assert chat.chat_structured("Look.", type=dict[str, int]) == {"n": 1}


def test_a_parameter_about_tools_is_left_out():
    limits = UsageLimits(requests=2, at_limit="answer")
    chat, _ = looking(CALL, "A cat.", usage_limits=limits, params={"tool_choice": "auto"})
    assert chat.chat("Look.") == "A cat."
    assert chat.get_params()["tool_choice"] == "auto"


def test_a_wrong_word_is_refused():
    with pytest.raises(UsageError, match='at_limit= must be "raise" or "answer"'):
        UsageLimits(at_limit="stop")
