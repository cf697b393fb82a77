"""The files of recordings: found in folders, and in object stores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from ellmer_harness import recordings
from ellmer_harness.errors import StoreError
from ellmer_harness.format.compression import is_coded, undo
from ellmer_harness.recordings import SUFFIXES, Interaction, Unreadable, find
from ellmer_harness.store import Store, open_store

from ..contract.readers import host_of

__all__ = ["SUFFIXES", "Object", "Recording", "Source", "Unreadable", "find", "is_url", "read", "sources"]


# --- Files on this machine -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recording:
    """An exchange of a file. `place` is its JSON pointer, or its line.

    `body` is `None` if the recorder did not store it, and `status` is `None` if there is no answer. `response` is the
    answer's decoded bytes, and `answered` its headers. `when` is the day of the recording, if the file has it.
    `chunks` are the sizes of the answer's chunks, if the recorder stored them.
    """

    place: str
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    status: int | None = None
    response: bytes = b""
    answered: Mapping[str, str] = field(default_factory=dict)
    when: date | None = None
    chunks: tuple[int, ...] = ()


def read(path: Path) -> Iterator[Recording] | None:
    """Yields the exchanges of a file one by one, because a log may be long. Returns `None` if it is not a recording.

    A line of a log that is not an exchange has no URL. Raises `Unreadable`, also in the middle of a log.
    """
    found = recordings.each(path)
    return None if found is None else (_recording(it, path) if it else Recording("", "", "") for it in found)


def _recording(it: Interaction, path: Path) -> Recording:
    answered = _joined(it.headers)
    return Recording(
        place=it.place,
        method=it.method,
        url=_with_host(it.url, path),
        headers=_joined(it.sent),
        body=it.body,
        status=it.status or None,
        response=_plain(it.content or b"", answered),
        answered=answered,
        when=it.when.date() if it.when else None,
        chunks=it.chunks,
    )


def _with_host(url: str, path: Path) -> str:
    """Returns the URL. Recorders of mock servers store no host, so it comes from a folder with a provider's name."""
    scheme, _, rest = url.partition("://")
    if not rest.startswith("/"):
        return url
    hosts = (host_of(folder.name.lower()) for folder in path.absolute().parents)
    return f"{scheme}://{next(filter(None, hosts), 'localhost')}{rest}"


def _joined(headers: list[tuple[str, str]]) -> dict[str, str]:
    """Joins several values to one."""
    found: dict[str, str] = {}
    for name, value in headers:
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _plain(body: bytes, headers: Mapping[str, str]) -> bytes:
    """Removes the content-encoding that some recorders keep, with or without its header."""
    encoding = "gzip" if body.startswith(b"\x1f\x8b") else headers.get("content-encoding", "")
    with suppress(ImportError):  # of br and zstd
        return undo(body, encoding) if is_coded(body, encoding) else body
    return body


# --- Files in object stores ------------------------------------------------------------------------------


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
