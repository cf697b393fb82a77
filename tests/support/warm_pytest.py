"""Runs pytest in a process of its own that has imported pytest and the HTTP clients already.

A new interpreter needs most of its time for these imports. Where the system cannot fork, it is a new one nevertheless.
"""

import multiprocessing
import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

_FORKS = "forkserver" in multiprocessing.get_all_start_methods()
_CONTEXT = multiprocessing.get_context("forkserver" if _FORKS else "spawn")
if _FORKS:
    _CONTEXT.set_forkserver_preload(["pytest", "httpx", "vcr", "vcr.patch", "requests", "aiohttp"])


@dataclass
class Done:
    """What a run of pytest has left: its exit code and its output."""

    returncode: int
    stdout: str
    stderr: str


def run_pytest(arguments, *, cwd, env, text, logs, limit=60):
    """Runs pytest with the arguments in a folder. `text` is its input, and `logs` a folder for its output."""
    logs.mkdir(exist_ok=True)
    (logs / "input").write_text(text, "utf-8")
    process = _CONTEXT.Process(target=_child, args=(arguments, str(cwd), env, str(logs)))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
    told = [
        (logs / name).read_text("utf-8") if (logs / name).exists() else "" for name in ("output", "errors")
    ]
    return Done(process.exitcode, *told)


def _child(arguments, cwd, env, logs):
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.path.insert(0, cwd)
    with ExitStack() as stack:
        for number, (name, mode) in enumerate([("input", "r"), ("output", "w"), ("errors", "w")]):
            os.dup2(stack.enter_context((Path(logs) / name).open(mode)).fileno(), number)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    import pytest

    sys.argv = ["pytest", *arguments]
    code = pytest.console_main()
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(int(code))
