"""Cassettes that several tests write to, in one process or in several: what one of them recorded stays.

The first of a run to record a shared cassette again replaces it; whoever comes later adds to it. `run` is what the
processes of one run have in common. Who writes holds a lock, so that nobody's recording is written over.
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

from ..format.json_layout import layout

__all__ = ["locked", "merged", "rewritten_before"]

Json = dict[str, Any]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """While nobody else writes this cassette."""
    with _beside_nothing(path, "lock").open("a+b") as file:
        _lock(file)
        yield  # closing the file lets go of it


def rewritten_before(path: Path, run: str) -> bool:
    """Tells whether this run has written the cassette already; from now on it has."""
    mark = _beside_nothing(path, sha256(run.encode()).hexdigest()[:16])
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return True
    return False


def merged(there: bytes, ours: str, loaded: int) -> str:
    """Returns the cassette that is there, and after it what ours has beyond the interactions that it had
    loaded.
    """
    base, new = json.loads(there), json.loads(ours)
    return layout({**new, "interactions": [*base["interactions"], *new["interactions"][loaded:]]})


def _beside_nothing(path: Path, suffix: str) -> Path:
    """Returns a file about the cassette that is not beside it, where people would commit it."""
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
