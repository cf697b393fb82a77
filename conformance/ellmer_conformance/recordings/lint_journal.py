"""What the linter found already, in a file: an interrupted run goes on, and a later run reads only what has changed."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import ellmer_harness

from .recording_files import Source

_SECONDS = 1.0  # between two commits: so much work is lost if the process is killed
_TABLES = """
    CREATE TABLE IF NOT EXISTS about (suite TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, version TEXT NOT NULL, report TEXT NOT NULL) WITHOUT ROWID;
"""


class JournalError(ValueError):
    """The file is no journal."""


class Journal:
    """The reports of files by path. A report counts as long as the file, the rules and the options are the same.

    It is a database of SQLite, so the memory does not grow with it, and a process that is killed leaves it whole.
    """

    def __init__(self, path: Path, options: str = "") -> None:
        self._versions: dict[str, str] = {}  # of the files under way
        self._saved = time.monotonic()
        try:
            self._base = sqlite3.connect(path)
            self._base.executescript(_TABLES)
            self._begin(f"{_suite()} {options}")
        except sqlite3.DatabaseError as error:
            raise JournalError(f"{path} is not a file of --resume: {error}") from error

    def _begin(self, suite: str) -> None:
        """Empties the journal of another version or of other options."""
        if self._base.execute("SELECT suite FROM about").fetchall() != [(suite,)]:
            self._base.execute("DELETE FROM about")
            self._base.execute("DELETE FROM files")
            self._base.execute("INSERT INTO about VALUES (?)", (suite,))
            self._base.commit()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.commit()
        self._base.close()

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
            self._base.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", row)
        if time.monotonic() > self._saved + _SECONDS:
            self._base.commit()
            self._saved = time.monotonic()


def _key(path: str) -> str:
    return path.encode(errors="surrogateescape").decode(errors="replace")


def _version(source: Source) -> str:
    if not isinstance(source, Path):
        return source.version
    with suppress(OSError):
        about = source.stat()
        return f"{about.st_size} {about.st_mtime_ns}"
    return ""


def _suite() -> str:
    """Returns a digest of everything that decides a verdict: the rules and the readers."""
    folders = (Path(__file__).parent.parent / "contract", Path(__file__).parent)
    readers = (Path(ellmer_harness.__file__).parent / name for name in ("recordings", "format"))
    digest = sha256()
    for folder in (*folders, *readers):
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".py", ".json", ".toml"}:
                digest.update(path.read_bytes())
    return digest.hexdigest()
