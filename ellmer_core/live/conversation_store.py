"""Conversations in a file: SQLite of the standard library. Each user sees only their own."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import finalize

from ..base.file_replacement import NO_ROOM
from ..errors import UsageError

TABLE = """
CREATE TABLE IF NOT EXISTS conversations (
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    title TEXT NOT NULL,
    words TEXT NOT NULL,
    record TEXT NOT NULL,
    changed REAL NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user, id)
)
"""

#: Conversations in the list of a page. The search finds older ones.
LISTED = 100

#: Days that a deleted conversation can be brought back.
KEPT = 7
#: Errors of SQLite on a full disk, or on one that is only read.
_NOT_WRITTEN = {"SQLITE_FULL", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR_WRITE"}


@dataclass(frozen=True)
class Listed:
    """A conversation in the list: `changed` is in seconds since 1970."""

    id: str
    title: str
    changed: float


class Store:
    """The conversations in a file.

    Args:
        path: The file, or a folder, which then holds `conversations.sqlite`. What is missing is made; only its owner can
            read it.

    Raises:
        UsageError: The file cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path).expanduser()
        self.path = path if path.suffix and not path.is_dir() else path / "conversations.sqlite"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch(mode=0o600)
            self._connection = sqlite3.connect(self.path, timeout=2, check_same_thread=False)
            finalize(self, self._connection.close)
            self._connection.create_function("fold", 1, str.casefold)
            with self._connection as connection:
                connection.execute(TABLE)
                connection.execute(
                    "DELETE FROM conversations WHERE deleted AND changed < ?", [time.time() - KEPT * 86400]
                )
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"store={str(path)!r} cannot be opened: {error}.{_advice(error)}") from error

    def save(self, user: str, id: str, title: str, words: str, record: Any) -> None:
        """Writes a conversation. A title that is there already stays."""
        values = (user, id, title, words, json.dumps(record), time.time())
        with self._written() as connection:
            connection.execute(
                "INSERT INTO conversations (user, id, title, words, record, changed) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (user, id) DO UPDATE SET words = excluded.words, record = excluded.record, "
                "changed = excluded.changed, deleted = 0",
                values,
            )

    def load(self, user: str, id: str) -> Any:
        """Returns the record of a conversation; `None` if the user has none with this id."""
        with self._written() as connection:
            found = connection.execute(
                "SELECT record FROM conversations WHERE user = ? AND id = ? AND NOT deleted", [user, id]
            ).fetchone()
            return json.loads(found[0]) if found else None

    def listed(self, user: str, search: str = "") -> list[Listed]:
        """Returns the conversations whose titles or messages contain the words, newest first."""
        with self._written() as connection:
            rows = connection.execute(
                "SELECT id, title, changed FROM conversations WHERE user = ? AND NOT deleted "
                "AND instr(fold(title || ' ' || words), ?) ORDER BY changed DESC LIMIT ?",
                [user, search.casefold(), LISTED],
            )
            return [Listed(*row) for row in rows]

    def rename(self, user: str, id: str, title: str) -> None:
        """Gives a conversation another title."""
        self._set(user, id, "title", title)

    def delete(self, user: str, id: str, *, deleted: bool = True) -> None:
        """Deletes a conversation, or brings it back with `deleted=False`. A week later it is gone."""
        self._set(user, id, "deleted", deleted)

    def _set(self, user: str, id: str, column: str, value: object) -> None:
        with self._written() as connection:
            connection.execute(
                f"UPDATE conversations SET {column} = ? WHERE user = ? AND id = ?",  # noqa: S608 - our own names
                [value, user, id],
            )

    @contextmanager
    def _written(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._connection as connection:
                yield connection
        except (sqlite3.Error, ValueError) as error:
            raise UsageError(f"{self.path} cannot be used: {error}.{_advice(error)}") from error


def _advice(error: Exception) -> str:
    """Returns what to do if a file cannot be written."""
    if getattr(error, "sqlite_errorname", "") in _NOT_WRITTEN or getattr(error, "errno", None) in NO_ROOM:
        return " What it has is unchanged. Make room, or use a path in a folder that can be written."
    return ""
