"""The process of a command: it is read to its end, or killed with all that it started."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from threading import Thread
from typing import IO, NamedTuple


def finished(
    command: Sequence[str], environment: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """Returns the finished command. If it does not end in time, it is killed with the processes that it started:
    they may hold its output open. On Linux, those that left its group and its session are found, too.

    Raises OSError, WroteTooMuch or subprocess.TimeoutExpired.
    """
    _adopt_orphans(os.getpid())
    process = subprocess.Popen(  # noqa: S603 - running this command is what was asked for
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        bufsize=0,
    )
    began = _told_by_linux(process.pid)
    with process:
        try:
            out, err = _read(process, seconds)
        except BaseException:
            _kill(process, began)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


class WroteTooMuch(OSError):
    """A command writes without end."""


class _Pipe(Thread):
    """Reads what a command writes, up to a limit. Then it calls `full`."""

    def __init__(self, stream: IO[bytes] | None, full: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self.told, self.is_full = bytearray(), False
        self._stream, self._full = stream, full
        self.start()

    def run(self) -> None:
        with suppress(ValueError, OSError):  # it was closed
            while self._stream and (piece := self._stream.read(2**16)):
                self.told += piece
                if len(self.told) > _MOST_WRITTEN:
                    self.is_full = True
                    return self._full()
        return None


_MOST_WRITTEN = 64 * 1024**2  # bytes to one of the two outputs


def _read(process: subprocess.Popen[bytes], seconds: float) -> tuple[bytes, bytes]:
    """Returns both outputs of a command when it has ended and nobody holds them open. Raises an error if it is late, or writes
    without end.
    """
    until = time.monotonic() + seconds
    pipes = [_Pipe(each, partial(_kill_group, process)) for each in (process.stdout, process.stderr)]
    for pipe in pipes:
        pipe.join(max(0.0, until - time.monotonic()))
        if any(each.is_full for each in pipes):
            raise WroteTooMuch(f"it wrote more than {_MOST_WRITTEN:,} bytes to one output")
    if any(pipe.is_alive() for pipe in pipes):
        raise subprocess.TimeoutExpired(process.args, seconds, stderr=bytes(pipes[1].told))
    process.wait(max(0.0, until - time.monotonic()))
    return bytes(pipes[0].told), bytes(pipes[1].told)


def late(error: subprocess.TimeoutExpired) -> str:
    """Returns the sentence about a command that did not end, with the end of what it wrote to standard error."""
    last = (error.stderr or b"").decode("utf-8", "replace").strip()[-2000:]
    told = f"the command did not end within {error.timeout:g} seconds"
    return f"{told}; it wrote:\n{last}" if last else told


# --- Killing -----------------------------------------------------------------------------------------------

_PR_SET_CHILD_SUBREAPER = 36


@cache
def _adopt_orphans(_process: int) -> None:
    """Makes this process the parent of all that descend from a command and outlive their parents (Linux)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills a process and those of its group."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _kill(process: subprocess.Popen[bytes], began: _Told | None) -> None:
    """Kills a process and those that it started, and on Linux all that descend from it."""
    _kill_group(process)
    process.wait()
    ended: set[int] = set()
    while began and (orphans := _orphans(began.started) - ended):
        for pid in orphans:
            with suppress(OSError):  # it belongs to another user, or another thread waited for it
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        ended |= orphans  # the next ones are their children


def _orphans(since: int) -> set[int]:
    """Returns the children of this process that another one started since then: they have a session of their own."""
    own = os.getsid(0)
    pids = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal()]
    told = {pid: found for pid in pids if (found := _told_by_linux(pid))}
    return {
        pid
        for pid, each in told.items()
        if each.parent == os.getpid() and each.session != own and each.started >= since
    }


class _Told(NamedTuple):
    """The data of Linux about a process. It started so many ticks after the system."""

    parent: int
    session: int
    started: int


def _told_by_linux(pid: int) -> _Told | None:
    """Returns the data in `/proc` about a process, or `None` if there is no such process or no such folder."""
    try:
        _, _, fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")
    except OSError:
        return None
    words = fields.split()
    return _Told(int(words[1]), int(words[3]), int(words[19]))
