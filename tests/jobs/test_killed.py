"""A process is killed (SIGKILL) before and after every write and every request of each kind of job: nothing is paid twice, and
no answer that was written is lost.
"""

import json
import os
import signal
from collections import Counter
from pathlib import Path
from unittest import mock

import httpx
import pytest
from chats.many import chat_with, provider

import ellmer_core as ec
from ellmer_conformance.server import StrictServer
from ellmer_core.errors import UsageError
from ellmer_core.jobs.parallel import Journal

pytestmark = pytest.mark.invariants

PROMPTS = ["Say one.", "Say two.", "Say three."]
#: `nox -s invariants` kills at every place, the tests at every third one.
STEP = 1 if os.environ.get("INVARIANTS") else 3


def interrupted(work, at):
    """Runs `work()` in a fork that is killed at its `at`-th write or request, counted before and after each. Returns the number
    of these places, and whether the process was killed.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(_counted(work, at)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return int(said or 0), os.WIFSIGNALED(status)


def _counted(work, at):
    places = 0

    def place():
        nonlocal places
        places += 1
        if places == at:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(owner, name):
        real = getattr(owner, name)

        def wrapped(*args, **kwargs):
            place()
            result = real(*args, **kwargs)
            place()
            return result

        return mock.patch.object(owner, name, wrapped)

    async_send = httpx.AsyncClient.send

    async def asend(*args, **kwargs):
        place()
        result = await async_send(*args, **kwargs)
        place()
        return result

    with (
        around(Path, "write_text"),
        around(Path, "write_bytes"),
        around(Path, "replace"),
        around(Journal, "add"),
        around(httpx.Client, "send"),
        mock.patch.object(httpx.AsyncClient, "send", asend),
    ):
        work()
    return places


def every_place(work, tmp_path):
    """Yields the number of each place, after a run that was not interrupted."""
    places, killed = interrupted(work, 0)
    assert not killed
    assert places > 10
    yield from range(1, places + 1, STEP)


def _openai(url):
    return ec.chat_openai(base_url=f"{url}/v1", api_key="k", echo="none", model="gpt-4.1")


def _anthropic(url):
    return ec.chat_anthropic(base_url=f"{url}/v1", api_key="k", echo="none", model="claude-sonnet-5")


def _handed_in(server, nonce):
    entries = server.engine.journal.of("any", nonce)
    return sum(e.request.method == "POST" and e.request.url.endswith("/batches") for e in entries)


@pytest.mark.parametrize("make", [_openai, _anthropic], ids=["tagged", "untagged"])
def test_a_batch_is_handed_in_once_wherever_the_process_is_killed(make, tmp_path):
    with StrictServer() as server:

        def job(name):
            chat = make(server.url("any", name))
            return lambda: ec.batch_chat_text(chat, PROMPTS, tmp_path / name, sleep=lambda _: None)

        for at in every_place(job("whole"), tmp_path):
            name = f"killed-{at}"
            assert interrupted(job(name), at)[1]
            if make is _anthropic and _unknown(tmp_path / name):
                with pytest.raises(UsageError, match="interrupted while it was submitted"):
                    job(name)()
                assert _handed_in(server, name) <= 1
                continue
            texts = job(name)()
            assert len(texts) == 3
            assert all(texts)
            assert _handed_in(server, name) == 1


def _unknown(path):
    """Tells whether the process was killed while the batch was submitted. Only an API with a place for a tag can say more."""
    return path.exists() and json.loads(path.read_text())["stage"] == "submitting"


def test_answers_of_parallel_prompts_are_paid_once_wherever_the_process_is_killed(tmp_path):
    asked = Counter()

    def answer(messages):
        asked[name, messages[-1]["content"]] += 1
        return {"role": "assistant", "content": messages[-1]["content"].upper()}

    with provider(answer) as url:

        def work():
            return ec.parallel_chat_text(
                chat_with(url), PROMPTS, max_active=1, rpm=1e6, progress=False, path=tmp_path / name
            )

        name = "whole"
        for at in every_place(work, tmp_path):
            name = f"killed-{at}"
            interrupted(work, at)
            lines = (tmp_path / name).read_bytes().splitlines() if (tmp_path / name).exists() else []
            kept = {PROMPTS[json.loads(line)["place"]] for line in lines[1:]}
            before = Counter({prompt: asked[name, prompt] for prompt in PROMPTS})

            assert work() == [prompt.upper() for prompt in PROMPTS]
            again = {prompt for prompt in PROMPTS if asked[name, prompt] > before[prompt]}
            assert again == set(PROMPTS) - kept
            # what is paid twice is the one answer that was under way
            assert sum(asked[name, prompt] for prompt in PROMPTS) <= len(PROMPTS) + 1
