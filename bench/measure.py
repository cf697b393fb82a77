"""Clocks, and the cost of a process."""

# ruff: noqa: S603 - it runs Python
from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

MEMORY = """
import resource
from pathlib import Path
status = Path("/proc/self/status")  # there, a child does not count its parent's memory
kilobytes = [line.split()[1] for line in status.read_text().splitlines() if "VmHWM" in line] if status.exists() else []
print(kilobytes[0] if kilobytes else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if {mac} else 1))
"""


def side_by_side(programs: list[Callable[[], object]], laps: int) -> list[float]:
    """Returns the median seconds of each program. They run in turns, so that a slow machine affects all of them."""
    for program in programs:
        program()
    found: list[list[float]] = [[] for _ in programs]
    for _ in range(laps):
        for program, times in zip(programs, found, strict=True):
            began = time.perf_counter()
            program()
            times.append(time.perf_counter() - began)
    return list(map(median, found))


def processes(python: str, codes: list[str], runs: int) -> list[float]:
    """Returns the median processor seconds of Python processes, started in turns. The first, unmeasured round compiles
    the files.
    """
    rounds = [[spent(python, code) for code in codes] for _ in range(runs + 1)]
    return list(map(median, zip(*rounds[1:], strict=True)))


def spent(python: str, code: str) -> float:
    """Returns the processor seconds of a Python process."""
    process = subprocess.Popen([python, "-I", "-c", code], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return used.ru_utime + used.ru_stime


def memory(python: str, code: str) -> float:
    """Returns the maximum memory of a process in megabytes, after `code`."""
    return int(child(python, f"{code}\n{MEMORY.format(mac=sys.platform == 'darwin')}").split()[-1]) / 1024


def scaled(python: str, name: str, url: str) -> dict[str, float]:
    """Returns the result of `scaling.py` for a library, in its environment."""
    script = str(Path(__file__).with_name("scaling.py"))
    done = subprocess.run([python, script, name, url], check=True, capture_output=True, text=True)
    seconds: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return seconds


def child(python: str, code: str) -> str:
    """Returns the output of a separate Python process."""
    return subprocess.run([python, "-I", "-c", code], check=True, capture_output=True, text=True).stdout
