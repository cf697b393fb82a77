"""Reads files that are untrusted: limits of their size and of the time for them, because a few bytes can expand to gigabytes,
and errors that name the place of the damage.
"""

from __future__ import annotations

import codecs
import ctypes
import gzip
import json
import signal
import threading
import zlib
from binascii import Error as Base64Error
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import yaml

from ellmer_core.base.budget import RECORDING, YAML, YAML_COPIES, has_more_values

from ..errors import CassetteError
from ..format.blobs import TooLarge, file_bytes

__all__ = [
    "CRASHED",
    "UTF_16",
    "Oversized",
    "TooLarge",
    "TooSlow",
    "Unreadable",
    "bounded_json",
    "bounded_yaml",
    "file_bytes",
    "in_utf8",
    "is_unfinished",
    "plain_bytes",
    "time_limit",
    "unreadable_on_error",
    "unzipped",
]


# --- Limits ----------------------------------------------------------------------------------------------


T = TypeVar("T", str, bytes)
_Events: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_PIECE = 1024 * 1024  # bytes that are unpacked at a time, to learn how large the rest is


def plain_bytes(path: Path, most: int = RECORDING.unpacked) -> bytes:
    """Returns the bytes of a file, decompressed if it is gzip. Raises as `file_bytes()`, also for too many bytes."""
    data = file_bytes(path, most)
    return unzipped(data, most) if data.startswith(b"\x1f\x8b") else data


def unzipped(data: bytes, most: int = RECORDING.unpacked) -> bytes:
    """Returns the decompressed bytes of gzip. Raises `TooLarge` for more than `most` bytes, before any are kept."""
    size = 0
    for piece in _pieces(data):
        size += len(piece)
        if size > most:
            raise TooLarge(f"it is larger than {most // 1024**2} MB when it is unpacked")
    plain = BytesIO()
    plain.writelines(_pieces(data))
    return plain.getvalue()


def _pieces(data: bytes) -> Iterator[bytes]:
    """Yields the decompressed bytes of gzip, whose members may be many. (`gzip.decompress()` copies the rest for each of them.)"""
    with gzip.open(BytesIO(data)) as file:
        while piece := file.read(_PIECE):
            yield piece


UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # how it begins, as PowerShell writes it


def in_utf8(data: bytes) -> bytes:
    """Returns a text of UTF-16 in UTF-8, and other bytes as they are."""
    return data.decode("utf-16", "replace").encode() if data.startswith(UTF_16) else data


def bounded_json(text: T) -> T:
    """Returns a JSON text. Raises `ValueError` if it has too many values: one of three bytes needs some seventy in memory."""
    if has_more_values(text, RECORDING.values):
        raise ValueError(f"it has more than {RECORDING.values:,} values")
    return text


def bounded_yaml(text: str) -> str:
    """Returns a YAML text of acceptable size. Raises `ValueError` if it nests too deeply, if it contains itself, or if aliases and
    merge keys would expand it without limit, or if it has too many values (the ends of lists and objects count, too).
    """
    depth, copies = 0, 0
    sizes: dict[str | None, int] = {}
    open_: list[tuple[str | None, int]] = [(None, 0)]
    for values, event in enumerate(yaml.parse(text, Loader=_Events)):
        match event:
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                open_.append((event.anchor, 1))
                depth += 1
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                anchor, size = open_.pop()
                depth -= 1
                sizes[anchor] = size
                open_[-1] = (open_[-1][0], open_[-1][1] + size)
            case yaml.AliasEvent():
                if any(anchor == event.anchor for anchor, _ in open_):
                    raise ValueError("it contains itself")
                size = sizes.get(event.anchor, 1)
                copies += size
                open_[-1] = (open_[-1][0], open_[-1][1] + size)
            case yaml.ScalarEvent():
                sizes[event.anchor] = 1
                open_[-1] = (open_[-1][0], open_[-1][1] + 1)
        if depth > YAML.depth:
            raise ValueError(f"it nests deeper than {YAML.depth} levels")
        if copies > YAML_COPIES.values:
            raise ValueError(f"its aliases expand to more than {YAML_COPIES.values:,} values")
        if values > YAML.values:
            raise ValueError(f"it has more than {YAML.values:,} values")
    return text


# --- A limit of time for each file -----------------------------------------------------------------------


#: What is said of a file whose work did not end, and whose next try may end.
_LONGER, CRASHED = "it took longer than", "the process that read it crashed"


def is_unfinished(problem: str | None) -> bool:
    """Tells whether a problem is about the machine, which was busy or had too little memory, and not about the file."""
    return problem is not None and (_LONGER in problem or CRASHED in problem)


class TooSlow(BaseException):
    """A file takes too long. The class is not an `Exception`, because readers that try several formats catch those."""


@contextmanager
def time_limit(seconds: float | None = None) -> Iterator[None]:
    """Raises `TooSlow` inside the block after a number of seconds (default: those of a recording), in any thread."""
    limit = RECORDING.seconds if seconds is None else seconds
    main = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    try:
        with _alarm(limit) if main else _raised_in_thread(limit):
            yield
    except TooSlow:
        raise TooSlow(f"{_LONGER} {limit:g} seconds") from None


@contextmanager
def _alarm(limit: float) -> Iterator[None]:
    def raise_too_slow(*_: Any) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, raise_too_slow)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _raised_in_thread(limit: float) -> Iterator[None]:
    """Lets the interpreter raise `TooSlow` in this thread. Signals reach the main thread only."""
    thread, lock, over = threading.get_ident(), threading.Lock(), threading.Event()

    def raise_too_slow() -> None:
        with lock:
            if not over.is_set():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooSlow))

    timer = threading.Timer(limit, raise_too_slow)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            over.set()
        timer.cancel()


# --- Errors ----------------------------------------------------------------------------------------------


class Unreadable(CassetteError):
    """A file cannot be read.

    Args:
        path: The file.
        problem: What is wrong with it, as a clause.

    Examples:
        >>> from ellmer_harness.recordings import find, Unreadable
        >>> try:
        ...     list(find(["nothing.yaml"]))
        ... except Unreadable as error:
        ...     print(error)
        nothing.yaml: there is no such file or folder
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path, self.problem = path, problem


class Oversized(Unreadable):
    """A file, or a line of a log, is larger than its reader takes. Whether it is a recording is not known."""


@contextmanager
def unreadable_on_error(path: Path, place: str = "it") -> Iterator[None]:
    """Turns any error during reading into `Unreadable`, with the place in the file."""
    try:
        yield
    except Unreadable:
        raise
    except TooLarge as error:
        raise Oversized(path, str(error)) from error
    except (OSError, EOFError) as error:
        raise Unreadable(path, f"{place} cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        problem = f"{place} is not valid UTF-8: {error.reason} at byte {error.start}"
        raise Unreadable(path, problem) from error
    except (json.JSONDecodeError, yaml.YAMLError) as error:
        message = " ".join(str(error).split())[:200]
        raise Unreadable(path, f"{place} is damaged or truncated: {message}") from error
    except RecursionError as error:
        raise Unreadable(path, f"{place} is nested too deeply") from error
    except (
        CassetteError,
        Base64Error,
        zlib.error,
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        problem = f"{place} looks like a recording, but is inconsistent: {error}"
        raise Unreadable(path, problem) from error
