"""Ctrl-C in the middle of many prompts: what was answered, and paid for, is returned."""

import asyncio
import os
import signal

import pytest
from many_chats import chat_with, provider

from ellmer_core import Chat, parallel_chat, parallel_chat_async, parallel_chat_text
from ellmer_core.errors import EllmerWarning

PROMPTS = [f"{n}?" for n in range(20)]


@pytest.fixture(autouse=True)
def heeds_ctrl_c():
    """Python ignores Ctrl-C where it was started in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupting(after):
    """Answers; while the prompt after so many is in work, the person at the keyboard has enough."""
    asked = []

    def answer(messages):
        asked.append(messages[-1]["content"])
        if len(asked) == after + 1:
            os.kill(os.getpid(), signal.SIGINT)
            return 400  # the interruption is there before any answer
        return {"role": "assistant", "content": messages[-1]["content"]}

    return answer, asked


def test_ctrl_c_returns_what_was_answered():
    answer, asked = interrupting(5)
    with provider(answer) as url, pytest.warns(EllmerWarning, match="5 of 20 prompts were answered"):
        outcomes = parallel_chat(chat_with(url), PROMPTS, max_active=1, progress=False)
    assert [fork.last_turn("assistant").text for fork in outcomes[:5]] == PROMPTS[:5]
    assert all(isinstance(fork, Chat) for fork in outcomes[:5])
    assert not any(isinstance(outcome, Chat) for outcome in outcomes[5:])
    assert len(asked) == 6


def test_ctrl_c_in_a_notebook_too():
    """There, an event loop is running in this thread already."""
    answer, _ = interrupting(3)

    async def cell(url):
        return parallel_chat_text(chat_with(url), PROMPTS, max_active=1, progress=False)

    loop = asyncio.new_event_loop()  # not asyncio.run(), which would take the signal
    try:
        with provider(answer) as url, pytest.warns(EllmerWarning, match="prompts were answered"):
            texts = loop.run_until_complete(cell(url))
    finally:
        loop.close()
    assert texts[:3] == PROMPTS[:3]
    assert not any(texts[4:])


def test_a_task_that_is_cancelled_stays_cancelled():
    async def main(url):
        work = asyncio.create_task(parallel_chat_async(chat_with(url), PROMPTS, progress=False))
        await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    with provider(lambda _: {"role": "assistant", "content": "Hi"}) as url:
        asyncio.run(main(url))
