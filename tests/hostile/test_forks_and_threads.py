"""Forks and threads in every driver: blocking, streamed, async, parallel prompts, batches and single requests. A fork has connections of its
own, also if its parent was in the middle of an answer; threads share a chat's connections, and mix no answers.
"""

import asyncio
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import ellmer_core as ec
from ellmer_conformance.server import StrictServer
from ellmer_core.base.forks import cached_property, lock_for_forks
from ellmer_core.conversation import history
from ellmer_core.models.prices import price_lookup
from ellmer_harness.cassette import cassette_index
from ellmer_harness.interception import client_patching, network_guard

pytestmark = pytest.mark.invariants

PATIENCE = 60
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server():
    with StrictServer() as running:
        yield running


def chat_of(server):
    options = {"timeout": ec.Timeouts(connect=10, idle=20, total=30), "max_tries": 1, "echo": "none"}
    return ec.chat_openai_completions(base_url=f"{server.origin}/v1", api_key="k", model="gpt-4.1", **options)


def streamed(chat, text):
    return "".join(chat.fork().stream(text))


async def streamed_async(chat, text):
    return "".join([piece async for piece in chat.fork().stream_async(text)])


def batched(chat, text):
    with TemporaryDirectory() as folder:
        return "".join(
            map(str, ec.batch_chat_text(chat, [text], Path(folder, "state"), sleep=lambda _: None))
        )


def uploaded(chat, text):
    with TemporaryDirectory() as folder:
        file = Path(folder, f"{text.partition(' ')[2]}.txt")
        file.write_text(text)
        content = chat.upload(file)
        chat.delete_upload(content)
        return repr(content.source)


WAYS = {
    "blocking": lambda chat, text: str(chat.fork().chat(text)),
    "streamed": streamed,
    "async": lambda chat, text: str(asyncio.run(chat.fork().chat_async(text))),
    "streamed async": lambda chat, text: asyncio.run(streamed_async(chat, text)),
    "parallel": lambda chat, text: "".join(map(str, ec.parallel_chat_text(chat, [text, "And so on"]))),
    "parallel async": lambda chat, text: "".join(
        map(str, asyncio.run(ec.parallel_chat_text_async(chat, [text, "And so on"])))
    ),
    "batch": batched,
    "single request": uploaded,
}


def started(work):
    """Starts work in a forked process, and returns its number."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    finally:
        os._exit(4)


def ended(child):
    """Returns what a forked process says of its work: 0 if it was done."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "it hangs"


def in_a_fork(work):
    return ended(started(work))


def expected(server, way, text):
    """Returns the answer, which depends on the request alone."""
    return WAYS[way](chat_of(server), text)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("used", WAYS)
def test_a_fork_of_a_process_that_used_one_driver_uses_any_other(server, used, way):
    chat, wanted = chat_of(server), expected(server, way, "Repeat: two")
    WAYS[used](chat, "Repeat: one")

    def work():
        assert WAYS[way](chat, "Repeat: two") == wanted

    assert in_a_fork(work) == 0
    assert WAYS[used](chat, "Repeat: two") == expected(server, used, "Repeat: two"), (
        "the parent's connections stay"
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_fork_in_the_middle_of_an_answer_takes_none_of_its_bytes(server, way):
    chat, wanted = chat_of(server), expected(server, way, "Repeat: two")
    whole = "".join(chat_of(server).stream("Repeat: one two three four five"))
    pieces = chat.fork().stream("Repeat: one two three four five")
    begun = next(pieces)

    def work():
        assert WAYS[way](chat, "Repeat: two") == wanted

    assert in_a_fork(work) == 0
    assert begun + "".join(pieces) == whole


@pytest.mark.parametrize("way", WAYS)
def test_threads_that_share_a_chat_mix_no_answers(server, way):
    chat = chat_of(server)
    texts = [f"Repeat: the number {number}" for number in range(4)] * 6
    wanted = {text: expected(server, way, text) for text in set(texts)}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda text: WAYS[way](chat, text), texts))
    assert answers == [wanted[text] for text in texts]
    assert len(set(wanted.values())) == 4


def test_a_fork_while_threads_ask_does_not_hang(server):
    chat = chat_of(server)
    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(WAYS["blocking"], chat, f"Repeat: {number}") for number in range(40)]
        statuses = [in_a_fork(lambda: WAYS["blocking"](chat, "Repeat: two")) for _ in range(5)]
        answers = [each.result() for each in asking]
    assert statuses == [0] * 5
    assert all(answers)


@pytest.mark.parametrize("way", ["blocking", "streamed"])
def test_a_fork_and_its_parent_that_ask_at_once_use_different_connections(server, way):
    chat, texts = chat_of(server), [f"Repeat: the number {number}" for number in range(30)]
    wanted = [expected(server, way, text) for text in texts]
    WAYS[way](chat, "Repeat: one")  # its connection is free, and both processes have it
    used = chat._connection.blocking()

    def work():
        assert chat._connection.blocking() is not used
        assert [WAYS[way](chat, text) for text in texts] == wanted

    child = started(work)
    try:
        answers = [WAYS[way](chat, text) for text in texts]
    finally:
        status = ended(child)
    assert status == 0
    assert answers == wanted


class Slow:
    """Has a value that takes as long as the test wants."""

    def __init__(self, begun=None, released=None):
        self.begun, self.released = begun, released

    @cached_property
    def value(self):
        if self.begun:
            self.begun.set()
            self.released.wait(PATIENCE)
        return 1


@contextmanager
def busy(work):
    """Runs `work(begun, released)` in a thread that is in the middle of it during the block."""
    begun, released = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work, begun, released)
        assert begun.wait(PATIENCE)
        try:
            yield released
        finally:
            released.set()
        working.result()


def test_a_fork_waits_for_no_value_that_a_thread_of_its_parent_computes():
    with busy(lambda begun, released: Slow(begun, released).value):
        assert in_a_fork(lambda: Slow().value) == 0


def test_no_value_has_a_lock_that_a_fork_would_keep():
    """`functools.cached_property` has one in Python 3.11, for all objects of a class."""
    packages = (ROOT / "ellmer_core", ROOT / "harness" / "ellmer_harness")
    files = [file for package in packages for file in package.rglob("*.py")]
    assert len(files) > 200
    locked = [
        file.name
        for file in files
        if re.search(r"from functools import .*\bcached_property", file.read_text())
    ]
    assert not locked, "use ellmer_core.base.forks.cached_property"


def test_a_lock_is_free_in_a_fork_whatever_a_thread_does():
    lock = lock_for_forks()

    def hold(begun, released):
        with lock:
            begun.set()
            released.wait(0.2)  # the fork waits for it

    def work():
        assert lock.acquire(timeout=5)

    with busy(hold):
        assert in_a_fork(work) == 0
    assert lock.acquire(timeout=5), "the parent has it again"


@pytest.mark.parametrize(
    "lock",
    [history._LOCK, price_lookup._lock, cassette_index._LOCK, client_patching._LOCK, network_guard._LOCK],
)
def test_each_lock_is_free_in_a_fork(lock):
    def hold(begun, released):
        with lock:
            begun.set()
            released.wait(0.2)

    def work():
        assert lock.acquire(timeout=5)

    with busy(hold):
        assert in_a_fork(work) == 0


def test_a_fork_of_a_chat_is_usable_whatever_a_thread_does_with_it(server):
    chat = chat_of(server)
    wanted = expected(server, "blocking", "Repeat: two")

    def answer(begun, released):
        for piece in chat.stream("Repeat: one two three"):
            assert piece
            begun.set()
            released.wait(PATIENCE)

    def work():
        assert WAYS["blocking"](chat.fork(), "Repeat: two") == wanted

    with busy(answer):
        assert in_a_fork(work) == 0
