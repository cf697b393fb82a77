"""Writes files atomically: a reader never sees half a file."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

__all__ = ["replace_file"]


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
