"""Ctrl-C during many prompts: the paid answers are returned."""

import asyncio
import os
import signal
import threading

import pytest
from chats.many import chat_with, provider

from ellmer_core import Chat, parallel_chat, parallel_chat_async, parallel_chat_text
from ellmer_core.errors import EllmerWarning

PROMPTS = [f"{n}?" for n in range(20)]


class Interrupting:
    """Answers. One prompt is interrupted by Ctrl-C, and gets no answer until the caller has returned."""

    def __init__(self, after):
        self.after, self.asked, self.returned = after, [], threading.Event()

    def __call__(self, messages):
        self.asked.append(messages[-1]["content"])
        if len(self.asked) == self.after + 1:
            os.kill(os.getpid(), signal.SIGINT)
            self.returned.wait(30)
            return 400
        return {"role": "assistant", "content": messages[-1]["content"]}


def test_ctrl_c_returns_what_was_answered():
    answer = Interrupting(after=5)
    with provider(answer) as url:
        with pytest.warns(EllmerWarning, match="5 of 20 prompts were answered"):
            outcomes = parallel_chat(chat_with(url), PROMPTS, max_active=1, progress=False)
        answer.returned.set()
    assert [fork.last_turn("assistant").text for fork in outcomes[:5]] == PROMPTS[:5]
    assert all(isinstance(fork, Chat) for fork in outcomes[:5])
    assert not any(isinstance(outcome, Chat) for outcome in outcomes[5:])
    assert len(answer.asked) == 6


def test_ctrl_c_in_a_notebook_too():
    """In a notebook, an event loop is running in this thread."""
    answer = Interrupting(after=3)

    async def cell(url):
        return parallel_chat_text(chat_with(url), PROMPTS, max_active=1, progress=False)

    loop = asyncio.new_event_loop()  # not asyncio.run(), which would take the signal
    try:
        with provider(answer) as url:
            with pytest.warns(EllmerWarning, match="prompts were answered"):
                texts = loop.run_until_complete(cell(url))
            answer.returned.set()
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
