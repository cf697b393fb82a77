"""Replaces a file in one step, so that a full disk or a crash leaves the old one."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["replace_file"]


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
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            new.chmod(mode)
        new.replace(path)
    finally:
        with suppress(OSError):  # a part of it would fill the disk for the next try
            new.unlink()
