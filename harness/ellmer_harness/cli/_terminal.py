"""The files that a command is about, and functions that print to the terminal."""

# ruff: noqa: T201  # printing is what a command line is for

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from pathlib import Path
from typing import TypeVar

from ..recordings import Found, Unreadable, find, read
from ..recordings.untrusted_files import TooSlow, time_limit

T = TypeVar("T")
#: Control characters, what turns the direction of writing, letters that show nothing (but those in emoji), and commands of Azure Pipelines.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]|#(?=#vso\[)"
)
#: GitHub Actions obeys `::error::` and `##[error]` at the beginning of a line, after spaces, too.
_COMMAND = re.compile(r"^([^\S\n]*)(::|##\[)", re.MULTILINE)
_EVERY = 0.2  # seconds


def say(text: str) -> None:
    """Prints a result to standard output."""
    print(harmless(text), flush=True)


def complain(text: str) -> None:
    """Prints a message to standard error."""
    print(harmless(text), file=sys.stderr)


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 recording`, `2 recordings`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def harmless(text: str) -> str:
    """Returns a text whose control characters, invisible letters, and commands of GitHub Actions (at the beginning of a line) and
    Azure Pipelines are shown and not obeyed: a recording may come from anywhere.
    """
    shown = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return _COMMAND.sub(lambda found: f"{found[1]}\\x{ord(found[2][0]):02x}{found[2][1:]}", shown)


def one_line(name: object) -> str:
    """Returns the name of a file, or another text from outside, on one line."""
    return harmless(str(name).replace("\r", "\\r").replace("\n", "\\n"))


def progress(items: Iterable[T], doing: str) -> Iterator[T]:
    """Yields the items and shows the progress on one line of a terminal. It prints nothing into a log. How many items are left
    is shown if it is known.
    """
    of = f" of {len(items)}" if isinstance(items, Sized) else ""
    shown, due = False, time.monotonic() + _EVERY
    for done, item in enumerate(items):
        if sys.stderr.isatty() and time.monotonic() >= due:
            print(f"\r\033[K{doing} {done:,}{of}", end="", file=sys.stderr, flush=True)
            shown, due = True, time.monotonic() + _EVERY
        yield item
    if shown:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


_CASSETTES = {
    "ours",
    "vcrpy",
    "cassetter",
    "pydantic-ai",
    "langchain",
    "VCR",
    "HAR",
}  # anything with a URL may be a "record"


def files(paths: Iterable[Path]) -> list[Path]:
    """Returns all files under the paths, except hidden ones."""
    return [file for path in paths for file in find([path]) if not _hidden(file, path)]


def recordings(paths: Iterable[Path], doing: str) -> Iterator[tuple[Path, Found | Unreadable]]:
    """Yields every recording under the paths, or the reason why it cannot be read. A file that was named must
    be a recording.
    """
    named = {path for path in paths if path.is_file()}
    for file in progress(files(paths), doing):
        try:
            found = _read_in_time(file)
        except Unreadable as error:
            yield file, error
            continue
        if found is not None and (found.kind in _CASSETTES or file in named):
            yield file, found
        elif file in named:
            yield file, Unreadable(file, "it is not a recording of HTTP")


def one(path: Path) -> Found:
    """Returns the recording in a file. Raises `Unreadable`."""
    if not path.is_file():
        there = "it is a folder" if path.is_dir() else "it is a device or a pipe"
        raise Unreadable(path, there if path.exists() else "there is no such file")
    found = _read_in_time(path)
    if found is None:
        raise Unreadable(path, "it is not a recording of HTTP")
    return found


def _read_in_time(path: Path) -> Found | None:
    try:
        with time_limit():
            return read(path)
    except TooSlow as error:
        raise Unreadable(path, str(error)) from None


def rewritten(path: Path, suffix: str) -> str:
    """Returns the name of a file with another suffix. The suffix of a gzipped file is replaced, too."""
    stem = path.name.removesuffix(".gz")
    return stem[: len(stem) - len(Path(stem).suffix)] + suffix


def _hidden(file: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(root).parts)
