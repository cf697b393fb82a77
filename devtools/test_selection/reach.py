"""The map of tests: which test reaches which line, how long it takes, and which files it reads.

`python -m devtools.test_selection.reach` makes it from one run of the whole suite with coverage: some five minutes on two cores. It is
kept in `build/reach.sqlite`, with the sources as they were. So lines are found again after the files have changed.
"""

# ruff: noqa: S603, T201 - it runs pytest, and prints
from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from difflib import SequenceMatcher
from pathlib import Path

from coverage.numbits import numbits_to_nums

ROOT = Path(__file__).parents[2]
MAP = Path("build/reach.sqlite")
#: The packages whose lines are mapped.
PACKAGES = ("ellmer_core", "harness/ellmer_harness", "conformance/ellmer_conformance")
#: The folders of the tests. Their sources are kept, so that a test that has changed since is noticed.
TESTS = ("tests", "harness/tests", "conformance/tests")
SCHEMA = """
CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT UNIQUE, source TEXT);
CREATE TABLE test (id INTEGER PRIMARY KEY, name TEXT UNIQUE, seconds REAL);
CREATE TABLE lines (id INTEGER PRIMARY KEY, file INTEGER, numbers BLOB, UNIQUE (file, numbers));
CREATE TABLE reached (lines INTEGER, test INTEGER, PRIMARY KEY (lines, test)) WITHOUT ROWID;
CREATE TABLE read (path TEXT, test INTEGER, PRIMARY KEY (path, test)) WITHOUT ROWID;
"""
RUN = """\
[run]
source =
{sources}
branch = false
parallel = true
data_file = {folder}/coverage
context = ${{REACH_TEST-}}
disable_warnings = no-data-collected,module-not-imported,module-not-measured,already-imported
"""


# Questions -------------------------------------------------------------------------------------------------


class Reach:
    """The map, for questions. Raises FileNotFoundError if there is none."""

    def __init__(self, path: Path = ROOT / MAP) -> None:
        if not path.is_file():
            raise FileNotFoundError(f"there is no map of the tests: {path}")
        self.path = path
        self._db = sqlite3.connect(path)
        self.seconds: dict[str, float] = dict(self._db.execute("SELECT name, seconds FROM test"))

    def source(self, path: str) -> str | None:
        """Returns a file as it was when the map was made, or None if it was not there."""
        row = self._db.execute("SELECT source FROM file WHERE path = ?", [path]).fetchone()
        return None if row is None else str(row[0])

    def sources(self) -> dict[str, str]:
        """Returns all files, as they were when the map was made."""
        return dict(self._db.execute("SELECT path, source FROM file"))

    def tests_of_lines(self, path: str, lines: Iterable[int]) -> set[str]:
        """Returns the tests that reach one of these lines, in the numbers of the map's source."""
        wanted = set(lines)
        query = "SELECT lines.id, numbers FROM lines JOIN file ON file.id = file WHERE path = ?"
        found = [
            id for id, numbers in self._db.execute(query, [path]) if wanted & set(numbits_to_nums(numbers))
        ]
        return set().union(*(self._tests_of(id) for id in found))

    def tests_of_file(self, path: str) -> set[str]:
        """Returns the tests that reach any line of a file."""
        query = "SELECT lines.id FROM lines JOIN file ON file.id = file WHERE path = ?"
        return set().union(*(self._tests_of(id) for (id,) in self._db.execute(query, [path])))

    def tests_that_read(self, path: str) -> set[str]:
        """Returns the tests that open a file, for example a cassette."""
        query = "SELECT name FROM read JOIN test ON test.id = test WHERE path = ?"
        return {name for (name,) in self._db.execute(query, [path])}

    def _tests_of(self, lines: int) -> set[str]:
        query = "SELECT name FROM reached JOIN test ON test.id = test WHERE lines = ?"
        return {name for (name,) in self._db.execute(query, [lines])}


def then(source: str, now: str, lines: Iterable[int]) -> set[int]:
    """Returns the lines of `source` that stood where these lines of `now` stand. A new line stands between two."""
    wanted, found = set(lines), set()
    matcher = SequenceMatcher(a=source.splitlines(), b=now.splitlines(), autojunk=False)
    for _, start, end, new_start, new_end in matcher.get_opcodes():
        touched = {line - 1 for line in wanted if new_start < line <= new_end}
        if end - start == new_end - new_start:
            found |= {start + line - new_start + 1 for line in touched}
        elif touched:
            found |= set(range(start + 1, end + 1)) or {start, start + 1}
    return found


# The making ------------------------------------------------------------------------------------------------


def make(folder: Path, path: Path, arguments: Iterable[str]) -> int:
    """Runs pytest with coverage, writes the map, and returns the exit code of pytest."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "site").mkdir(parents=True)
    (folder / "site" / "sitecustomize.py").write_text(
        "import coverage\n\ncoverage.process_startup()\n", "utf-8"
    )
    sources = "\n".join(f"    {ROOT / package}" for package in PACKAGES)
    (folder / "coveragerc").write_text(RUN.format(sources=sources, folder=folder), "utf-8")
    environment = {
        "REACH_FOLDER": str(folder),
        "ALL_TESTS": "1",
        "COVERAGE_PROCESS_START": str(folder / "coveragerc"),
        "PYTHONPATH": os.pathsep.join([str(folder / "site"), str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-m", "pytest", "-p", "devtools.test_selection.reach_recorder", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False)
    write(path, folder)
    return done.returncode


def write(path: Path, folder: Path) -> None:
    """Writes the map from what coverage and the recorder left in a folder, and deletes that."""
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with closing(sqlite3.connect(fresh)) as db:
        db.executescript(SCHEMA)
        db.executemany("INSERT INTO file (path, source) VALUES (?, ?)", sources())
        seconds, files = notes(folder)
        db.executemany("INSERT INTO test (name, seconds) VALUES (?, ?)", seconds.items())
        numbers = {name: id for id, name in db.execute("SELECT id, name FROM test")}
        db.executemany(
            "INSERT INTO read VALUES (?, ?)",
            ((file, numbers[test]) for test, names in files.items() for file in names),
        )
        for data in sorted(folder.glob("coverage.*")):
            add(db, data, numbers)
        db.commit()
    fresh.replace(path)
    shutil.rmtree(folder)


def sources() -> Iterator[tuple[str, str]]:
    """Yields each Python file of the packages and of the tests, by its path from the root."""
    for folder in (*PACKAGES, *TESTS):
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), file.read_text("utf-8")


def notes(folder: Path) -> tuple[dict[str, float], dict[str, list[str]]]:
    """Returns the seconds and the files of each test, from the recorders of all workers."""
    seconds: dict[str, float] = {}
    files: dict[str, list[str]] = {}
    for file in folder.glob("notes-*.json"):
        found = json.loads(file.read_text("utf-8"))
        seconds |= found["seconds"]
        files |= found["files"]
    return seconds, files


def add(db: sqlite3.Connection, data: Path, tests: Mapping[str, int]) -> None:
    """Adds what one process reached. Lines that a test shares with another one in one file are stored once."""
    with closing(sqlite3.connect(data)) as measured:
        rows = measured.execute(
            "SELECT path, context, numbits FROM line_bits JOIN file ON file.id = file_id JOIN context ON context.id = context_id"
        ).fetchall()
    by_file: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    for path, context, numbers in rows:
        if context in tests:
            by_file[Path(path).relative_to(ROOT).as_posix()].append((tests[context], numbers))
    for path, found in by_file.items():
        (file,) = db.execute("SELECT id FROM file WHERE path = ?", [path]).fetchone() or (None,)
        for test, numbers in found if file else ():
            db.execute("INSERT OR IGNORE INTO lines (file, numbers) VALUES (?, ?)", [file, numbers])
            (lines,) = db.execute(
                "SELECT id FROM lines WHERE file = ? AND numbers = ?", [file, numbers]
            ).fetchone()
            db.execute("INSERT OR IGNORE INTO reached VALUES (?, ?)", [lines, test])


def main(arguments: list[str]) -> int:
    """Makes the map. Arguments go to pytest."""
    code = make(ROOT / "build" / "reach", ROOT / MAP, ["-q", *arguments])
    reach = Reach()
    print(f"{MAP} has {len(reach.seconds):,} tests and {len(reach.sources()):,} files.")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
