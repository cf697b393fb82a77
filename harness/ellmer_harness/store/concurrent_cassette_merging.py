"""Cassettes that several tests write, in one or several processes. Each test's recording is kept.

The first test of a run that records a shared cassette replaces it; later tests add to it. `run` identifies
the run in all its processes. A writer holds a lock, so that no recording is overwritten.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..format.json_text import layout

__all__ = ["locked", "merged", "rewritten_before"]

Json = dict[str, Any]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of a cassette while it is written."""
    with _beside_nothing(path, "lock").open("a+b") as file:
        _lock(file)
        yield  # closing the file lets go of it


def rewritten_before(path: Path, run: str) -> bool:
    """Tells whether this run has written the cassette before, and notes that it has."""
    mark = _beside_nothing(path, sha256(run.encode()).hexdigest()[:16])
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return True
    return False


def merged(there: bytes, ours: str, loaded: int) -> str:
    """Returns the existing cassette, followed by the interactions that our run added."""
    base, new = json.loads(there), json.loads(ours)
    return layout({**new, "interactions": [*base["interactions"], *new["interactions"][loaded:]]})


def _beside_nothing(path: Path, suffix: str) -> Path:
    """Returns the path of a file about the cassette. It is in another folder, so that nobody commits it."""
    user = getattr(os, "getuid", lambda: "")()
    folder = Path(tempfile.gettempdir()) / f"ellmer-harness-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    name = sha256(str(path.absolute()).encode()).hexdigest()[:32]
    return folder / f"{name}.{suffix}"


def _lock(file: Any) -> None:
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415  # there is none elsewhere

        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl  # noqa: PLC0415  # there is none on Windows

        fcntl.flock(file, fcntl.LOCK_EX)
