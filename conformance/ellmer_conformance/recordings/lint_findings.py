"""Groups what the linter found: one group for each cause, with its requests, its recordings and the tests that made them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .lint import Complaint, FileReport, Outcome, shape

_MOST = 500  # groups, so that the memory has a limit
_PLACES = 3  # of a group, which are named
_WORST: tuple[Outcome, ...] = ("violation", "warning", "expected", "agreed")


@dataclass
class Place:
    """A place of a group. `test` is the test that made the recording, if it was looked for and found."""

    path: str
    where: str
    test: str = ""


@dataclass
class Group:
    """Violations with one cause: one rule, broken at one kind of place for one reason.

    `also` are rules that are broken at the same places, and would be kept if this one were.
    """

    first: Complaint
    also: dict[str, None] = field(default_factory=dict)
    requests: int = 0
    recordings: int = 0
    places: list[Place] = field(default_factory=list)
    last: tuple[str, str] = ("", "")

    def add(self, path: str, complaint: Complaint) -> None:
        """Adds a violation."""
        seen = (path, complaint.place)
        if path != self.last[0]:
            self.recordings += 1
            if len(self.places) < _PLACES:
                self.places.append(Place(path, complaint.place))
        self.requests += seen != self.last
        self.last = seen
        if complaint.fix and not self.first.fix:
            self.first = complaint

    @property
    def advice(self) -> str:
        """What repairs it: a change that the rules were asked about, and what the rule says."""
        found = ", then ".join(map(_told, self.first.fix))
        tried = f"{found}; the rules are kept then." if found else ""
        return " ".join(text[:1].upper() + text[1:] for text in (tried, self.first.advice) if text)


@dataclass
class Findings:
    """The groups of all files. `others` counts the violations of further causes after the first 500."""

    others: int = 0
    _groups: dict[tuple[str, ...], Group] = field(default_factory=dict)

    def add(self, file: FileReport) -> None:
        """Adds the violations of a file. A second rule that is broken at a place has the cause of the first one."""
        at: dict[tuple[str, str], Group] = {}
        for each in file.complaints:
            place = (each.place, each.pointer)
            cause = at.get(place)
            if cause and cause.first.rule != each.rule and _rank_of(cause.first) <= _rank_of(each):
                cause.also[each.full_id] = None
            elif group := self._group(each):
                group.add(file.path, each)
                at[place] = group

    def _group(self, each: Complaint) -> Group | None:
        key = (each.outcome, each.full_id, shape(each.pointer), _gist(each.message))
        if key not in self._groups and len(self._groups) >= _MOST:
            self.others += 1
            return None
        return self._groups.setdefault(key, Group(each))

    def of(self, *outcomes: Outcome) -> list[Group]:
        """Returns the groups with these outcomes: violations first, and of those the most frequent."""
        found = (group for group in self._groups.values() if group.first.outcome in outcomes)
        return sorted(found, key=_rank)


def _rank(group: Group) -> tuple[int, int, str, str, str]:
    c = group.first
    return _rank_of(c), -group.requests, c.full_id, c.pointer, c.message


def _rank_of(complaint: Complaint) -> int:
    return _WORST.index(complaint.outcome)


def _gist(message: str) -> str:
    """Returns a message without numbers and ids, which differ from request to request."""
    return re.sub(r"\d+|[\w-]*\d[\w-]{5,}", "#", message)


def _told(change: dict[str, str]) -> str:
    if change["op"] == "remove":
        return f"leave out {change['path']}"
    source, target = change["from"], change["path"]
    same = source.rpartition("/")[0] == target.rpartition("/")[0]
    if same and not target.rpartition("/")[2].isdigit():
        return f"rename {source} to {target.rpartition('/')[2]}"
    return f"move {source} to {target}"
