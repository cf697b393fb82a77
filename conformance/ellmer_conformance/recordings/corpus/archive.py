"""Extracts the recordings of an archive one by one: plain files with plain paths, within limits."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from .download import Corrupt

__all__ = ["extract"]

_FILE = 64 << 20  # bytes of one recording
_ALL = 512 << 20  # bytes of all that is extracted
_FILES = 50_000
_UNPACKED = 1 << 30  # bytes of the whole archive, unpacked: what is not wanted must be read, too


class _Bounded(gzip.GzipFile):
    """A gzip stream that raises an error if it expands too much."""

    unpacked = 0

    def read(self, size: int | None = -1) -> bytes:
        """Reads on and counts the bytes."""
        data = super().read(size)
        self.unpacked += len(data)
        if self.unpacked > _UNPACKED:
            raise Corrupt(f"The archive unpacks to more than {_UNPACKED} bytes.")
        return data


def extract(archive: Path, to: Path, takes: Callable[[str], bool]) -> int:
    """Writes the members that `takes` selects below a folder, without the archive's top folder. Returns their number.

    Links, devices, and paths to other folders are always an error. Raises `Corrupt`.
    """
    count = total = 0
    try:
        with _Bounded(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            for path, member in _wanted(tar, takes):
                count, total = count + 1, total + member.size
                _within(member, count, total)
                _write(tar.extractfile(member), to / path)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Corrupt(f"{archive.name} cannot be unpacked: {error}.") from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise Corrupt(f"{archive.name} contains a member twice: {error}.") from error
    return count


def _wanted(
    tar: tarfile.TarFile, takes: Callable[[str], bool]
) -> Iterator[tuple[PurePosixPath, tarfile.TarInfo]]:
    for member in tar:
        path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
        if member.isdir() or not takes(str(path)):
            continue
        if not member.isreg():
            raise Corrupt(f"{member.name} is not a regular file.")
        if member.name.startswith("/") or ".." in path.parts or "\\" in member.name or "\0" in member.name:
            raise Corrupt(f"{member.name} points outside the archive.")
        yield path, member


def _within(member: tarfile.TarInfo, count: int, total: int) -> None:
    if member.size > _FILE:
        raise Corrupt(f"{member.name} has {member.size} bytes; a recording may have {_FILE}.")
    if count > _FILES or total > _ALL:
        raise Corrupt(f"The archive holds more than {_FILES} recordings, or more than {_ALL} bytes of them.")


def _write(source: IO[bytes] | Any, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    with to.open("xb") as out:
        while chunk := source.read(1 << 20):
            out.write(chunk)
