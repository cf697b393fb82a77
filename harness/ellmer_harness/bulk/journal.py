"""What a command has found, in files: an interrupted run goes on, a later run reads only what has changed, and the memory does
not grow with it.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar
from weakref import finalize

from .engines import Engine, Work, mapped
from .sources import Source

_SECONDS = 1.0  # between two commits: so much work is lost if the process is killed
_TABLES = """
    CREATE TABLE IF NOT EXISTS about (suite TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, version TEXT NOT NULL, report TEXT NOT NULL) WITHOUT ROWID;
"""


_TEMPORARY = """
    CREATE TABLE seen (digest BLOB PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE listed (name TEXT NOT NULL, value TEXT NOT NULL);
"""


class JournalError(ValueError):
    """The file is not a journal."""


class Journal:
    """The reports of files by path. A report counts as long as the file is the same, and everything else that decides it.

    `about` is a text that changes with everything else: the code (see `digest()`) and the options.

    It is a database of SQLite, so the memory does not grow with it, and a process that is killed leaves it whole. One thread
    uses it, and any thread may collect it.
    """

    def __init__(self, path: Path, about: str) -> None:
        self._path = path
        self._versions: dict[str, str] = {}  # of the files under way
        self._saved = time.monotonic()
        try:
            with self._writing():
                self._base = sqlite3.connect(path, check_same_thread=False)
                finalize(self, self._base.close)
                self._base.executescript(_TABLES)
                self._begin(about)
        except sqlite3.DatabaseError as error:
            raise JournalError(f"{path} is not a file of --resume: {error}") from error

    def _begin(self, about: str) -> None:
        """Empties the journal of another version or of other options."""
        if self._base.execute("SELECT suite FROM about").fetchall() != [(about,)]:
            self._base.execute("DELETE FROM about")
            self._base.execute("DELETE FROM files")
            self._base.execute("INSERT INTO about VALUES (?)", (about,))
            self._base.commit()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with self._writing():
                self._base.commit()
        finally:
            self._base.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Says what to do if the disk is full or read-only."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OSError(
                f"{self._path}: {error}. What was saved before is unchanged. Make room, or choose another file."
            ) from error

    def find(self, source: Source) -> dict[str, Any] | None:
        """Returns the report of a file that has not changed since."""
        version = _version(source)
        query = "SELECT report FROM files WHERE path = ? AND version = ? AND version <> ''"
        found = self._base.execute(query, (_key(str(source)), version)).fetchone()
        if found:
            report: dict[str, Any] = json.loads(found[0])
            return report
        self._versions[str(source)] = version
        return None

    def add(self, path: str, report: dict[str, Any]) -> None:
        """Keeps the report of a file. One that `find()` returned is there already."""
        version = self._versions.pop(path, None)
        if version is not None:
            row = (_key(path), version, json.dumps(report))
            with self._writing():
                self._base.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", row)
        if time.monotonic() > self._saved + _SECONDS:
            with self._writing():
                self._base.commit()
            self._saved = time.monotonic()


class Result(Protocol):
    """What was found in a file."""

    path: str


R = TypeVar("R", bound=Result)
#: Functions that turn a result into JSON and back.
AsJson = tuple[Callable[[R], dict[str, Any]], Callable[[dict[str, Any]], R]]


def worked(
    work: Work[Source, R],
    files: Iterable[Source],
    as_json: AsJson[R],
    *,
    jobs: int = 1,
    engine: Engine = "processes",
    journal: Journal | None = None,
) -> Iterator[R]:
    """Returns the results for the files as `mapped()` does. Those that the journal has are taken from there, and new ones are
    added to it, unless their work did not end.
    """
    if journal is None:
        alone = jobs < 2 and engine == "processes"
        yield from map(work.do, files) if alone else mapped(work, files, jobs, engine)
        return
    write, read = as_json
    for result in mapped(replace(work, ready=partial(_stored, journal, read)), files, jobs, engine):
        if not work.unfinished(result):
            journal.add(result.path, write(result))
        yield result


def _stored(journal: Journal, read: Callable[[dict[str, Any]], R], source: Source) -> R | None:
    """Returns the journal's result for a file, or `None` if this command did not write one."""
    try:
        value = journal.find(source)
        return read(value) if value else None
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None


class OnDisk:
    """A set of digests, and lists of values, in a temporary file of SQLite's: a set would need 160 MB for a million.

    One thread at a time uses it. It is closed with the object.
    """

    def __init__(self) -> None:
        self._base = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        finalize(self, self._base.close)
        self._base.executescript(_TEMPORARY)
        self._base.execute("BEGIN")

    def is_new(self, digest: bytes) -> bool:
        """Adds a digest, and tells whether it was not there."""
        return self._base.execute("INSERT OR IGNORE INTO seen VALUES (?)", (digest,)).rowcount == 1

    def has(self, digest: bytes) -> bool:
        """Tells whether a digest was added."""
        return bool(self._base.execute("SELECT 1 FROM seen WHERE digest = ?", (digest,)).fetchone())

    def append(self, name: str, value: dict[str, Any]) -> None:
        """Appends a value of JSON to a list."""
        self._base.execute("INSERT INTO listed VALUES (?, ?)", (name, json.dumps(value)))

    def of(self, name: str) -> Iterator[dict[str, Any]]:
        """Yields the values of a list, in order."""
        query = "SELECT value FROM listed WHERE name = ? ORDER BY rowid"
        return (json.loads(row[0]) for row in self._base.execute(query, (name,)))


def _key(path: str) -> str:
    return path.encode(errors="surrogateescape").decode(errors="replace")


def _version(source: Source) -> str:
    if not isinstance(source, Path):
        return source.version
    with suppress(OSError):
        about = source.stat()
        return f"{about.st_size} {about.st_mtime_ns}"
    return ""


def digest(*folders: Path) -> str:
    """Returns a digest of the code and the data in some folders, which decide what is found."""
    found = sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".py", ".json", ".toml"}:
                found.update(path.read_bytes())
    return found.hexdigest()
