"""Results of many prompts as they arrive."""

import asyncio
import gc
import threading
from contextlib import aclosing
from dataclasses import dataclass

import pytest
from chats.many import chat_with, provider

import ellmer_core
from ellmer_core.errors import BadRequestError, NotSentError, UsageError
from ellmer_core.jobs.parallel import (
    parallel_chat_as_completed,
    parallel_chat_as_completed_async,
    parallel_chat_text,
)


@dataclass
class Word:
    text: str


def upper(messages):
    return {"role": "assistant", "content": messages[-1]["content"].upper()}


class Slow:
    """The answer to "slow" waits until the test allows it."""

    def __init__(self):
        self.allowed, self.asked = threading.Event(), []

    def __call__(self, messages):
        prompt = messages[-1]["content"]
        self.asked.append(prompt)
        if prompt == "slow":
            self.allowed.wait(30)
        return 400 if prompt == "bad" else upper(messages)


def test_what_arrives_first_comes_first():
    answer = Slow()
    with provider(answer) as url:
        seen = []
        for index, fork in parallel_chat_as_completed(chat_with(url), ["slow", "b", "c"]):
            seen.append((index, fork.last_turn().text))
            if len(seen) == 2:
                answer.allowed.set()
    assert sorted(seen[:2]) == [(1, "B"), (2, "C")]
    assert seen[2] == (0, "SLOW")


def test_async_and_data():
    def answer(messages):
        return {"role": "assistant", "content": f'{{"text": "{messages[-1]["content"]}"}}'}

    async def main(url):
        results = parallel_chat_as_completed_async(chat_with(url), ["a", "b"], type=Word)
        return [result async for result in results]

    with provider(answer) as url:
        assert sorted(asyncio.run(main(url))) == [(0, Word("a")), (1, Word("b"))]
        assert sorted(parallel_chat_as_completed(chat_with(url), ["a"], type=Word)) == [(0, Word("a"))]


def test_each_prompt_has_one_result_also_if_it_was_not_sent():
    with provider(Slow()) as url:
        results = dict(parallel_chat_as_completed(chat_with(url), ["a", "bad", "c", "d"], max_active=1))
    assert [type(results[n]) for n in range(4)] == [
        ellmer_core.Chat,
        BadRequestError,
        NotSentError,
        NotSentError,
    ]


def test_the_first_error_is_raised_if_it_is_wanted():
    with provider(Slow()) as url, pytest.raises(BadRequestError):
        list(parallel_chat_as_completed(chat_with(url), ["a", "bad", "c"], max_active=1, on_error="stop"))


@pytest.mark.parametrize("is_async", [False, True])
def test_a_loop_that_ends_early_cancels_the_others(is_async):
    answer = Slow()

    async def first(url):
        async with aclosing(parallel_chat_as_completed_async(chat_with(url), ["b", "slow"])) as results:
            return await anext(results)

    with provider(answer) as url:
        if is_async:
            index, _ = asyncio.run(first(url))
        else:
            results = parallel_chat_as_completed(chat_with(url), ["b", "slow"])
            index, _ = next(results)
            results.close()  # it does not wait for the slow one
        answer.allowed.set()
    assert index == 0


def test_with_a_file_what_was_answered_comes_first_and_is_not_asked_again(tmp_path):
    answer, path = Slow(), tmp_path / "answers.jsonl"
    answer.allowed.set()
    with provider(answer) as url:
        for _ in parallel_chat_as_completed(chat_with(url), ["a", "b", "c"], path=path, max_active=1):
            break
        asked = len(answer.asked)
        results = list(parallel_chat_as_completed(chat_with(url), ["a", "b", "c"], path=path, max_active=1))
    assert 1 <= asked < 3
    assert results[0][0] == 0
    assert sorted((index, fork.last_turn().text) for index, fork in results) == [(0, "A"), (1, "B"), (2, "C")]
    assert answer.asked.count("a") == 1


def test_wrong_arguments_raise_at_once():
    chat = chat_with("http://127.0.0.1:9")
    with pytest.raises(UsageError, match="Prompts must be a list"):
        parallel_chat_as_completed(chat, "Hi")
    with pytest.raises(TypeError, match="did you mean `max_active=`"):
        parallel_chat_as_completed_async(chat, ["Hi"], max_actve=2)


def test_progress_and_cost_are_reported():
    heard = []
    with provider(Slow()) as url:
        chat = chat_with(url, make=ellmer_core.chat_openai_completions, model="gpt-5.6-terra")
        options = {"max_active": 1, "on_error": "continue", "progress": heard.append}
        with pytest.warns(ellmer_core.EllmerWarning) as warned:
            texts = parallel_chat_text(chat, ["a", "bad", "c"], **options)
    assert {each.filename for each in warned} == {__file__}  # and not a line of asyncio
    assert [(now.done, now.total, now.failed) for now in heard] == [(1, 3, 0), (2, 3, 1), (3, 3, 1)]
    assert 0 < heard[0].cost < heard[2].cost == texts.cost
    assert list(texts.errors) == [1]


def test_the_connections_of_a_chat_that_is_gone_end_with_the_loop():
    """A connection that stays open is a ResourceWarning, which is an error here."""

    async def main(url):
        await asyncio.gather(*(chat.chat_async("a") for chat in [chat_with(url).fork() for _ in range(3)]))

    with provider(upper) as url:
        asyncio.run(main(url))
    gc.collect()
