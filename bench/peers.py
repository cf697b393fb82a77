"""Measures chat libraries, each in its own environment, and prints one table.

All figures but memory and distributions are ratios to bare httpx, measured
in the same run in the same environment. The environments are made in `build/bench/`, from the package index.
"""

# ruff: noqa: S603, T201 - it runs Python, and prints
from __future__ import annotations

import json
import subprocess
from argparse import Namespace

from .environments import ROOT, distributions, python_of
from .fast_server import serving
from .measure import memory, processes, scaled
from .subjects import SUBJECTS

COLUMNS = ("import", "turn", "stream", "memory", "packages", "100 at once")


def run(options: Namespace) -> int:
    """Prints the table and returns the exit code."""
    times = 1 if options.quick else 5
    print(f"{'':<14}" + "".join(f"{column:>12}" for column in COLUMNS))
    failed = 0
    with serving() as url:
        for name in options.names or SUBJECTS:
            try:
                print(f"{name:<14}" + "".join(f"{text:>12}" for text in row(name, url, times)), flush=True)
            except subprocess.CalledProcessError as error:
                failed += 1
                print(f"{name:<14}  could not be measured: {str(error.stderr).strip().splitlines()[-1:]}")
    return 1 if failed else 0


def row(name: str, url: str, times: int) -> list[str]:
    """Returns the costs of one library, as text."""
    subject = SUBJECTS[name]
    python = python_of(name, subject.package)
    nothing, httpx, library = processes(python, ["", "import httpx", subject.statement], 3 * times)
    command = [python, "-m", f"{__package__}.one_library", name, url, str(times)]
    talk = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.splitlines()[-1]
    )
    return [
        f"{(library - nothing) / (httpx - nothing):.1f}×",
        f"{talk['turn']:.2f}×",
        f"{talk['stream']:.2f}×",
        f"{memory(python, subject.statement):.0f} MB",
        str(len(distributions(python))),
        many(name, python, url),
    ]


def many(name: str, python: str, url: str) -> str:
    """Returns the processor time of 500 prompts with 100 in progress, and its ratio to 10 in progress, for libraries
    with such a call.
    """
    if name not in {"ellmer_core", "chatlas"}:
        return "–"
    cost = scaled(python, name, url)
    return f"{cost['100']:.1f}s {cost['100'] / cost['10']:.1f}×"
