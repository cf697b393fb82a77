"""Ends a run that does not end by itself: one thread of the process, outside of any event loop, watches the clock.

When the time is over, the thread notes what the main thread executes, and sends the process a signal. Its handler raises
`OutOfTime` in the main thread, which interrupts sleeps, locks, pipes, waits for children, and loops. The signal is sent
again until the run has ended. If it never does, because the main thread is in C code that ignores signals or holds the
interpreter, the process ends with its stacks: `faulthandler` has a thread for that which needs no interpreter. The run goes on
in another process (`cli/runs/run.py`).
"""

from __future__ import annotations

import asyncio
import atexit
import faulthandler
import os
import selectors
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from math import inf
from pathlib import Path
from types import FrameType
from typing import TextIO, TypeVar

from ..contract.observed.run import Run, Trouble
from .selection import Play

#: Seconds for a play with all its variations, which for a library in this process takes some five at most.
BUDGET = 60.0
_AGAIN = 0.5  # seconds between two signals
_TRIES = 6
_LAST = _AGAIN * _TRIES + 1.0  # seconds after its time at which a process ends that cannot be interrupted
#: The variable with the folder of the stacks of processes that ended within a play.
STACKS = "CONFORMANCE_STACKS"
_LINES = 12  # of a stack: the deepest
_OURS = Path(__file__).parent
_LOOPS = Path(asyncio.__file__).parent
_SELECTORS = selectors.__file__
_SIGNAL = getattr(signal, "SIGRTMAX", None) or getattr(signal, "SIGUSR2", None)

T = TypeVar("T")


class OutOfTime(KeyboardInterrupt):
    """A run is interrupted. It is a `KeyboardInterrupt`, because libraries and event loops pass those on."""


class TookTooLong(Exception):
    """A run did not end in time. `stack` is what it executed then, the deepest call last."""

    def __init__(self, seconds: float, stack: str) -> None:
        super().__init__(f"it did not end within {seconds:g} seconds")
        self.stack = stack


def within(seconds: float, work: Callable[[], T]) -> T:
    """Returns the result of `work()`. It must be called in the main thread; in others, the time is not limited.

    Raises:
        TookTooLong: The work did not end in time. It was interrupted.
    """
    if _SIGNAL is None or threading.current_thread() is not threading.main_thread():
        return work()
    watch = _Watch(seconds)
    before = signal.signal(_SIGNAL, watch.interrupt)
    blocked = signal.pthread_sigmask(signal.SIG_UNBLOCK, {_SIGNAL})
    try:
        return watch.result_of(work)
    except OutOfTime:  # on a busy machine, it came again while the first one was handled
        watch.over.set()
        raise TookTooLong(seconds, watch.stack) from None
    finally:
        signal.signal(_SIGNAL, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


class _Watch:
    """The time of one run."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.stack = seconds, ""
        self.end = time.monotonic() + seconds
        self.over = threading.Event()

    def result_of(self, work: Callable[[], T]) -> T:
        clock = _clock(os.getpid())
        clock.add(self)
        try:
            with _ending(self.seconds + _LAST):
                result = work()
        except OutOfTime:
            raise TookTooLong(self.seconds, self.stack) from None
        except BaseException:
            if self.stack:
                raise TookTooLong(self.seconds, self.stack) from None
            raise
        finally:
            self.over.set()
            clock.remove(self)
        if self.stack:  # the library caught the interrupt
            raise TookTooLong(self.seconds, self.stack)
        return result

    def interrupt(self, *_: object) -> None:
        """Handles the signal, in the main thread."""
        if not self.over.is_set():
            raise OutOfTime

    def finish(self) -> None:
        """Ends the run, from another thread."""
        main = threading.main_thread().ident
        assert main is not None, "it runs"
        assert _SIGNAL is not None, "`within` looked"
        self.stack = _stack_of(sys._current_frames()[main])  # noqa: SLF001 - the documented way to another thread's stack
        for _ in range(_TRIES):
            signal.pthread_kill(main, _SIGNAL)
            if self.over.wait(_AGAIN):
                return
        faulthandler.dump_traceback(_stacks(os.getpid()), all_threads=True)
        os._exit(1)


@contextmanager
def _ending(seconds: float) -> Iterator[None]:
    """Ends the process if the block takes longer, whatever it does. pytest's own use of `faulthandler` is over by then."""
    faulthandler.dump_traceback_later(seconds, exit=True, file=_stacks(os.getpid()))
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@cache
def _stacks(process: int) -> TextIO:
    """Returns the file for the stacks of a process: in the folder that the run has for them, or the console."""
    if not (folder := os.environ.get(STACKS)):
        return sys.__stderr__ or sys.stderr
    file = Path(folder, f"{process}.txt").open("w", encoding="utf-8")  # noqa: SIM115 - closed when the process ends
    atexit.register(file.close)
    return file


def last_stack(folder: Path) -> str:
    """Returns the stacks that the newest process left which ended within a run; empty if none did.

    Args:
        folder: The folder in the variable `STACKS`.
    """
    left = [path for path in folder.glob("*.txt") if path.stat().st_size]
    told = max(left, key=lambda path: path.stat().st_mtime).read_text("utf-8") if left else ""
    *_, main = told.rstrip().split(
        "\n\n"
    )  # the threads, the main thread last; of each, the deepest call first
    calls = [line for line in main.splitlines() if line.startswith("  File")]
    ours = next((at for at, line in enumerate(calls) if f"{_OURS}{os.sep}" in line), len(calls))
    return "\n".join(reversed(calls[:ours][:_LINES]))


class _Clock(threading.Thread):
    """The thread of a process that ends its runs. It is woken only if a run's time ends before the time at which the
    thread wakes anyway.
    """

    def __init__(self) -> None:
        super().__init__(name="conformance-watchdog", daemon=True)
        self.watches: list[_Watch] = []
        self.wakes_at = inf
        self.changed = threading.Condition()

    def add(self, watch: _Watch) -> None:
        with self.changed:
            self.watches.append(watch)
            if watch.end < self.wakes_at:
                self.changed.notify()

    def remove(self, watch: _Watch) -> None:
        with self.changed:
            self.watches.remove(watch)

    def run(self) -> None:
        while True:
            self._late().finish()

    def _late(self) -> _Watch:
        """Waits for a run whose time is over, and returns it."""
        with self.changed:
            while True:
                now = time.monotonic()
                for watch in self.watches:
                    if watch.end <= now and not watch.over.is_set():
                        return watch
                self.wakes_at = min((watch.end for watch in self.watches), default=inf)
                self.changed.wait(None if self.wakes_at == inf else max(0.0, self.wakes_at - now))


@cache
def _clock(_process: int) -> _Clock:
    """Returns the clock of a process, because a fork has no threads of its parent."""
    clock = _Clock()
    clock.start()
    return clock


def _stack_of(frame: FrameType) -> str:
    """Returns the deepest lines of a stack outside of the runner. For an event loop that only waits, they are those of its
    tasks.
    """
    frames = list(traceback.walk_stack(frame))[::-1]
    inside = [i for i, (each, _) in enumerate(frames) if _folder(each) == _OURS]
    frames = frames[inside[-1] + 1 :] if inside else frames
    if frames and not _is_loop(frames[-1][0]):
        lines = _written([each for each in frames if _folder(each[0]) != _LOOPS])
    else:
        lines = [line for task in _tasks(frame) for line in _waits(task)] or _written(frames)
    return "\n".join(lines[-_LINES:])


def _is_loop(frame: FrameType) -> bool:
    """Tells whether a frame is of an event loop, or of what it waits with."""
    return _folder(frame) == _LOOPS or frame.f_code.co_filename == _SELECTORS


def _folder(frame: FrameType) -> Path:
    return Path(frame.f_code.co_filename).parent


def _waits(task: asyncio.Task[object]) -> list[str]:
    """Returns the lines at which a task waits."""
    frames = [(each, each.f_lineno) for each in task.get_stack()]
    return _written([each for each in frames if _folder(each[0]) != _OURS])


def _written(frames: list[tuple[FrameType, int]]) -> list[str]:
    """Returns the lines of a stack. Those of the import system, which have no source, are left out."""
    summary = traceback.StackSummary.extract(iter(frames), lookup_lines=True)
    return [
        f"  {_short(each.filename)}:{each.lineno} {each.name}: {each.line}"
        for each in summary
        if not each.filename.startswith("<frozen ")
    ]


def _short(path: str) -> str:
    return "/".join(Path(path).parts[-2:])


def _tasks(frame: FrameType | None) -> Iterator[asyncio.Task[object]]:
    """Yields the unfinished tasks of the event loop that a stack runs."""
    while frame is not None:
        loop = frame.f_locals.get("self")
        if isinstance(loop, asyncio.AbstractEventLoop):
            yield from (task for task in asyncio.all_tasks(loop) if not task.done())
            return
        frame = frame.f_back


def limited(play_it: Callable[[Play], Run], seconds: float, play: Play) -> Run:
    """Returns the observed run of a case. If it does not end in time, the run has only that to judge. A command gets the time once more
    for each variation, because each starts a process, which takes seconds on a busy machine.
    """
    if getattr(
        play.adapter, "starts_processes", False
    ):  # its module imports the server, which replay does not need
        seconds *= 1 + len(play.case.variations)
    try:
        return within(seconds, lambda: play_it(play))
    except TookTooLong as late:
        return unended(play, f"{late}; the stack then was\n{late.stack}")


def unended(play: Play, told: str) -> Run:
    """Returns the observed run of a case that did not end by itself.

    Args:
        play: The run.
        told: What is told of it.
    """
    trouble = Trouble(told, ours=False, rule="RUN-002")
    return Run(play.case, play.wire, play.provider, play.mode, trouble=trouble)
