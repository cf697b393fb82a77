"""Replaces a file in one step, so that a full disk or a crash leaves the old one."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["NO_ROOM", "explained", "replace_file"]

#: A full disk, a full quota, a limit of the size of a file, and a file system that is only read.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})


@contextmanager
def explained(path: Path, advice: str, only: frozenset[int] | None = None) -> Iterator[None]:
    """Raises an `OSError` of the block with the path of the file, and with what to do.

    Args:
        path: The file.
        advice: What the reader should do, without a full stop.
        only: The numbers of the errors that it is about. Default: `None`, all of them.

    Raises:
        OSError: The error of the block.

    Examples:
        >>> with explained(Path("a.html"), "Make room", NO_ROOM):
        ...     raise OSError(errno.ENOSPC, "No space left on device")
        Traceback (most recent call last):
        OSError: [Errno 28] No space left on device. Make room: 'a.html'
    """
    try:
        yield
    except OSError as error:
        if only is not None and error.errno not in only:
            raise
        raise type(error)(error.errno, f"{error.strerror}. {advice}", str(path)) from error


def replace_file(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Writes a file so that readers find either the old or the new content, even after a crash.

    Args:
        path: The file. Nobody else may replace it meanwhile.
        data: All that it has then.
        mode: Its permissions, such as `0o600`. Default: `None`, those of a new file.

    Raises:
        OSError: It cannot be written; the old file is as it was.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     replace_file(Path(folder) / "a.json", b"{}")
        ...     [each.name for each in Path(folder).iterdir()]
        ['a.json']
    """
    new = path.with_name(f".{path.name}.new")
    try:
        # It may be left by a process that was killed, or be somebody else's link to another file.
        new.unlink(missing_ok=True)
        with new.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            new.chmod(mode)
        new.replace(path)
    finally:
        with suppress(OSError):  # a part of it would fill the disk for the next try
            new.unlink()
