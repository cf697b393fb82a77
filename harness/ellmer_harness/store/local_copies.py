"""A store as a run uses it. Every object has a local copy, and the run reads the copy.

A cassette is fetched each time, because it may have been recorded again. A blob is fetched once, because its
name is the hash of its content. After a failed connection, the store is not asked again, and the copies are
used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from os.path import normpath
from pathlib import Path

from pydantic_core import from_json

from ..errors import StoreError
from ..format.blobs import replace_file
from ..interception import network_guard
from . import Store, open_store

_BLOB = re.compile(r"([0-9a-f]{64})\.\w+")
_REFERENCE = re.compile(rf'"\$?blob": ?"({_BLOB.pattern})"')
_FOLDER = re.compile(r'"blobs": "([^"]*)"')


class Shared:
    """A store with local copies. `root` is the folder that keys are relative to; `copies` is the local folder
    for copies of the store's objects.

    `gone` holds the reason if the store cannot be reached.
    """

    def __init__(self, store: Store, root: Path, copies: Path) -> None:
        self.store, self.root, self.copies = store, root, copies
        self.gone = ""

    def key(self, path: Path) -> str:
        """Returns the key of a cassette or blob."""
        absolute = Path(normpath(self.root / path))
        if not absolute.is_relative_to(self.root):
            raise StoreError(
                f"{path} has no key in the store {self.store.url}: it is not below {self.root}. "
                "Move it there, or keep it out of the store with store=''."
            )
        return absolute.relative_to(self.root).as_posix()

    def copy(self, path: Path) -> Path:
        """Returns the path of the local copy of a cassette, or of a folder of blobs."""
        return self.copies / self.key(path)

    def name(self, path: Path) -> str:
        """Returns the name of an object for messages."""
        return f"{self.store.url}/{self.key(path)}"

    def fetch(self, path: Path, *, offline: bool = True) -> bytes | None:
        """Updates the local copies of a cassette and its blobs. There is no copy if the store has no such
        object.

        Returns the cassette's text. Raises `StoreError` if an object is missing in the store and, if
        `offline` is allowed, among the copies.
        """
        data = self._get(self.key(path), offline=offline)
        if data is None:
            self.copy(path).unlink(missing_ok=True)
            return None
        text = data.decode(errors="replace")
        folder = path.parent / (found[1] if (found := _FOLDER.search(text)) else "blobs")
        for name in dict.fromkeys(match[1] for match in _REFERENCE.finditer(text)):
            self._fetch_blob(folder / name, path)
        return data

    def look(self, path: Path) -> bytes | None:
        """Returns the current object of the store, even if it is incomplete."""
        with self._reached(self.key(path)):
            return self.store.get(self.key(path))

    def publish(self, path: Path, data: bytes, over: bytes | None = None) -> bool:
        """Writes an object to the store. Returns False if the store has changed since `over`."""
        with self._reached(self.key(path)):
            return self.store.put(self.key(path), data, over)

    def publish_blob(self, path: Path, data: bytes) -> None:
        """Writes an object that is named by its content. Another content under that name is an incomplete
        object and is replaced.
        """
        if not self.publish(path, data):
            self.publish(path, data, over=self.look(path))

    def _get(self, key: str, *, offline: bool = True) -> bytes | None:
        """Returns the object from the store, or else from its copy."""
        copy = self.copies / key
        try:
            with self._reached(key):
                data = self.store.get(key)
            self._check(key, data)
        except StoreError:
            if not (offline and copy.exists()):
                raise
            return copy.read_bytes()
        if data is not None and not (copy.exists() and copy.read_bytes() == data):
            replace_file(copy, data)
        return data

    def _fetch_blob(self, path: Path, cassette: Path) -> None:
        key, copy = self.key(path), self.copy(path)
        if copy.exists() and _is_whole(key, copy.read_bytes()):
            return
        if self._get(key) is None:
            raise StoreError(
                f"the store {self.store.url} has no object {key}, which {self.key(cassette)} refers to; record that "
                "cassette again"
            )

    def _check(self, key: str, data: bytes | None) -> None:
        if data is not None and not _is_whole(key, data):
            raise StoreError(
                f"the object {key} in the store {self.store.url} is incomplete ({len(data)} bytes), and there is no "
                f"copy of it in {self.copies}; record that cassette again"
            )

    @contextmanager
    def _reached(self, key: str) -> Iterator[None]:
        """Turns any error of the store into `StoreError`, and lets its sockets through."""
        if self.gone:
            raise self._unreachable(key)
        try:
            with network_guard.aside():
                yield
        except Exception as error:
            self.gone = f"{type(error).__name__}: {error}"
            raise self._unreachable(key) from error

    def _unreachable(self, key: str) -> StoreError:
        copy = (
            "whose copy will not do"
            if (self.copies / key).exists()
            else f"which has no copy in {self.copies}"
        )
        return StoreError(
            f"the store {self.store.url} cannot be reached ({self.gone}). It is needed for {key}, {copy}.\n"
            "Make the store available again, or run without it (--cassette-store='', CASSETTE_STORE='')."
        )


_KNOWN: dict[tuple[str | Store, Path, str | None], Shared] = {}


def shared(store: str | Store, root: Path) -> Shared:
    """Returns the `Shared` of a store. There is one in each process, so that connections are reused and an
    unavailable store is asked once.
    """
    place = store, root, os.environ.get("CASSETTE_CACHE")
    if place not in _KNOWN:
        opened = open_store(store) if isinstance(store, str) else store
        _KNOWN[place] = Shared(opened, root, copies(opened.url))
    return _KNOWN[place]


def copies(url: str) -> Path:
    """Returns the folder for copies of a store: below $CASSETTE_CACHE, else below the user's cache folder."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    base = os.environ.get("CASSETTE_CACHE") or Path(home, "ellmer-harness")
    return Path(base).absolute() / sha256(url.encode()).hexdigest()[:12]


def _is_whole(key: str, data: bytes) -> bool:
    if blob := _BLOB.fullmatch(key.rpartition("/")[2]):
        return sha256(data).hexdigest() == blob[1]
    try:
        from_json(data)
    except ValueError:
        return False
    return True
