"""Recordings of HTTP traffic, whoever made them: every exchange of a file, in one form.

Read are cassettes of vcrpy (YAML and JSON, pydantic-ai's `parsed_body`, ours), of VCR for Ruby, R and Go, HAR files,
records of one exchange, and logs of such records, one JSON value a line; each plain or gzipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from .entries import Recording
from .files import SUFFIXES, Unreadable, read

__all__ = ["SUFFIXES", "Recording", "Unreadable", "find", "read"]


def find(paths: Iterable[Path | str]) -> Iterator[Path]:
    """The files under the paths, sorted within each folder. Raises `Unreadable` for a path that is not there."""
    for path in map(Path, paths):
        if not path.exists():
            raise Unreadable(path, "there is no such file or folder")
        yield from (path,) if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
