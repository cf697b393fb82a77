"""Opens files that somebody else may have made: no device and no pipe, which may have no end, and no more bytes than a limit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EISDIR
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import IO

__all__ = ["file_bytes", "opened"]

_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe is not waited for
_READING = os.O_RDONLY | _AT_ONCE
_ADDING = os.O_WRONLY | os.O_APPEND | _AT_ONCE


@contextmanager
def opened(path: str | Path, *, add: bool = False) -> Iterator[IO[bytes]]:
    """Opens a file for reading.

    Args:
        path: The file.
        add: Whether it is opened for adding bytes to it instead, which are not buffered. It must exist. Default: `False`.

    Raises:
        OSError: It cannot be opened, or is a device or a pipe.

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("a.txt").write_text("Hi")
        >>> with opened("a.txt") as file:
        ...     file.read()
        b'Hi'
    """
    descriptor = os.open(path, _ADDING if add else _READING)
    try:
        if S_ISDIR(kind := os.fstat(descriptor).st_mode):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
        if not S_ISREG(kind):
            raise OSError("it is a device or a pipe")
        mode, buffering = ("ab", 0) if add else ("rb", -1)
        with os.fdopen(descriptor, mode, buffering, closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


def file_bytes(path: str | Path, most: int) -> bytes:
    """Returns the bytes of a file.

    Args:
        path: The file.
        most: Bytes that it may have.

    Raises:
        OSError: It cannot be opened, or is a device or a pipe.
        ValueError: It is larger.

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("a.txt").write_text("Hi")
        >>> file_bytes("a.txt", 100)
        b'Hi'
    """
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it is larger than {most:,} bytes")
    return data
