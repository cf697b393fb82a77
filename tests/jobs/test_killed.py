"""A process is killed (SIGKILL) before and after every write and every request of each kind of job: nothing is paid twice, and
no answer that was written is lost.
"""

import asyncio
import json
import os
import signal
from collections import Counter
from operator import itemgetter
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
        around(os, "fsync"),
        around(os, "truncate"),
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


def _numbers(chat, prompts, path, **options):
    return ec.batch_chat_structured(chat, prompts, path, type=ec.type_object(n=ec.type_integer()), **options)


#: The APIs that have batches: the end of their URL, what makes a chat, and the path that submits one.
APIS = {
    "openai": ("/v1", ec.chat_openai, "gpt-4.1", "/batches"),
    "openai_completions": ("/v1", ec.chat_openai_completions, "gpt-4.1", "/batches"),
    "groq": ("/v1", ec.chat_groq, "openai/gpt-oss-120b", "/batches"),
    "gemini": ("/v1beta", ec.chat_google_gemini, "gemini-2.5-flash", ":batchGenerateContent"),
    "anthropic": ("/v1", ec.chat_anthropic, "claude-sonnet-5", "/batches"),
}


def _handed_in(server, nonce, end):
    entries = server.engine.journal.of("any", nonce)
    return sum(e.request.method == "POST" and e.request.url.endswith(end) for e in entries)


@pytest.mark.parametrize("work", [ec.batch_chat_text, _numbers], ids=["text", "structured"])
@pytest.mark.parametrize("api", APIS)
def test_a_batch_is_handed_in_once_wherever_the_process_is_killed(api, work, tmp_path):
    prefix, make, model, end = APIS[api]
    with StrictServer() as server:

        def job(name):
            chat = make(base_url=server.url("any", name) + prefix, api_key="k", echo="none", model=model)
            return lambda: work(chat, PROMPTS, tmp_path / name, sleep=lambda _: None)

        for at in every_place(job("whole"), tmp_path):
            name = f"killed-{at}"
            assert interrupted(job(name), at)[1]
            if api == "anthropic" and _unknown(tmp_path / name):
                with pytest.raises(UsageError, match="interrupted while it was submitted"):
                    job(name)()
                assert _handed_in(server, name, end) <= 1
                continue
            answers = job(name)()
            assert len(answers) == 3
            assert None not in answers
            assert _handed_in(server, name, end) == 1


def _unknown(path):
    """Tells whether the process was killed while the batch was submitted. Only an API with a place for a tag can say more."""
    return path.exists() and json.loads(path.read_text())["stage"] == "submitting"


def _texts(chats):
    return [chat.last_turn().text for chat in chats]


def _in_order(results):
    return _texts(chat for _, chat in sorted(results, key=itemgetter(0)))


async def _collected(results):
    return [each async for each in results]


def _said(numbers):
    return [each["said"] for each in numbers]


#: Each function that sends many prompts, as one that returns what was said.
MANY = {
    "texts": ec.parallel_chat_text,
    "chats": lambda *asked, **options: _texts(ec.parallel_chat(*asked, **options)),
    "data": lambda *asked, **options: _said(ec.parallel_chat_structured(*asked, type=SAID, **options)),
    "one by one": lambda *asked, **options: _in_order(ec.parallel_chat_as_completed(*asked, **options)),
    "async texts": lambda *asked, **options: asyncio.run(ec.parallel_chat_text_async(*asked, **options)),
    "async chats": lambda *asked, **options: _texts(asyncio.run(ec.parallel_chat_async(*asked, **options))),
    "async data": lambda *asked, **options: _said(
        asyncio.run(ec.parallel_chat_structured_async(*asked, type=SAID, **options))
    ),
    "async, one by one": lambda *asked, **options: _in_order(
        asyncio.run(_collected(ec.parallel_chat_as_completed_async(*asked, **options)))
    ),
}
SAID = ec.type_object(said=ec.type_string())


@pytest.mark.parametrize("kind", MANY)
def test_answers_of_parallel_prompts_are_paid_once_wherever_the_process_is_killed(kind, tmp_path):
    asked = Counter()

    def answer(messages):
        prompt = messages[-1]["content"]
        asked[name, prompt] += 1
        said = json.dumps({"said": prompt.upper()}) if "data" in kind else prompt.upper()
        return {"role": "assistant", "content": said}

    with provider(answer) as url:

        def work():
            options = {"max_active": 1, "rpm": 1e6, "progress": False, "path": tmp_path / name}
            return MANY[kind](chat_with(url), PROMPTS, **options)

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
