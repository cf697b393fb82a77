"""Finds the test that made a recording: by the names in the recording's path, or by a mention of the file in the tests."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from .recording_files import is_url, sources

_NAMES = re.compile(
    r"(test_.*|.*_test|.*_spec|.*\.(test|spec)|.*[Tt]ests?|test-.*|conftest)"
    r"\.(py|rb|go|rs|[cm]?[jt]sx?|java|kt|cs|R|r|php|exs?|swift|scala)"
)
_FOLDERS = {"tests", "test", "spec", "specs", "__tests__", "testing", "integration", "it"}
_CODE = re.compile(r".*\.(py|rb|go|rs|[cm]?[jt]sx?|java|kt|cs|R|r|php|exs?|swift|scala)")
_MOST_BYTES = 64 * 1024**2  # of all tests together
_LARGEST = 2 * 1024**2  # of one
#: How languages begin a test with a name.
_BEGINS = r"(?:def|func|fn|fun|void|class)\s+"
_PLAIN = re.compile(
    r"(\[.*\]|(\.(stream|async|sync|live|yaml|yml|json|har|jsonl|ndjson|httprr|rec|gz|request|response))+)$"
)


@dataclass
class IndexOfTests:
    """The tests of the repository that a recording is in. They are read when the first test is looked for."""

    _read: dict[Path, list[tuple[Path, str]]] = field(default_factory=dict)

    def of(self, recording: str) -> str:
        """Returns the test of a recording, as `tests/test_chat.py::test_weather` or `spec/chat_spec.rb:12`, `""` if none is
        found.
        """
        if is_url(recording):
            return ""
        path = Path(os.path.abspath(recording))  # noqa: PTH100 - links stay as they are
        top = _top(path.parent)
        if top is None:
            return ""
        if top not in self._read:
            self._read[top] = list(_tests(top))
        names = list(_names(path.relative_to(top)))
        near = sorted(self._read[top], key=lambda test: -_nearness(test[0], path))
        found = _defined(near, names) or _mentioned(near, path.relative_to(top))
        return _shown(found) if found else ""


Place = tuple[Path, str, int]


def _shown(found: Place) -> str:
    path, name, line = found
    where = Path(os.path.relpath(path)).as_posix()
    return f"{where}::{name}" if name and path.suffix == ".py" else f"{where}:{line}"


def _defined(tests: list[tuple[Path, str]], names: list[str]) -> Place | None:
    """Returns the test whose name is a part of the recording's path, the last part first. The test's file may be named, too."""
    for name in names:
        begins = re.compile(rf"^[ \t]*(?:async )?(?:pub )?{_BEGINS}{re.escape(name)}\b", re.MULTILINE)
        places = [
            (path, name, text.count("\n", 0, match.start()) + 1)
            for path, text in tests
            if name in text and (match := begins.search(text))
        ]
        ours = [place for place in places if place[0].stem in names]
        if ours or len(places) == 1 or (places and name.lower().startswith("test")):
            return (ours or places)[0]
    return None


def _mentioned(tests: list[tuple[Path, str]], recording: Path) -> Place | None:
    """Returns the place that has the recording's name in quotes, with as many folders as there are."""
    stem = recording.with_name(_PLAIN.sub("", recording.name))
    for parts in range(len(recording.parts), 0, -1):
        for name in (recording, stem):
            tail = "/".join(name.parts[-parts:])
            if parts == 1 and len(tail) < 5:
                continue
            quoted = re.compile(rf"[\"'`/]{re.escape(tail)}[\"'`]")
            for path, text in tests:
                if tail in text and (match := quoted.search(text)):
                    return path, "", text.count("\n", 0, match.start()) + 1
    return None


def _names(recording: Path) -> Iterator[str]:
    """Yields the names in a path that may be those of a test: `TestChat.test_weather[openai].yaml` has two."""
    for part in (_PLAIN.sub("", _PLAIN.sub("", recording.name)), *reversed(recording.parts[:-1])):
        for name in (part, *reversed(re.split(r"[.\[\-]", part))):
            if re.fullmatch(r"\w{4,}", name):
                yield name


def _nearness(test: Path, recording: Path) -> int:
    return len(os.path.commonpath([test, recording]))


@lru_cache(1024)
def _top(folder: Path) -> Path | None:
    """Returns the folder of the repository."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)


def _tests(top: Path) -> Iterator[tuple[Path, str]]:
    left = _MOST_BYTES
    for path in sources([top]):
        if isinstance(path, Path) and _is_test(path.relative_to(top)):
            try:
                size = path.stat().st_size
                if size > _LARGEST or size > left:
                    continue
                text = path.read_text("utf-8", "replace")
            except OSError:
                continue
            left -= size
            yield path, text


def _is_test(path: Path) -> bool:
    name = path.name
    return bool(_NAMES.fullmatch(name) or (_CODE.fullmatch(name) and _FOLDERS & {*path.parts[:-1]}))
