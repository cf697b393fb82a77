"""The files of cassettes: names that every file system accepts, and atomic writes, where a reader never sees half a file."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

__all__ = ["file_name", "replace_file"]


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
