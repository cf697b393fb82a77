"""Watches for keys in standard output, standard error and logs during a conversation."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import lru_cache
from typing import TextIO

from ..scenarios.canary_keys import is_canary

__all__ = ["found_in", "watching_prints"]


@contextmanager
def watching_prints() -> Iterator[list[str]]:
    """Notes each place where a key is written inside the block. All text is still written."""
    places = list[str]()
    root, handler = logging.getLogger(), _Listener(places)
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)  # what is only logged for those who debug is logged, too
    others = [(each, each.level) for each in root.handlers if each is not handler]
    for each, _ in others:
        each.setLevel(max(each.level, level))  # other handlers get no more lines than before
    try:
        out, err = _watched(sys.stdout, "standard output"), _watched(sys.stderr, "standard error")
        out.places = err.places = places
        with redirect_stdout(out), redirect_stderr(err):  # type: ignore[type-var]  # what is written to
            yield places
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        for each, before in others:
            each.setLevel(before)


def found_in(**texts: str) -> list[str]:
    """Returns the names of the places whose text contains a key."""
    return [name.replace("_", " ") for name, text in texts.items() if is_canary(text)]


class _Listener(logging.Handler):
    def __init__(self, places: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self.places = places

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except Exception:  # noqa: BLE001 - a line that cannot be formatted is ignored
            return
        place = f"the log {record.name} ({record.levelname})"
        if is_canary(text) and place not in self.places:
            self.places.append(place)


class _Watched:
    """A text stream that passes its text on."""

    places: list[str]  # of the conversation that is held now

    def __init__(self, stream: TextIO, name: str) -> None:
        self.stream, self.name = stream, name

    def write(self, text: str) -> int:
        if is_canary(text) and self.name not in self.places:
            self.places.append(self.name)
        return self.stream.write(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)


@lru_cache(maxsize=4)
def _watched(stream: TextIO, name: str) -> _Watched:
    """Returns a wrapper for each stream. It lives longer than the conversation, because until Python 3.14, `print` in
    a library's thread crashes the process if `sys.stdout` is freed meanwhile (gh-130163).
    """
    return _Watched(stream, name)
