"""When the next of many prompts goes out: one budget for all, and what the provider's headers allow."""

import asyncio
import json
import threading
import time
from collections import Counter
from datetime import UTC, datetime

import pytest
from chats.many import chat_with, provider

from ellmer_core.contents.turns import AssistantTurn
from ellmer_core.conversation.settings import UsageLimits
from ellmer_core.errors import EllmerWarning, UsageLimitError
from ellmer_core.jobs.pacing import Bucket, Budget, Pace, RateLimits, buckets, seconds_until
from ellmer_core.jobs.parallel import parallel_chat, parallel_chat_text
from ellmer_core.providers.openai_completions import chat_openai_completions
from ellmer_core.tools.definition import tool

WALL = datetime(2026, 11, 25, 12, 0, 0, tzinfo=UTC).timestamp()


def hello(_messages):
    return {"role": "assistant", "content": "Hello"}


def priced(url, **limits):
    """Returns a chat whose answers cost 3 input and 2 output tokens of a model with a price."""
    chat = chat_with(url, make=chat_openai_completions, model="gpt-5.6-terra")
    chat.usage_limits = UsageLimits(**limits)
    return chat


# One budget -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limits", [{"cost": 1e-9}, {"tokens": 5}, {"requests": 1}])
def test_all_prompts_share_one_budget(limits):
    asked = []

    def answer(messages):
        asked.append(messages)
        return hello(messages)

    with provider(answer) as url, pytest.warns(EllmerWarning, match="UsageLimitError: All prompts together"):
        results = parallel_chat(priced(url, **limits, per="chat"), ["a", "b", "c"])
    (name,) = limits
    assert len(asked) == 1
    assert sorted(type(each).__name__ for each in results) == ["Chat", "UsageLimitError", "UsageLimitError"]
    assert all(
        f"{name}={limits[name]:g}; the request was not sent" in str(e) for e in results.errors.values()
    )
    assert results.cost == pytest.approx(sum(row["cost"] for row in results[0].get_tokens()))


def test_what_is_open_counts_as_much_as_the_dearest_answer():
    now, most, lock = 0, Counter(), threading.Lock()

    def answer(messages):
        nonlocal now
        with lock:
            now += 1
            most[now] += 1
        time.sleep(0.02)
        with lock:
            now -= 1
        return hello(messages)

    with provider(answer) as url, pytest.warns(EllmerWarning):
        results = parallel_chat(
            priced(url, tokens=22, per="chat"), ["x"] * 12, max_active=10, on_error="continue"
        )
    assert sum(not isinstance(each, UsageLimitError) for each in results) == 5  # the fifth exceeds it: 25
    assert max(most) <= 3  # after the first answer: 4 more would be 25


@pytest.mark.parametrize(
    ("limits", "answered"), [({"tokens": 36}, 4), ({"requests": 6}, 3), ({"requests": 4}, 2)]
)
def test_a_prompt_that_has_begun_is_finished_before_another_begins(limits, answered):
    """Each prompt takes two requests. A prompt that has no budget for its second one would have paid for nothing."""

    @tool
    def look() -> str:
        """Looks."""
        return "seen"

    def answer(messages):
        if messages[-1]["role"] == "tool":
            return hello(messages)
        call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    with provider(answer) as url:
        chat = priced(url, **limits, per="chat")
        chat.register_tool(look)
        with pytest.warns(EllmerWarning):
            results = parallel_chat(chat, ["x"] * 8, on_error="continue")
    assert len(results) - len(results.errors) == answered


def test_the_cost_of_all_prompts_is_a_number_to_print():
    budget = Budget(UsageLimits())
    budget.add([AssistantTurn("a", cost=0.1)] * 3)
    assert budget.cost == 0.3


def test_the_history_counts_too_and_a_call_of_its_own_limit_does_not():
    with provider(hello) as url:
        chat = priced(url, requests=2, per="chat")
        chat.chat("first")
        with pytest.warns(EllmerWarning):
            texts = parallel_chat_text(chat, ["a", "b", "c"], max_active=1)
        assert texts == ["Hello", None, None]
        assert [type(texts.errors[n]) for n in (1, 2)] == [UsageLimitError] * 2, "the budget pays for neither"
        assert "on_error" not in str(texts.errors[2])
        chat.usage_limits = UsageLimits(requests=1)  # each prompt is a call of its own
        assert parallel_chat_text(chat, ["a", "b", "c"]) == ["Hello"] * 3


def test_tool_calls_are_counted_over_all_prompts():
    called = []

    @tool
    def look() -> str:
        """Looks."""
        called.append(1)
        return "seen"

    def answer(messages):
        if messages[-1]["role"] == "tool":
            return hello(messages)
        call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        return {"role": "assistant", "tool_calls": [call]}

    with (
        provider(answer) as url,
    ):
        chat = priced(url, tool_calls=2, per="chat")
        chat.register_tool(look)
        with pytest.warns(EllmerWarning, match="3 tool calls, and the limit is tool_calls=2"):
            results = parallel_chat(chat, ["a", "b", "c"], max_active=1)
    assert len(called) == 2
    assert list(results.errors) == [2]
    assert results[0].usage_limits == chat.usage_limits


def test_a_cost_that_is_not_known_is_said_after_the_first_answer():
    with provider(hello) as url:
        chat = chat_with(url)
        chat.usage_limits = UsageLimits(cost=1.0, per="chat")
        with pytest.warns(EllmerWarning, match=r"cost of .* is not known"):
            results = parallel_chat_text(chat, ["a", "b"], max_active=2)
    assert sorted(map(str, results)) == ["Hello", "None"]
    assert results.cost is None


# The headers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("120ms", 0.12),
        ("6m0s", 360),
        ("2m59.56s", 179.56),
        ("1h2m", 3720),
        ("7.66", 7.66),
        ("2026-11-25T12:00:30Z", 30),
        ("2026-11-25T11:00:00Z", 0),
        (f"{WALL + 5:.0f}", 5),
        (f"{(WALL + 5) * 1000:.0f}", 5),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("9" * 400, None),
        ("1.2.3s", None),
        ("2026-99-99T00:00:00Z", None),
    ],
)
def test_the_forms_of_a_reset(reset, seconds):
    assert seconds_until(reset, WALL) == (seconds if seconds is None else pytest.approx(seconds))


def test_the_allowances_of_anthropic_openai_and_openrouter():
    anthropic = {
        "anthropic-ratelimit-requests-limit": "4000",
        "anthropic-ratelimit-requests-remaining": "3999",
        "anthropic-ratelimit-requests-reset": "2026-11-25T12:00:01Z",
        "anthropic-ratelimit-input-tokens-limit": "2000000",
        "anthropic-ratelimit-input-tokens-remaining": "1000000",
        "anthropic-ratelimit-input-tokens-reset": "2026-11-25T12:00:30Z",
    }
    assert buckets(anthropic, 7.0, WALL) == {
        "requests": Bucket(4000, 3999, 1, 7),
        "input-tokens": Bucket(2000000, 1000000, 30, 7),
    }
    openai = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-limit-tokens": "-1",  # Azure does
        "x-ratelimit-remaining-tokens": "-1",
        "x-ratelimit-reset-tokens": "0",
    }
    assert buckets(openai, 7.0, WALL) == {"requests": Bucket(500, 499, 0.12, 7)}
    openrouter = {
        "x-ratelimit-limit": "20",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": f"{(WALL + 9) * 1000:.0f}",
    }
    assert buckets(openrouter, 7.0, WALL) == {"requests": Bucket(20, 0, 9, 7)}


def test_an_allowance_fills_evenly_and_is_not_believed_for_long():
    bucket = Bucket(limit=60, remaining=0, fills=60, read=100)
    assert bucket.wait(1, 100) == 1
    assert bucket.wait(1, 100.25) == 0.75
    assert bucket.wait(1000, 100) == 60  # more than there ever is
    assert Bucket(60, 10, 50, 100).wait(10, 100) == 0
    assert Bucket(60, 0, 1e9, 100).wait(60, 100) == 120


def test_requests_wait_for_their_allowance():
    limits = RateLimits(4)
    headers = {
        "x-ratelimit-limit-requests": "10",
        "x-ratelimit-remaining-requests": "2",
        "x-ratelimit-reset-requests": "8s",
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "400",
        "x-ratelimit-reset-tokens": "6s",
    }
    limits.read(200, headers, 0.0, WALL)
    assert [limits.wait(0.0, unanswered) for unanswered in range(3)] == [0, 0, 1]
    limits.tokens = 300
    assert limits.wait(0.0, 0) == 0
    assert limits.wait(0.0, 1) == pytest.approx(2)  # 600 of 400 tokens, 100 a second


def test_a_busy_provider_is_given_time_and_fewer_requests():
    limits = RateLimits(8)
    assert limits.wait(0.0, 7) == 0
    assert limits.wait(0.0, 8) == float("inf")
    for _ in range(3):  # sent together, refused together
        limits.read(429, {"retry-after": "5"}, 0.0, WALL)
    assert limits.at_once == 4
    assert limits.wait(2.0, 0) == 3
    assert limits.wait(6.0, 4) == float("inf")
    limits.read(529, {}, 6.0, WALL)
    assert (limits.at_once, limits.wait(6.0, 0)) == (2, 1)
    limits.read(429, {"retry-after": "999999"}, 8.0, WALL)
    assert limits.wait(8.0, 0) == 120
    for _ in range(100):
        limits.read(200, {}, 200.0, WALL)
    assert limits.at_once == 8


@pytest.mark.slow
def test_a_job_stays_within_the_limits_of_its_provider():
    """The provider takes 4 requests in 0.4 seconds; more get 429."""
    lock, taken, refused = threading.Lock(), [], []

    def answer(messages):
        with lock:
            now = time.monotonic()
            taken[:] = [then for then in taken if now - then < 0.4]
            headers = {
                "x-ratelimit-limit-requests": "4",
                "x-ratelimit-remaining-requests": str(max(3 - len(taken), 0)),
                "x-ratelimit-reset-requests": "400ms",
            }
            if len(taken) >= 4:
                refused.append(now)
                return 429, {**headers, "retry-after-ms": "400"}
            taken.append(now)
        return hello(messages), headers

    with provider(answer) as url:
        texts = parallel_chat_text(chat_with(url, max_tries=5), ["x"] * 14, rpm=1e6)
    assert texts == ["Hello"] * 14
    assert len(refused) <= 10  # the first burst; without the headers it is some 50


def test_fallbacks_have_a_pace_of_their_own():
    asked = Counter()

    def down(_messages):
        asked["down"] += 1
        return 503

    with provider(down) as bad, provider(hello) as good:
        chat = chat_with(bad).with_fallbacks([chat_with(good)])
        results = parallel_chat(chat, ["a", "b"], max_active=1)
    assert [each.last_turn().text for each in results] == ["Hello"] * 2
    assert asked["down"] == 2
    assert [c for _, c in results[0].fallbacks] == [c for _, c in chat.fallbacks]


def test_the_data_of_a_reader_cannot_be_a_header():
    assert buckets({"x-ratelimit-limit-requests": json.dumps({}), "x-other": "1"}, 0.0, WALL) == {}


def test_each_answer_closes_one_request():
    pace = Pace(60_000, burst=4)

    async def three_asked_and_one_answered():
        for _ in range(3):
            await pace.admit()
        pace.answered()

    asyncio.run(three_asked_and_one_answered())
    assert pace.unanswered == 2
