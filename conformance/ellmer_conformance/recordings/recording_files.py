"""The files of recordings: found in folders, and in object stores."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from ellmer_harness.errors import StoreError
from ellmer_harness.format.compression import is_coded, undo
from ellmer_harness.recordings import SUFFIXES, Interaction, Unreadable, find, format_detection
from ellmer_harness.recordings.format_detection import nearest
from ellmer_harness.store import Store, open_store

from ..contract.readers import host_of

__all__ = [
    "SUFFIXES",
    "Object",
    "Recording",
    "Source",
    "Unreadable",
    "find",
    "is_url",
    "nearest",
    "opened",
    "read",
    "sources",
]


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
    found = opened(path)
    return found and found[1]


def opened(path: Path) -> tuple[str, Iterator[Recording]] | None:
    """Returns the name of a file's format with the same exchanges."""
    found = format_detection.opened(path)
    if found is None:
        return None
    return found[0], (_recording(it, path) if it else Recording("", "", "") for it in found[1])


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


def sources(paths: Iterable[Source | str], exclude: Sequence[str] = ()) -> Iterator[Source]:
    """Yields the files under paths and URLs, sorted within each. Raises `Unreadable` for a missing path.

    Of a folder, files that git ignores, folders of tools (`node_modules`, …) and linked folders are left out, and
    everything that matches a pattern of `exclude`.
    """
    for path in paths:
        if isinstance(path, Object):
            yield path
        elif is_url(path):
            yield from (each for each in _objects(str(path)) if not _fits(each.key, exclude))
        elif Path(path).is_dir():
            yield from _in_folder(Path(path), exclude)
        else:
            yield from find([path])


#: Folders of tools. None has recordings of its own.
_TOOLS = {
    "node_modules",
    ".git",
    ".hg",
    ".svn",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".nox",
    ".mypy_cache",
}


def _in_folder(top: Path, exclude: Sequence[str]) -> Iterator[Path]:
    ignored = _ignored(top)
    for place, folders, files in os.walk(top):
        folder = Path(place)
        below = folder.relative_to(top)
        folders[:] = sorted(
            name
            for name in folders
            if name not in _TOOLS
            and f"{(below / name).as_posix()}/" not in ignored
            and not _fits((below / name).as_posix(), exclude)
        )
        for name in sorted(files):
            key = (below / name).as_posix()
            if key not in ignored and not _fits(key, exclude) and (folder / name).is_file():
                yield folder / name


def _fits(key: str, patterns: Sequence[str]) -> bool:
    """Tells whether a path, or one of its last parts, matches a pattern like `*.har` or `vendor/*`."""
    return any(fnmatchcase(key, each) or fnmatchcase(key, f"*/{each}") for each in patterns)


def _ignored(top: Path) -> set[str]:
    """Returns what git ignores in a folder, folders with a slash at the end. It is empty without git, and if the
    folder itself is ignored, because the caller named it.
    """
    if not any((each / ".git").exists() for each in (top.absolute(), *top.absolute().parents)):
        return set()
    import subprocess  # noqa: PLC0415 - only in a working copy of git

    listed = (
        "git",
        "-C",
        str(top),
        "ls-files",
        "--others",
        "--ignored",
        "--exclude-standard",
        "--directory",
        "-z",
    )
    try:
        found = subprocess.run(listed, capture_output=True, check=True, timeout=60)  # noqa: S603 - a fixed command
    except (OSError, subprocess.SubprocessError):
        return set()
    return {name for name in found.stdout.decode(errors="surrogateescape").split("\0") if name != "./"}


def _objects(url: str) -> Iterator[Object]:
    try:
        keys = open_store(url).find()
    except (OSError, StoreError) as error:
        raise Unreadable(Path(url), str(error)) from error
    if not keys:
        raise Unreadable(Path(url), "nothing was found there")
    return (Object(url, key) for key in keys)
