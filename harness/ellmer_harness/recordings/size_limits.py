"""Limits how much of a file is read, because a recording is untrusted and a few bytes can expand to
gigabytes.

A file beyond a limit raises an error that names the limit.
"""

from __future__ import annotations

import gzip
import os
from io import BytesIO
from pathlib import Path
from stat import S_ISREG
from typing import Any

import yaml

__all__ = ["MAX_BYTES", "MAX_COPIES", "MAX_DEPTH", "file_bytes", "modest", "unzipped"]

MAX_BYTES = 256 * 1024 * 1024  # of a file, of one line of a log, and of either unpacked
MAX_DEPTH = (
    200  # levels of lists and objects in a YAML text: its reader uses the stack of the process for each
)
MAX_COPIES = 100_000  # values that aliases and merge keys of a YAML text stand for

_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe is not waited for
_Events: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def file_bytes(path: Path) -> bytes:
    """Returns the bytes of a file. Raises `OSError` or `ValueError`, also for a device, a pipe, and a file
    that is too long.
    """
    with os.fdopen(os.open(path, _READING), "rb") as file:
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is a device or a pipe")
        return _within(file.read(MAX_BYTES + 1))


def unzipped(data: bytes) -> bytes:
    """Returns the decompressed bytes of gzip."""
    with gzip.open(BytesIO(data)) as file:
        return _within(file.read(MAX_BYTES + 1))


def _within(data: bytes) -> bytes:
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES // 1024**2} MB (MAX_BYTES)")
    return data


def modest(text: str) -> str:
    """Returns a YAML text of acceptable size. Raises `ValueError` if it nests too deeply, or if aliases and
    merge keys would expand it without limit.
    """
    depth, copies = 0, 0
    sizes: dict[str | None, int] = {}
    open_: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(text, Loader=_Events):
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
                size = sizes.get(event.anchor, 1)
                copies += size
                open_[-1] = (open_[-1][0], open_[-1][1] + size)
            case yaml.ScalarEvent():
                sizes[event.anchor] = 1
                open_[-1] = (open_[-1][0], open_[-1][1] + 1)
        if depth > MAX_DEPTH:
            raise ValueError(f"it nests deeper than {MAX_DEPTH} levels (MAX_DEPTH)")
        if copies > MAX_COPIES:
            raise ValueError(f"its aliases expand to more than {MAX_COPIES:,} values (MAX_COPIES)")
    return text
