"""The source file of an adapter, for reports that point at files. It must exist below the current folder."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

__all__ = ["source_of"]


def source_of(asked: str) -> str:
    """Returns the relative path of the `--adapter` or `--command`, or `""` if there is none."""
    here = Path.cwd().resolve()
    for path in _files(asked):
        if path.is_file() and path.resolve().is_relative_to(here):
            return path.resolve().relative_to(here).as_posix()
    return ""


def _files(asked: str) -> Iterator[Path]:
    if asked.startswith("command:"):
        yield from map(Path, shlex.split(asked.removeprefix("command:")))
        return
    module, _, attribute = asked.partition(":")
    try:
        found = find_spec(module) if attribute else None
    except (ImportError, ValueError):
        return
    if found and found.origin:
        yield Path(found.origin)
