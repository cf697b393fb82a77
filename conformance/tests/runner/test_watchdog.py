"""Every play ends: what blocks is interrupted, and the stack says where."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest
from broken_on_purpose import BROKEN
from conformance_command import run_in

from ellmer_conformance.runner.against_server import play_alone
from ellmer_conformance.runner.command import Driver
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.runner.selection import Play
from ellmer_conformance.runner.watchdog import TookTooLong, limited, within
from ellmer_conformance.scenarios.cases import all_cases

SOON = 0.2  # seconds
CHILD = [sys.executable, "-c", "import time; time.sleep(600)"]


def sleeps():
    time.sleep(600)


def loops():
    while True:
        pass


def locks_twice():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def joins_a_thread():
    thread = threading.Thread(target=threading.Event().wait, args=(600,), daemon=True)
    thread.start()
    thread.join()


def waits_for_a_child():
    subprocess.run(CHILD, check=False)


def waits_for_a_child_in_a_loop():
    async def waiting():
        waits_for_a_child()

    asyncio.run(waiting())


def fills_a_pipe():
    reading, writing = os.pipe()
    try:
        while True:
            os.write(writing, b"x" * 4096)
    finally:
        os.close(reading), os.close(writing)


def handles_signals():
    old = signal.signal(signal.SIGALRM, signal.SIG_IGN), signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        signal.pause()
    finally:
        signal.signal(signal.SIGALRM, old[0]), signal.signal(signal.SIGTERM, old[1])


def blocks_its_loop():
    async def chat():
        time.sleep(600)  # noqa: ASYNC251 - the bug

    asyncio.run(chat())


def awaits_for_ever():
    async def chat():
        await asyncio.Event().wait()

    asyncio.run(chat())


def blocks_the_loop_in_a_task():
    async def chat():
        await asyncio.gather(asyncio.to_thread(str), reply())

    async def reply():
        time.sleep(600)  # noqa: ASYNC251 - the bug

    asyncio.run(chat())


def catches_everything():
    try:
        time.sleep(600)
    except BaseException:  # noqa: BLE001 - the point of it
        return "fine"


BLOCKED = [
    (sleeps, "time.sleep(600)"),
    (loops, "in loops"),
    (locks_twice, "lock.acquire()"),
    (joins_a_thread, "thread.join()"),
    (waits_for_a_child, "subprocess.run(CHILD"),
    (waits_for_a_child_in_a_loop, "subprocess.run(CHILD"),
    (fills_a_pipe, "os.write(writing"),
    (handles_signals, "signal.pause()"),
    (blocks_its_loop, "time.sleep(600)"),
    (awaits_for_ever, "await asyncio.Event().wait()"),
    (blocks_the_loop_in_a_task, "time.sleep(600)"),
    (catches_everything, "time.sleep(600)"),
]


@pytest.mark.parametrize(("work", "place"), BLOCKED, ids=[work.__name__ for work, _ in BLOCKED])
def test_what_blocks_is_interrupted_and_its_stack_is_told(work, place):
    before = signal.getsignal(signal.SIGRTMAX)
    with pytest.raises(TookTooLong, match=r"did not end within 0\.2 seconds") as late:
        within(SOON, work)

    assert place.replace("in loops", " loops: ") in late.value.stack
    assert signal.getsignal(signal.SIGRTMAX) == before


def test_a_result_and_an_error_come_back():
    assert within(60, lambda: "fine") == "fine"
    with pytest.raises(ZeroDivisionError):
        within(60, lambda: 1 / 0)


def test_in_another_thread_the_time_is_not_limited():
    found = []
    thread = threading.Thread(target=lambda: found.append(within(0.0, lambda: "fine")))
    thread.start()
    thread.join()

    assert found == ["fine"]


def test_a_play_that_does_not_end_fails_one_rule():
    play = Play(None, "openai-chat", "openai", all_cases()["plain_text"], "sync", False, "stuck")

    [verdict] = judge(limited(lambda _: sleeps(), SOON, play))

    assert (verdict.rule.id, verdict.outcome) == ("RUN-002", "fail")
    assert "it did not end within 0.2 seconds; the stack then was" in verdict.violations[0].message
    assert "sleeps: time.sleep(600)" in verdict.violations[0].message


def test_a_client_that_asks_on_for_ever_fails_the_same_rule_by_the_number_of_its_requests():
    run = play_alone(BROKEN.asks_for_ever(), "openai-chat", "openai", all_cases()["plain_text"], "sync")

    [verdict] = judge(run)

    told = "it sent 64 requests, got the same answer since request 2, and did not give up"
    assert (verdict.rule.id, verdict.violations[0].message) == ("RUN-002", told)


def test_lines_of_the_import_system_are_in_no_stack(tmp_path, monkeypatch):
    (tmp_path / "sleeping_module.py").write_text("import time\n\ntime.sleep(600)\n")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(TookTooLong) as found:
        within(SOON, lambda: __import__("sleeping_module"))

    assert "<frozen" not in found.value.stack
    assert "sleeping_module.py:3 <module>: time.sleep(600)" in found.value.stack


def test_a_command_has_the_time_once_more_for_each_variation():
    """LangChain.js was blamed for eight processes that took more than a minute together."""
    case = replace(all_cases()["plain_text"], variations=("lf",))
    play = Play(Driver("node driver.mjs"), "openai-chat", "openai", case, "sync", False, "slow")

    [verdict] = judge(limited(lambda _: sleeps(), SOON, play))

    assert "it did not end within 0.4 seconds" in verdict.violations[0].message


ADAPTER = """
import time
from ellmer_conformance.adapters.ellmer_core import EllmerCore, Session

class Blocking(EllmerCore):
    name = "blocking"

    def session(self, endpoint, **given):
        session = super().session(endpoint, **given)
        return Sleeping(session.chat, session.another)

class Sleeping(Session):
    async def asend(self, parts, *, stream=False, options=None):
        if "story" in str(parts):  # of `cancelled_in_the_middle`
            time.sleep(600)
        return await super().asend(parts, stream=stream, options=options)
"""


@pytest.mark.slow
def test_the_run_goes_on_after_a_call_that_blocks_its_loop(tmp_path):
    (tmp_path / "blocking.py").write_text(ADAPTER)
    cases = ("--case", "cancelled_in_the_middle", "--case", "plain_text", "--wire", "openai-chat")
    done = run_in(
        tmp_path,
        *(
            "run",
            "--adapter",
            "blocking:Blocking",
            "--against",
            "server",
            "--mode",
            "async",
            "--mode",
            "async-stream",
        ),
        *cases,
        *("--case-timeout", "2", "--report", "out"),
    )

    results = json.loads((tmp_path / "out" / "report.json").read_text())["results"]
    verdicts = {(row["case"], row["mode"], row["rule"]): row["verdict"] for row in results}
    assert done.exit_code == 1, done.output
    assert verdicts["cancelled_in_the_middle", "async-stream", "RUN-002"] == "fail"
    assert verdicts["plain_text", "async-stream", "TXT-005"] == "pass"
    assert "blocking.py:15 asend: time.sleep(600)" in done.output
