"""A store in any file system of fsspec: S3 (with s3fs), Google Cloud Storage (gcsfs), Azure (adlfs), SFTP, …

Credentials and endpoints come from the file system's package: environment, profiles, fsspec's configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec

from ..secrets.redaction import clean_url
from .folder import Listed

#: Here an object shows only when all of it has arrived; elsewhere it is written beside its place, and moved there.
_WHOLE = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "memory"}
_S3 = {"s3", "s3a"}
_BUCKETS = _WHOLE - {"memory"}


class Remote:
    """A store through fsspec. On S3, two writers always exclude each other; elsewhere, it depends on the file
    system's package.
    """

    def __init__(self, url: str) -> None:
        self.url = clean_url(url).rstrip("/")
        self._fs, root = fsspec.url_to_fs(url, use_listings_cache=False)
        self._root = str(root).rstrip("/")
        self._there = False
        protocol = self._fs.protocol
        self._names = {protocol} if isinstance(protocol, str) else set(protocol)

    def get(self, key: str) -> bytes | None:
        """Returns the object. Raises `FileNotFoundError` if the bucket does not exist."""
        try:
            return bytes(self._fs.cat_file(self._path(key)))
        except FileNotFoundError:
            self._check_bucket()
            return None

    def put(self, key: str, data: bytes, over: bytes | None = None) -> bool:
        """Writes the object if the store still has `over`, or has no object if `over` is `None`."""
        condition = self._unchanged(key) if over is not None else {"mode": "create"}
        now = self.get(key)
        if now != over or now == data:
            return now == data
        try:
            self._write(self._path(key), data, condition)
        except OSError:
            if (now := self.get(key)) == over:
                raise  # it was not for the condition
            return now == data
        return True

    def find(self, prefix: str = "") -> list[str]:
        """Returns the keys. Temporary (hidden) files are left out."""
        self._fs.invalidate_cache()
        found = (str(path).removeprefix(self._root).lstrip("/") for path in self._fs.find(self._root))
        visible = (key for key in found if not key.rpartition("/")[2].startswith("."))
        return sorted(key for key in visible if key.startswith(prefix))

    def listing(self) -> Iterator[Listed]:
        """Yields the keys with the tag or the time of each object, and its size, folder by folder."""
        self._fs.invalidate_cache()
        try:
            yield from self._below(self._root)
        except FileNotFoundError:
            self._check_bucket()

    def _below(self, folder: str) -> Iterator[Listed]:
        found = [
            (each["name"].rstrip("/"), each["type"], _version(each), each.get("size"))
            for each in self._fs.ls(folder, detail=True, refresh=True)
        ]
        folders = []
        for name, kind, version, size in sorted(found, key=itemgetter(0)):
            key = name.removeprefix(self._root).lstrip("/")
            if kind == "directory" and name != folder:
                folders.append(name)
            elif kind == "file" and not key.rpartition("/")[2].startswith(".") and (key or len(found) == 1):
                yield Listed(key, version, size)  # without a key and among others, it is the folder itself
        for name in folders:
            yield from self._below(name)

    def download(self, key: str, path: Path, most: int | None = None) -> bool:
        """Writes the object, or its first `most` bytes, to a file. Returns whether it exists."""
        try:
            if most is None:
                self._fs.get_file(self._path(key), str(path))
            else:
                path.write_bytes(self._fs.cat_file(self._path(key), start=0, end=most))
        except FileNotFoundError:
            self._check_bucket()
            return False
        return True

    def _check_bucket(self) -> None:
        bucket = self._root.partition("/")[0]
        if not self._there and self._names & _BUCKETS and not self._fs.exists(bucket):
            raise FileNotFoundError(f"there is no bucket {bucket}")
        self._there = True

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}"

    def _unchanged(self, key: str) -> dict[str, Any]:
        """Returns the condition that makes a write fail if the object has changed."""
        if not self._names & _S3:
            return {}
        try:
            return {"IfMatch": self._fs.info(self._path(key))["ETag"]}
        except FileNotFoundError:
            return {}

    def _write(self, path: str, data: bytes, condition: dict[str, Any]) -> None:
        if self._names & _WHOLE:
            self._fs.pipe_file(path, data, **condition)
            return
        folder, _, name = path.rpartition("/")
        staged = f"{folder}/.{name}.{uuid4().hex}"
        self._fs.makedirs(folder, exist_ok=True)
        self._fs.pipe_file(staged, data)
        self._fs.mv(staged, path)


def _version(about: Mapping[str, Any]) -> str:
    """Returns a text that changes with an object: its tag (S3, Google, Azure), or else its size and time."""
    tag = about.get("ETag") or about.get("etag")
    when = about.get("LastModified") or about.get("mtime") or about.get("created") or ""
    return str(tag or (f"{about.get('size')} {when}" if when else ""))
