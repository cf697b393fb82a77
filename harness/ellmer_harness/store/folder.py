"""A store in a folder, local or mounted."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..format.blobs import replace_file


class Listed(NamedTuple):
    """An object of a store in a listing.

    Args:
        key: Its key; `""` for a store that is a single object.
        version: A text that changes with its content. Default: `""`, if the store has none.
        size: Its size in bytes. Default: `None`, if the listing does not say it.

    Examples:
        >>> from ellmer_harness.store import Listed
        >>> Listed("weather.json", size=120).version
        ''
    """

    key: str
    version: str = ""
    size: int | None = None


class Folder:
    """A store in a folder. `root` must exist, because a folder that is not mounted is not an empty store."""

    def __init__(self, root: Path) -> None:
        self.root, self.url = root, str(root)

    def get(self, key: str) -> bytes | None:
        """Returns the file's bytes. Files are replaced atomically."""
        try:
            return (self.root / key).read_bytes()
        except FileNotFoundError:
            self._check()
            return None

    def put(self, key: str, data: bytes, over: bytes | None = None) -> bool:
        """Writes an object under a lock that is released when the process ends."""
        self._check()
        path = self.root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.parent):
            now = self.get(key)
            if now == over and now != data:
                replace_file(path, data)
                return True
            return now == data

    def find(self, prefix: str = "") -> list[str]:
        """Returns the keys. Temporary (hidden) files are left out."""
        self._check()
        files = (path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file())
        visible = (path.as_posix() for path in files if not path.name.startswith("."))
        return sorted(key for key in visible if key.startswith(prefix))

    def listing(self) -> Iterator[Listed]:
        """Yields the keys with the size and the time of each file, folder by folder."""
        if self.root.is_file():
            yield _listed("", self.root)
            return
        self._check()
        for place, folders, files in os.walk(self.root):
            folders.sort()
            for name in sorted(files):
                path = Path(place, name)
                if not name.startswith(".") and path.is_file():
                    yield _listed(path.relative_to(self.root).as_posix(), path)

    def download(self, key: str, path: Path, most: int | None = None) -> bool:
        """Copies a file, or its first `most` bytes. Returns whether it exists."""
        try:
            if most is None:
                shutil.copyfile(self.root / key, path)
            else:
                with (self.root / key).open("rb") as file:
                    path.write_bytes(file.read(most))
        except FileNotFoundError:
            self._check()
            return False
        return True

    def _check(self) -> None:
        if not self.root.is_dir():
            raise NotADirectoryError(f"{self.root} is not a folder; create or mount it")


def _listed(key: str, path: Path) -> Listed:
    about = path.stat()
    return Listed(key, f"{about.st_size} {about.st_mtime_ns}", about.st_size)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    if sys.platform == "win32":  # a folder cannot be locked there: the later of two writers wins
        yield
        return
    import fcntl  # noqa: PLC0415  # not on Windows

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
