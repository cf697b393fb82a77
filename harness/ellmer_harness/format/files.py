"""The files of cassettes: names that every file system accepts, atomic writes, where a reader never sees half a file, and reads
that neither wait for a pipe nor read a device.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from uuid import uuid4

__all__ = ["MAX_BYTES", "file_bytes", "file_name", "replace_file"]


MAX_BYTES = 256 * 1024 * 1024  # of one file
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe is not waited for


def file_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """Returns the bytes of a file. Raises `OSError` or `ValueError`, also for a device, a pipe, and a file
    that is too long.
    """
    with os.fdopen(os.open(path, _READING), "rb") as file:
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is a device or a pipe")
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it is larger than {most // 1024**2} MB (MAX_BYTES)")
    return data


def replace_file(path: Path, data: str | bytes) -> None:
    """Writes a file so that readers find either the old or the new content, even after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name[:100]}.{uuid4().hex}")
    try:
        with staged.open("wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)


_LONGEST = 100


def file_name(test: str) -> str:
    """Returns a name that every file system accepts. Different tests have different names."""
    slug = re.sub(r"[^\w.-]+", "-", test, flags=re.ASCII).strip("-")
    if slug == test and len(slug) <= _LONGEST:
        return slug
    return f"{slug[:_LONGEST]}-{sha256(test.encode(errors='surrogatepass')).hexdigest()[:8]}"
