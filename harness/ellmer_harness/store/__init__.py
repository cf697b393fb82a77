"""Recordings that many machines share: bytes by key, in a folder, in Redis, or in any file system of fsspec.

```python
use_cassette("tests/cassettes/chat.json", store="s3://our-bucket/cassettes")
```

A store has the structure of the folder of cassettes: the keys are the paths of cassettes and blobs below the
project's root. `Shared` gives a run its local copies of a store.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from ..errors import StoreError
from .folder import Folder, Listed

__all__ = ["Listed", "Store", "copy", "download", "listing", "open_store"]


class Store(Protocol):
    """What a store must have. Several processes use it at the same time. Its methods may raise any `Exception`.

    Examples:
        >>> from ellmer_harness.store import open_store
        >>> open_store(".").find("weather")
        ['weather.json']
    """

    url: str
    """Its name in messages, without credentials."""

    def get(self, key: str) -> bytes | None:
        """Returns the whole object, never a part of one, or `None` if there is none.

        Args:
            key: Its key, for example `tests/cassettes/chat.json`.

        Examples:
            >>> from ellmer_harness.store import open_store
            >>> open_store(".").get("weather.json")[:1]
            b'{'
        """
        ...

    def put(self, key: str, data: bytes, over: bytes | None = None) -> bool:
        """Writes an object if the key still has the expected content.

        Args:
            key: Its key.
            data: Its bytes.
            over: The bytes that the key is expected to have; None if it should not exist. Default: `None`.

        Returns:
            False if the key has other content.

        Examples:
            >>> from ellmer_harness.store import open_store
            >>> store = open_store("memory://docs-put")
            >>> store.put("a.json", b"{}"), store.put("a.json", b"[]")
            (True, False)
        """
        ...

    def find(self, prefix: str = "") -> list[str]:
        """Returns all keys with a prefix, sorted.

        Args:
            prefix: How the keys begin. Default: all keys.

        Examples:
            >>> from ellmer_harness.store import open_store
            >>> open_store(".").find("st")
            ['stream.json']
        """
        ...


def open_store(url: str) -> Store:
    """Opens the store that a name or URL describes.

    Args:
        url: A folder, `redis://host:port/db?prefix=…`, or any URL of fsspec (`s3://bucket/prefix`, `memory://`).

    Returns:
        The store. Nothing is read or written yet.

    Raises:
        StoreError: If the name is not a store, or needs a package that is not installed.

    Examples:
        >>> from ellmer_harness.store import open_store
        >>> open_store(".").get("nothing.json") is None
        True
    """
    scheme, separator, rest = url.partition("://")
    try:
        if not separator or scheme == "file":
            return Folder(Path(rest if separator else url))
        if scheme in ("redis", "rediss", "unix"):
            from .redis import RedisStore  # noqa: PLC0415  # an extra

            return RedisStore(url)
        from .fsspec_store import Remote  # noqa: PLC0415  # an extra

        return Remote(url)
    except ImportError as error:
        extra = "redis" if scheme in ("redis", "rediss", "unix") else "store"
        raise StoreError(
            f'a store at {scheme}:// needs a package that is not installed ({error}): pip install "ellmer-core[{extra}]"'
        ) from error
    except ValueError as error:
        raise StoreError(f"{scheme}://… is not a store: {error}") from error


def listing(store: Store) -> Iterator[Listed]:
    """Yields the keys of a store folder by folder, so that the memory does not grow with the number of objects.

    Args:
        store: The store.

    Returns:
        Each key with its version and its size. The key of a store that is a single object is `""`.

    Examples:
        >>> from ellmer_harness.store import listing, open_store
        >>> sorted(each.key for each in listing(open_store(".")))
        ['stream.json', 'weather.json']
    """
    own = getattr(store, "listing", None)
    yield from own() if own else map(Listed, store.find())


def download(store: Store, key: str, path: Path, most: int | None = None) -> bool:
    """Writes an object to a file, in pieces if the store can, so that a large object needs no memory.

    Args:
        store: The store.
        key: The object's key.
        path: The file.
        most: The number of bytes from the beginning after which the rest is left out. Default: all bytes.

    Returns:
        False if there is no such object.

    Raises:
        OSError: If the store cannot be reached, or the file cannot be written.

    Examples:
        >>> from ellmer_harness.store import download, open_store
        >>> download(open_store("."), "weather.json", Path("copy.json"), most=1)
        True
    """
    if own := getattr(store, "download", None):
        return bool(own(key, path, most))
    data = store.get(key)
    if data is not None:
        path.write_bytes(data[:most])
    return data is not None


def copy(source: Store, target: Store, prefix: str = "") -> list[str]:
    """Copies objects from one store to another. A folder is a store, too.

    Args:
        source: The store to read from.
        target: The store to write to. What it has already stays.
        prefix: How the keys begin. Default: all keys.

    Returns:
        The keys under which the target has other content.

    Examples:
        >>> from ellmer_harness.store import copy, open_store
        >>> copy(open_store("."), open_store("memory://docs-example"), "weather")
        []
    """
    return [key for key in source.find(prefix) if not target.put(key, source.get(key) or b"")]
