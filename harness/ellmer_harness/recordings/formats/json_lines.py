"""Logs of exchanges, with one JSON value on each line. They are read line by line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import TextIOWrapper
from itertools import chain, repeat
from pathlib import Path
from typing import IO, cast

from ellmer_core.base.budget import RECORDING

from ..interaction import Interaction
from ..untrusted_files import UTF_16, TooLarge, bounded_json, unreadable_on_error
from .vcr import entry, is_entry

_GZIP = b"\x1f\x8b"
_END = Interaction("", "", "")


def exchanges(path: Path, most: int = RECORDING.unpacked) -> Iterator[Interaction | None] | None:
    """Iterates over the exchanges, with None for other lines; returns None if no line has an exchange.

    Raises `Unreadable` for a line when the line is reached, also for one of more than `most` bytes.
    """
    lines = _lines(path, most)
    others = 0
    while (first := next(lines, _END)) is None:
        others += 1
    return None if first is _END else chain(repeat(None, others), (first,), lines)


def _lines(path: Path, most: int) -> Iterator[Interaction | None]:
    strict = False  # as long as no line is an exchange, a line may be anything
    with unreadable_on_error(path), _opened(path) as lines:
        for number, line in enumerate(iter(partial(lines.readline, most + 1), b""), 1):
            if len(line) > most:
                raise TooLarge(f"line {number} is larger than {most // 1024**2} MB")
            if line.strip():
                with unreadable_on_error(path, f"line {number}"):
                    found = _exchange(line, f"line {number}", path.parent, strict=strict)
                strict = strict or found is not None
                yield found


def _exchange(line: bytes, place: str, folder: Path, *, strict: bool) -> Interaction | None:
    try:
        value = json.loads(bounded_json(line).decode("utf-8-sig" if place == "line 1" else "utf-8"))
        return entry(value, place, folder) if is_entry(value) else None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        if strict or all(key in line for key in (b'"request"', b'"response"', b'"ur')):
            raise
        return None


class _Utf8Lines:
    """The lines of a file in UTF-16, in UTF-8. (The readers of `codecs` end a line at any letter that ends one somewhere.)"""

    def __init__(self, file: IO[bytes]) -> None:
        self._text = TextIOWrapper(file, "utf-16", newline="\n")

    def readline(self, most: int) -> bytes:
        """Returns a line, or the beginning of one that has more letters."""
        return self._text.readline(most).encode()


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as file:
        begins = file.read(2)
        file.seek(0)
        if begins in UTF_16:
            yield cast("IO[bytes]", _Utf8Lines(file))
            return
        if begins != _GZIP:
            yield file
            return
        with gzip.open(file) as lines:
            yield cast("IO[bytes]", lines)
