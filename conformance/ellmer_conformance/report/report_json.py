"""Completes a report with its score, and writes and reads `report.json`.

The score is the number of applicable MUST rules that are kept, against a frozen requirement set. It is never one percentage.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib.metadata import version as installed
from importlib.resources import files
from pathlib import Path
from typing import Any

from ellmer_core.base.budget import REPORT, has_more_values

from ..contract import rules
from ..contract.rule import Rule
from ..contract.rules import behaviour
from ..files import file_bytes, writing
from .causes import headline
from .requirements import LATEST, Requirements, requirements
from .results import FINE, RARE, VERSION, Report, Row

# --- The score -------------------------------------------------------------------------------------------


_COUNTS = (
    "must_applicable",
    "must_passed",
    "should_applicable",
    "should_passed",
    "preview_applicable",
    "preview_passed",
)


#: Verdicts of a rule that is kept. A difference is no failure, but the rule is broken.
_KEPT = {*FINE, "unexpected-pass"} - {"differs-as-declared"}


def score(rows: Iterable[Row], required: Requirements) -> dict[str, dict[str, int]]:
    """Returns for each `adapter wire` the number of applicable rules, and of rules that every case and mode keeps.

    A rule counts as a preview if it is newer than the set, or if the provider is not known to enforce it. Harness
    errors do not count; an expected failure counts as a failure.
    """
    passes: dict[tuple[str, str, str], dict[str, bool]] = defaultdict(dict)
    for adapter, wire, provider, rule, preview, verdict in dict.fromkeys(
        (row.adapter, row.wire, row.provider, row.rule, row.preview, row.verdict) for row in rows
    ):
        if verdict not in {"not-applicable", "harness-error"}:
            level = None if preview else required.level(wire, provider, rule)
            kept = passes[f"{adapter} {wire}", level or "preview", wire]
            kept[rule] = kept.get(rule, True) and verdict in _KEPT
    counts: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_COUNTS, 0))
    for (name, level, _), kept in passes.items():
        counts[name][f"{level.lower()}_applicable"] += len(kept)
        counts[name][f"{level.lower()}_passed"] += sum(kept.values())
    return dict(counts)


def sentence(counts: Mapping[str, int]) -> str:
    """Returns `MUST 52/53 · SHOULD 9/9`, with previews if there are any."""
    words = [f"MUST {fraction(counts, 'must')}", f"SHOULD {fraction(counts, 'should')}"]
    return " · ".join(
        [*words, *([f"preview {fraction(counts, 'preview')}"] if counts["preview_applicable"] else [])]
    )


def dated(report: Report, counts: Mapping[str, int]) -> str:
    """Returns `MUST 52/53 · SHOULD 9/9 · 2026-11`: the counts, and the requirement set of the report.

    Args:
        report: The report.
        counts: The counts of one adapter and wire format, from the report's score.
    """
    return f"{sentence(counts)} · {report.requirements}" if report.requirements else sentence(counts)


def fraction(counts: Mapping[str, int], level: str) -> str:
    """Returns `52/53`."""
    return f"{counts[f'{level}_passed']}/{counts[f'{level}_applicable']}"


# --- The file --------------------------------------------------------------------------------------------


_PLACE = 5  # fields of a row that say where it was played
_NEW_LINE, _INDENTED = "\n", "\n "
_line = json.JSONEncoder(ensure_ascii=False).encode


class UnreadableReport(ValueError):
    """A file is not a report, or it is one of a later version. The message says what to do."""


def rescored(report: Report, version: str = LATEST) -> Report:
    """Returns the report with the score of all its rules, against a published requirement set. Raises LookupError."""
    required = requirements(version)
    report.requirements, report.score = required.id, score(report.rows, required)
    report.tool = {"name": "ellmer-conformance", "version": installed("ellmer-core")}
    return report


def finished(report: Report, version: str = LATEST) -> Report:
    """Returns the report with the values that depend on all of it: the score, and the texts of the judged rules."""
    rescored(report, version)
    asked = dict.fromkeys((row.wire, row.provider, row.rule) for row in report.rows)
    report.rules = [found for key in asked if (found := _text(*key))]
    return report


def _text(wire: str, provider: str, id: str) -> dict[str, Any] | None:
    found: Rule | None = rules.book(wire, provider).rules.get(id) or behaviour.book.rules.get(id)
    return rule_text(found, wire, provider) if found else None


def rule_text(rule: Rule, wire: str, provider: str) -> dict[str, Any]:
    """Returns the text of a rule in a report."""
    return {
        "id": rule.id,
        "full_id": rule.full_id,
        "wire": wire,
        "provider": provider,
        "level": rule.level.value,
        "kind": rule.kind.value,
        "preview": rule.preview,
        "sentence": rule.sentence,
        "explain": rule.explain,
        "source": list(rule.source),
    }


def write(report: Report, path: Path) -> None:
    """Writes `report.json` atomically, in pieces, because all of it is 50 MB."""
    with writing(path) as file:
        file.writelines(_pieces(report))


def read(path: Path) -> Report:
    """Returns the report in a file. Raises UnreadableReport."""
    try:
        document = _document(path)
    except OSError as error:
        raise UnreadableReport(
            f"{path} cannot be read: {error.strerror}. `conformance run --report FOLDER` writes FOLDER/report.json"
        ) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableReport(f"{path} is not JSON: {error}") from error
    if not isinstance(document, dict) or "version" not in document or "results" not in document:
        raise UnreadableReport(f"{path} is not a report of the conformance suite")
    if document["version"] != VERSION:
        raise UnreadableReport(
            f"{path} is a report of version {document['version']}, but this release reads version {VERSION}. Update, or run the suite again"
        )
    try:
        return Report.from_json(document)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise UnreadableReport(
            f"{path} is damaged: {type(error).__name__} {error}. Run the suite again"
        ) from error


def _document(path: Path) -> Any:
    """Returns the JSON of a file. Raises `ValueError` if it has more values than a report may have."""
    data = file_bytes(path, REPORT.received)
    if has_more_values(data, REPORT.values):
        raise ValueError(f"it has more than {REPORT.values:,} values")
    return json.loads(data)


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of `report.json`."""
    text = files("ellmer_conformance.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _pieces(report: Report) -> Iterator[str]:
    """Yields JSON with each member, each run, row and rule on its own line: readable, and half the size."""
    lines: dict[str, Iterable[str]] = {
        "plays": map(_line, map(vars, report.plays)),
        "results": _results(report.rows),
        "rules": map(_line, report.rules),
    }
    before = "{\n"
    for name, value in report.as_json(rows=False, headline=headline(report)).items():
        yield f"{before} {json.dumps(name)}: "
        yield from _member(value, lines.get(name, ()))
        before = ",\n"
    yield "\n}\n"


def _member(value: object, lines: Iterable[str]) -> Iterator[str]:
    """Yields the JSON of a member: its lines, or its value if there are none."""
    before = "[\n  "
    for line in lines:
        yield before + line
        before = ",\n  "
    written = json.dumps(value, indent=1, ensure_ascii=False).replace(_NEW_LINE, _INDENTED)
    yield written if before.startswith("[") else "\n ]"


def _results(rows: Iterable[Row]) -> Iterator[str]:
    """Yields each row as JSON. Of its two halves, where it ran and what was found, there are few, and each is written once."""
    names = tuple(f.name for f in fields(Row))

    @cache
    def half(start: int, values: tuple[object, ...]) -> str:
        named = zip(names[start:], values, strict=False)
        return _line({name: value for name, value in named if value or name not in RARE})[1:-1]

    for row in rows:
        values = tuple(vars(row).values())
        yield f"{{{half(0, values[:_PLACE])}, {half(_PLACE, values[_PLACE:])}}}"
