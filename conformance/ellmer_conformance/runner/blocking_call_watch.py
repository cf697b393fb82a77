"""Finds blocking calls inside an event loop: connections that a blocking socket opens.

An audit hook sees every socket of the process and cannot be removed. Without a watcher, it does nothing.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["watching_loops"]

_watchers: list[list[str]] = []


@contextmanager
def watching_loops() -> Iterator[list[str]]:
    """Lists the connections that block an event loop inside the block."""
    _install()
    seen: list[str] = []
    _watchers.append(seen)
    try:
        yield seen
    finally:
        _watchers.remove(seen)


@cache
def _install() -> None:
    sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watchers and event == "socket.connect" and asyncio._get_running_loop() is not None:  # noqa: SLF001 - raises not
        waits = getattr(args[0], "gettimeout", lambda: 0.0)()
        if waits != 0.0:
            _watchers[-1].append(f"connect to {args[1]}")
