"""Reads a baseline's file and reports all its errors."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from .entries import NAMES, Baseline, Entry

__all__ = ["FILE", "BaselineError", "load"]

FILE = "conformance-baseline.toml"
_KEYS = {*NAMES, "reason", "issue", "until", "when"}
_FLAKY_PLAYS = 20  # so often it must have been played before it may be called flaky


class BaselineError(ValueError):
    """The file has fields that are not allowed, or lacks required ones; the message lists every fault."""


def load(path: Path, *, today: date | None = None) -> Baseline:
    """Returns the baseline in a file. Raises BaselineError with all its errors."""
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BaselineError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BaselineError(f"{path} is not TOML: {error}") from error
    faults = [
        f"unknown key {key!r} in the baseline; use [[expect]] and [[flaky]]"
        for key in value.keys() - {"expect", "flaky"}
    ]
    entries: list[Entry] = []
    for kind in ("expect", "flaky"):
        for number, each in enumerate(value.get(kind, []), 1):
            wrong = list(_faults(each, flaky=kind == "flaky"))
            faults += [f"{kind} entry {number} ({each.get('rule', 'no rule')}): {fault}" for fault in wrong]
            if not wrong:
                entries.append(_entry(number, each, flaky=kind == "flaky"))
    if faults:
        raise BaselineError("\n".join(f"{path}: {fault}" for fault in faults))
    return Baseline(entries, today or date.today())  # noqa: DTZ011 - a day of the reader's calendar


def _faults(entry: Mapping[str, Any], *, flaky: bool) -> Iterator[str]:
    allowed = _KEYS | ({"seen"} if flaky else {"fingerprint"})
    for key in entry.keys() - allowed:
        yield f"there is no {key!r}: there are {', '.join(sorted(allowed))}"
    for key in ("rule", "reason", "issue", *(["seen"] if flaky else [])):
        if not entry.get(key):
            yield f"{key} is missing"
    for key in (*NAMES, "fingerprint"):
        if not _is_text(entry.get(key, "*")):
            yield f"{key} must be a string, or a list of strings"
    if not isinstance(entry.get("until", date.max), date):
        yield "until must be a date without quotes, such as 2027-03-01"
    yield from _condition(entry.get("when", ""))
    if flaky and entry.get("seen"):
        yield from _frequency(str(entry["seen"]))


def _condition(when: object) -> Iterator[str]:
    try:
        if when:
            Requirement(str(when))
    except InvalidRequirement:
        yield f"when must be a package and its versions ('openai < 4'), not {when!r}"


def _frequency(seen: str) -> Iterator[str]:
    failed, _, plays = seen.partition("/")
    if not failed.isdigit() or not plays.isdigit() or int(plays) < _FLAKY_PLAYS or int(failed) > int(plays):
        yield f"seen must give the failures in at least {_FLAKY_PLAYS} runs, such as '3/40', not {seen!r}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(v, str) for v in value))


def _entry(number: int, value: Mapping[str, Any], *, flaky: bool) -> Entry:
    return Entry(
        number,
        {name: _patterns(value.get(name, "*")) for name in NAMES},
        value["reason"],
        value["issue"],
        value.get("until"),
        value.get("when", ""),
        _patterns(value.get("fingerprint", [])),
        flaky,
    )


def _patterns(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
