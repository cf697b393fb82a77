"""The files of recordings, found in folders and in object stores."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate
from itertools import islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from ellmer_core.base.budget import RECORDING

from ..errors import StoreError
from ..recordings import Unreadable
from ..recordings.format_detection import BEGINNING, answer_names, is_log
from ..store import Store, download, listing, open_store

# --- Objects of a store ------------------------------------------------------------------------------


#: What names a file with a body, in the recording of some recorder.
_BLOB = re.compile(rb"[0-9a-f]{64}\.\w+")
_BLOB_FOLDER = re.compile(rb'"blobs": ?"([^"]+)"')
_BESIDE = re.compile(rb"[\"']?(?:on_disk|_file|bodyFileName)[\"']?\s*:\s*[\"']?([^\"'\s]+)")
_BRAINTRUSTS = re.compile(rb'"path"\s*:\s*"([^"]+)"')
_MOST_BESIDE = 1000  # files with bodies, for one recording


@dataclass(frozen=True)
class Object:
    """An object of a store. `str()` is its URL.

    `version` changes with its content; it is `""` if the store has none. `size` is `None` if the store does not tell.
    """

    url: str
    key: str
    version: str = ""
    size: int | None = None

    def __str__(self) -> str:
        return f"{self.url.rstrip('/')}/{self.key}"

    @contextmanager
    def local(self, most: int = RECORDING.received) -> Iterator[Path]:
        """Yields a local copy of the object, in a folder like the store's, with its bodies in files. Raises `Unreadable`.

        Of an object of more than `most` bytes that is not read line by line, the copy has the size and the beginning, and the
        rest of it is empty: its readers refuse it for its size.
        """
        with TemporaryDirectory() as folder:
            try:
                path = _place(Path(folder), self.key)
                store = open_store(self.url)
                large = (self.size or 0) > most and not is_log(path)
                if not download(store, self.key, path, BEGINNING if large else None):
                    raise Unreadable(Path(self.key), "the object no longer exists")
                if large:
                    os.truncate(path, self.size or 0)
                elif path.stat().st_size <= most:
                    self._copy_bodies(store, Path(folder), path.read_bytes())
            except (OSError, StoreError) as error:
                raise Unreadable(Path(self.key), str(error)) from error
            yield path

    def _copy_bodies(self, store: Store, folder: Path, data: bytes) -> None:
        for key in islice(dict.fromkeys(_keys_beside(self.key, data)), _MOST_BESIDE):
            download(store, key, _place(folder, key))


def _place(folder: Path, key: str) -> Path:
    """Returns the path of the local copy of an object, in a folder that exists then."""
    path = Path(folder, key)
    if not path.resolve().is_relative_to(folder.resolve()):
        raise Unreadable(Path(key), "its name points outside the store")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _keys_beside(key: str, data: bytes) -> Iterator[str]:
    """Yields the keys of the objects with bodies that a recording names, and of the answer that belongs to a request."""
    here = PurePosixPath(key).parent
    yield from (str(here / answer) for answer in answer_names(PurePosixPath(key).name))
    blobs = _BLOB_FOLDER.search(data)
    folders = [(_BLOB.findall(data), here / (blobs[1].decode(errors="replace") if blobs else "blobs"))]
    named = _BESIDE.findall(data) + (_BRAINTRUSTS.findall(data) if b'"binary"' in data else [])
    folders += [(named, here), (named, here.parent / "__files")]
    for names, folder in folders:
        for name in names:
            found = posixpath.normpath(folder / name.decode(errors="replace"))
            if not found.startswith(("..", "/")):
                yield found


Source = Path | Object


def is_url(path: Path | str) -> bool:
    """Tells whether a text names a store and not a path."""
    return isinstance(path, str) and "://" in path


def sources(
    paths: Iterable[Source | str], exclude: Sequence[str] = (), *, everything: bool = False
) -> Iterator[Source]:
    """Yields the files under paths and URLs, sorted within each folder. Raises `Unreadable` for a missing path.

    A path may be a pattern, as in `s3://bucket/2026/**`. Only the names of one folder are in memory at a time. Of a folder,
    files that git ignores, folders of tools (`node_modules`, …) and linked folders are left out, and everything that matches
    a pattern of `exclude`. With `everything`, only linked folders and these patterns are left out.
    """
    for path in paths:
        if isinstance(path, Object):
            yield path
            continue
        top, pattern = (str(path), None) if not is_url(path) and Path(path).exists() else _pattern(str(path))
        found: Iterator[Source]
        if is_url(top):
            found = _objects(top, exclude)
        elif Path(top).is_dir():
            found = _in_folder(Path(top), exclude, everything=everything)
        else:
            found = _file(Path(top))
        matching = (each for each in found if not pattern or pattern.fullmatch(_below(each, top)))
        yield from _some(matching, str(path)) if pattern or is_url(top) else matching


def _file(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise Unreadable(path, "there is no such file or folder")
    yield path


def _pattern(path: str) -> tuple[str, re.Pattern[str] | None]:
    """Splits a path into its folder and the pattern of names below it: `**` stands for any number of folders."""
    steps = path.split("/")
    at = next((number for number, step in enumerate(steps) if "*" in step or "[" in step), None)
    if at is None or path.startswith(("redis", "unix:")):
        return path, None
    parts = [".+/" if step == "**" else _one_name(step) + "/" for step in steps[at:]]
    pattern = "".join(f"({part})?" if part == ".+/" else part for part in parts[:-1])
    last = ".+" if parts[-1] == ".+/" else parts[-1].removesuffix("/")
    return "/".join(steps[:at]) or ("/" if path.startswith("/") else "."), re.compile(
        pattern + last, re.DOTALL
    )


def _one_name(step: str) -> str:
    inner = re.fullmatch(r"\(\?s:(.*)\)\\[Zz]", translate(step))  # its form since Python 3.7
    return (inner[1] if inner else re.escape(step)).replace(".*", "[^/]*")


def _below(source: Source, top: str) -> str:
    return source.key if isinstance(source, Object) else source.relative_to(top).as_posix()


def _some(found: Iterator[Source], path: str) -> Iterator[Source]:
    """Yields the files. Raises `Unreadable` if there are none, because a pattern or an address may have an error."""
    first = next(found, None)
    if first is None:
        raise Unreadable(Path(path), "nothing was found there")
    yield first
    yield from found


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


def _in_folder(top: Path, exclude: Sequence[str], *, everything: bool) -> Iterator[Path]:
    ignored, tools = (set[str](), set[str]()) if everything else (_ignored(top), _TOOLS)
    closed: list[Path] = []  # folders that cannot be opened: their report says so
    for place, folders, files in os.walk(top, onerror=lambda error: closed.append(Path(error.filename))):
        yield from closed
        closed.clear()
        folder = Path(place)
        below = folder.relative_to(top)
        if len(below.parts) >= RECORDING.depth:  # Python walks as deep as its stack
            closed.extend(folder / name for name in folders)
            folders.clear()
        folders[:] = sorted(
            name
            for name in folders
            if name not in tools
            and f"{(below / name).as_posix()}/" not in ignored
            and not _fits((below / name).as_posix(), exclude)
        )
        for name in sorted(files):
            key = (below / name).as_posix()
            if key not in ignored and not _fits(key, exclude) and (folder / name).is_file():
                yield folder / name
    yield from closed


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


def _objects(url: str, exclude: Sequence[str]) -> Iterator[Object]:
    folder, _, name = url.rpartition("/")
    try:
        for key, version, size in listing(open_store(url)):
            if not key:  # the address is that of an object
                yield Object(folder, name, version, size)
            elif not _fits(key, exclude):
                yield Object(url, key, version, size)
    except (OSError, StoreError) as error:
        raise Unreadable(Path(url), str(error)) from error


# --- What has changed in git -----------------------------------------------------------------------------


class NoRevision(ValueError):
    """A revision is not in the repository, or there is no repository."""


def changed_since(revision: str, folder: Path) -> frozenset[Path]:
    """Returns the files that were added or changed since the branch left a revision, committed or not. Raises
    `NoRevision`.
    """
    top = Path(_git(folder, "rev-parse", "--show-toplevel", why="this folder is in no repository of git"))
    why = (
        f"git has no revision {revision!r} here; a shallow clone lacks it (actions/checkout: fetch-depth: 0)"
    )
    commit = _git(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}", why=why)
    base = _git(
        folder, "merge-base", commit, "HEAD", why=f"{revision!r} and this branch have no common commit"
    )
    changed = _git(top, "diff", "--name-only", "--diff-filter=d", "-z", base, why="git diff failed")
    new = _git(top, "ls-files", "--others", "--exclude-standard", "-z", why="git ls-files failed")
    return frozenset((top / name).resolve() for name in f"{changed}\0{new}".split("\0") if name)


def _git(folder: Path, *command: str, why: str) -> str:
    """Returns what git prints. Raises `NoRevision`."""
    import subprocess  # noqa: PLC0415 - only in a working copy of git

    try:
        command = ("git", "-C", str(folder), *command)
        done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603 - no shell; a revision is no option
    except (OSError, subprocess.SubprocessError) as error:
        raise NoRevision(why) from error
    return done.stdout.decode(errors="surrogateescape").removesuffix("\n")  # a name may begin with one
