"""Counts what a folder of recordings contains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from ...contract import readers
from ..recorded_requests import identity
from ..recording_files import Recording, Unreadable, find, read

__all__ = ["Survey", "survey"]


@dataclass
class Survey:
    """The counts. `files` are those with HTTP exchanges, and `chats` are the identities of their chats."""

    files: list[Path] = field(default_factory=list)
    interactions: int = 0
    chats: set[str] = field(default_factory=set)
    wires: Counter[str] = field(default_factory=Counter)
    days: set[date] = field(default_factory=set)


def survey(paths: Iterable[Path]) -> Survey:
    """Counts the recordings under the paths. Unreadable files are not recordings."""
    found = Survey()
    for path in find(paths):
        exchanges = _exchanges(path)
        found.interactions += len(exchanges)
        if exchanges:
            found.files.append(path)
        for each in exchanges:
            _count(found, each)
    return found


def _exchanges(path: Path) -> list[Recording]:
    try:
        return [each for each in read(path) or () if each.url and each.status]
    except Unreadable:
        return []


def _count(found: Survey, each: Recording) -> None:
    detected = readers.detect(each.url, None, each.headers)
    if detected is None or not each.body:
        return
    found.wires[detected[0]] += 1
    found.chats.add(identity(each))
    if each.when:
        found.days.add(each.when)
