"""A conversation ends at its limits with a typed error and a valid history."""

from base64 import b64encode
from dataclasses import replace
from io import BytesIO

import pandas as pd
import pytest
from chats.loop import PLAN, Outside, called, ran, talk, whole
from PIL import Image

import ellmer_core as ec
from ellmer_core import UsageLimits
from ellmer_core.conversation.history import History
from ellmer_core.conversation.io_operations import Send
from ellmer_core.testing import ScriptedModel, tool_call

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
    "wrong",
    [
        {"requests": -1},
        {"tokens": 1.5},
        {"cost": "1"},
        {"tool_calls": True},
        {"per": "day"},
        {"same_calls": "3"},
    ],
)
def test_limits_are_numbers(wrong):
    with pytest.raises(ec.UsageError, match=next(iter(wrong))):
        UsageLimits(**wrong)


# --- a model that repeats itself -------------------------------------------------------------------------


def polled(results, **limits):
    """Returns how often a tool was run by a model that always makes the same call, and the error at the end."""
    given = iter(results)
    model = ScriptedModel(*[tool_call("status", job="a", part=1)] * len(results), "Done.")
    chat = model.chat(usage_limits=UsageLimits(**limits))
    runs = []

    def status(job: str, part: int) -> str:
        """Looks at a job."""
        runs.append(job)
        return next(given)

    chat.register_tool(status)
    try:
        chat.chat("Wait for it.")
    except ec.UsageLimitError as error:
        return len(runs), str(error)
    return len(runs), None


def test_a_model_that_repeats_itself_is_stopped():
    ran, error = polled(["busy"] * 9, same_calls=3)
    assert ran == 3
    assert 'status({"job": "a", "part": 1})' in error
    assert "same_calls=3" in error


def test_the_limit_of_same_calls_needs_the_same_results():
    assert polled([f"{n} %" for n in range(9)], same_calls=3) == (9, None)
    assert polled(["busy", "busy", "50 %", "busy", "busy", "done"], same_calls=3) == (6, None)
    assert polled(["busy"] * 9) == (9, None)


def test_other_calls_and_words_of_the_user_begin_anew():
    def look(place: str) -> str:
        """Looks."""
        return "nothing"

    chat = ScriptedModel(
        *[tool_call("look", place=place) for place in "aabaab"],
        "No.",
        *[tool_call("look", place="b")] * 2,
        "No.",
    ).chat(usage_limits=UsageLimits(same_calls=2, per="chat"))
    chat.register_tool(look)
    assert chat.chat("Look.") == "No."
    assert chat.chat("Look again.") == "No."


def test_calls_at_once_are_compared_without_their_order():
    def look(place: str) -> str:
        """Looks."""
        return f"nothing in {place}"

    both = [tool_call("look", place="a"), tool_call("look", place="b")]
    chat = ScriptedModel(both, both[::-1], both, "No.").chat(usage_limits=UsageLimits(same_calls=2))
    chat.register_tool(look)
    with pytest.raises(ec.UsageLimitError, match="same_calls=2"):
        chat.chat("Look.")
    assert chat.chat("And now?") == "No.", "the chat goes on"


def picture(width):
    file = BytesIO()
    Image.new("RGB", (width, 2)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(
    "made",
    [
        lambda n: pd.DataFrame({"place": ["Oslo"], "n": [n]}),
        lambda n: ec.ContentImageInline("image/png", b64encode(picture(n)).decode()),
    ],
)
def test_tables_and_pictures_are_compared_as_the_model_gets_them(made):
    def looked(numbers):
        given = iter(numbers)

        def look() -> object:
            """Looks."""
            return made(next(given))

        chat = ScriptedModel(*[tool_call("look")] * 3, "Done.").chat(usage_limits=UsageLimits(same_calls=2))
        chat.register_tool(look)
        return chat.chat("Look.")

    assert looked([1, 2, 3]) == "Done."
    with pytest.raises(ec.UsageLimitError, match="same_calls=2"):
        looked([1, 1, 1])


def test_failing_calls_count_too():
    def fail(path: str) -> str:
        """Reads a file."""
        raise FileNotFoundError(path)

    chat = ScriptedModel(*[tool_call("fail", path="x")] * 5).chat(usage_limits=UsageLimits(same_calls=3))
    chat.register_tool(fail)
    with pytest.raises(ec.UsageLimitError, match="same_calls=3"):
        chat.chat("Read it.")
    assert len(chat.get_turns()) == 8


@pytest.mark.parametrize("per", ["call", "chat"])
@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_many_prompts_have_the_limit_each(per):
    def look() -> str:
        """Looks."""
        return "nothing"

    chat = ScriptedModel(*[lambda _asked: tool_call("look")] * 8).chat(
        usage_limits=UsageLimits(same_calls=2, per=per)
    )
    chat.register_tool(look)
    texts = ec.parallel_chat_text(chat, ["one", "two"], max_active=1, on_error="continue", progress=False)
    assert texts == [None, None]
    assert ["same_calls=2" in str(error) for error in texts.errors.values()] == [True, True]
