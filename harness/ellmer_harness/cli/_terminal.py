"""Functions that print to the terminal."""

# ruff: noqa: T201  # printing is what a command line is for

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["complain", "progress", "say"]

T = TypeVar("T")
_EVERY = 0.2  # seconds


def say(text: str) -> None:
    """Prints a result to standard output."""
    print(text, flush=True)


def complain(text: str) -> None:
    """Prints a message to standard error."""
    print(text, file=sys.stderr)


def progress(items: Sequence[T], doing: str) -> Iterator[T]:
    """Yields the items and shows the progress on one line of a terminal. It prints nothing into a log."""
    shown, due = False, time.monotonic() + _EVERY
    for done, item in enumerate(items):
        if sys.stderr.isatty() and time.monotonic() >= due:
            print(f"\r\033[K{doing} {done} of {len(items)}", end="", file=sys.stderr, flush=True)
            shown, due = True, time.monotonic() + _EVERY
        yield item
    if shown:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
