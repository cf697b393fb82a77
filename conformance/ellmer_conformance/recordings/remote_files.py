"""Remote files: the objects of a store (`s3://bucket/prefix`, or any file system of fsspec). Each worker reads its
files one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from ellmer_harness.errors import StoreError
from ellmer_harness.store import Store, open_store

from .recording_files import Unreadable, find

__all__ = ["Object", "Source", "is_url", "sources"]


@dataclass(frozen=True)
class Object:
    """An object of a store. `str()` is its URL."""

    url: str
    key: str

    def __str__(self) -> str:
        return f"{self.url.rstrip('/')}/{self.key}"

    @contextmanager
    def local(self) -> Iterator[Path]:
        """Yields a local copy of the object, in a folder like the store's, with its blobs. Raises `Unreadable`."""
        with TemporaryDirectory() as folder:
            try:
                self._copy(open_store(self.url), Path(folder))
            except (OSError, StoreError) as error:
                raise Unreadable(Path(self.key), str(error)) from error
            yield Path(folder, self.key)

    def _copy(self, store: Store, folder: Path) -> None:
        data = store.get(self.key)
        if data is None:
            raise Unreadable(Path(self.key), "the object no longer exists")
        named = _blobs(self.url) if b"blob" in data else {}
        blobs = {key: store.get(key) for name, key in named.items() if name.encode() in data}
        for key, content in {self.key: data, **blobs}.items():
            if content is not None:
                if not Path(folder, key).resolve().is_relative_to(folder.resolve()):
                    raise Unreadable(Path(key), "its name points outside the store")
                Path(folder, key).parent.mkdir(parents=True, exist_ok=True)
                Path(folder, key).write_bytes(content)


@lru_cache
def _blobs(url: str) -> dict[str, str]:
    """Returns the blobs of a store with their names and places."""
    paths = map(PurePosixPath, open_store(url).find())
    return {path.name: str(path) for path in paths if path.parent.name == "blobs"}


Source = Path | Object


def is_url(path: Path | str) -> bool:
    """Tells whether a text names a store and not a path."""
    return isinstance(path, str) and "://" in path


def sources(paths: Iterable[Source | str]) -> Iterator[Source]:
    """Yields the files under paths and URLs, sorted within each. Raises `Unreadable` for a missing path."""
    for path in paths:
        if isinstance(path, Object):
            yield path
        elif is_url(path):
            yield from _objects(str(path))
        else:
            yield from find([path])


def _objects(url: str) -> Iterator[Object]:
    try:
        keys = open_store(url).find()
    except (OSError, StoreError) as error:
        raise Unreadable(Path(url), str(error)) from error
    if not keys:
        raise Unreadable(Path(url), "nothing was found there")
    return (Object(url, key) for key in keys)
