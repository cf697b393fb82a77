"""Recordings that many machines share: bytes by key, in a folder, in Redis, or wherever fsspec reaches.

```python
use_cassette("tests/cassettes/chat.json", store="s3://our-bucket/cassettes")
```

A store looks like the folder of cassettes it stands for: the keys are the paths of cassettes and blobs below the
root of the project. `Shared` is a store as a run uses it, through local copies.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from ..errors import StoreError
from .folder import Folder

__all__ = ["Store", "copy", "open_store"]


class Store(Protocol):
    """What a store has to do; any number of processes use it at once. Errors may be any `Exception`."""

    url: str
    """Its name in messages, without credentials."""

    def get(self, key: str) -> bytes | None:
        """The whole object, never a part of one; None if there is none."""

    def put(self, key: str, data: bytes, over: bytes | None = None) -> bool:
        """Writes an object if the key still holds `over` (None: nothing). False if it holds something else."""

    def find(self, prefix: str = "") -> list[str]:
        """All keys that begin so, sorted."""


def open_store(url: str) -> Store:
    """The store of a name: a path, `redis://host:port/db?prefix=…`, or any URL that fsspec knows."""
    scheme, separator, rest = url.partition("://")
    try:
        if not separator or scheme == "file":
            return Folder(Path(rest if separator else url))
        if scheme in ("redis", "rediss", "unix"):
            from .redis import RedisStore  # noqa: PLC0415  # an extra

            return RedisStore(url)
        from .remote import Remote  # noqa: PLC0415  # an extra

        return Remote(url)
    except ImportError as error:
        extra = "redis" if scheme in ("redis", "rediss", "unix") else "store"
        raise StoreError(
            f'a store at {scheme}:// needs a package that is not installed ({error}): pip install "ellmer-core[{extra}]"'
        ) from error
    except ValueError as error:
        raise StoreError(f"{scheme}://… is not a store: {error}") from error


def copy(source: Store, target: Store, prefix: str = "") -> list[str]:
    """Copies the objects whose keys begin so; gives the keys under which the target keeps something else.

    A folder is a store, too: `copy(open_store("."), open_store("redis://…"), "tests/cassettes/")`.
    """
    return [key for key in source.find(prefix) if not target.put(key, source.get(key) or b"")]
