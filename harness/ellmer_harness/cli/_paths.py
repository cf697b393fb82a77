"""The files that a command is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..recordings import Found, Unreadable, find, read
from ._terminal import progress

__all__ = ["files", "one", "recordings", "rewritten"]

_CASSETTES = {
    "ours",
    "vcrpy",
    "pydantic-ai",
    "langchain",
    "VCR",
    "HAR",
}  # anything with a URL may be a "record"


def files(paths: Iterable[Path]) -> list[Path]:
    """Returns all files under the paths, except hidden ones."""
    return [file for path in paths for file in find([path]) if not _hidden(file, path)]


def recordings(paths: Iterable[Path], doing: str) -> Iterator[tuple[Path, Found | Unreadable]]:
    """Yields every recording under the paths, or the reason why it cannot be read. A file that was named must
    be a recording.
    """
    named = {path for path in paths if path.is_file()}
    for file in progress(files(paths), doing):
        try:
            found = read(file)
        except Unreadable as error:
            yield file, error
            continue
        if found is not None and (found.kind in _CASSETTES or file in named):
            yield file, found
        elif file in named:
            yield file, Unreadable(file, "it is not a recording of HTTP")


def one(path: Path) -> Found:
    """Returns the recording in a file. Raises `Unreadable`."""
    if not path.is_file():
        raise Unreadable(path, "it is a folder" if path.is_dir() else "there is no such file")
    found = read(path)
    if found is None:
        raise Unreadable(path, "it is not a recording of HTTP")
    return found


def rewritten(path: Path, suffix: str) -> str:
    """Returns the name of a file with another suffix. The suffix of a gzipped file is replaced, too."""
    stem = path.name.removesuffix(".gz")
    return stem[: len(stem) - len(Path(stem).suffix)] + suffix


def _hidden(file: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(root).parts)
