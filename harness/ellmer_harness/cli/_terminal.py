"""Functions that print to the terminal."""

# ruff: noqa: T201  # printing is what a command line is for

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["complain", "harmless", "progress", "say"]

T = TypeVar("T")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_EVERY = 0.2  # seconds


def say(text: str) -> None:
    """Prints a result to standard output."""
    print(harmless(text), flush=True)


def complain(text: str) -> None:
    """Prints a message to standard error."""
    print(harmless(text), file=sys.stderr)


def harmless(text: str) -> str:
    """Returns a text whose control characters are shown and not obeyed: a recording may come from anywhere."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


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
