"""Completes, writes and reads `report.json`."""

from __future__ import annotations

import json
from importlib.metadata import version as installed
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..contract import rules
from ..contract.rule import Rule
from ..contract.rules import behaviour
from .requirements import LATEST, requirements
from .results import VERSION, Report
from .score import score

__all__ = ["UnreadableReport", "finished", "read", "rescored", "rule_text", "schema", "write"]

_BY_LINE = ("plays", "results")  # one a line: readable, and half the size
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
    """Writes `report.json` atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_suffix(".tmp")
    staged.write_text(_dumped(report.as_json()), encoding="utf-8", errors="backslashreplace")
    staged.replace(path)


def read(path: Path) -> Report:
    """Returns the report in a file. Raises UnreadableReport."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableReport(
            f"{path} cannot be read: {error.strerror}. `conformance run --report FOLDER` writes FOLDER/report.json"
        ) from error
    except ValueError as error:
        raise UnreadableReport(f"{path} is not JSON: {error}") from error
    if not isinstance(document, dict) or "version" not in document or "results" not in document:
        raise UnreadableReport(f"{path} is not a report of the conformance suite")
    if document["version"] != VERSION:
        raise UnreadableReport(
            f"{path} is a report of version {document['version']}, but this release reads version {VERSION}. Update, or run the suite again"
        )
    try:
        return Report.from_json(document)
    except (KeyError, TypeError, AttributeError) as error:
        raise UnreadableReport(
            f"{path} is damaged: {type(error).__name__} {error}. Run the suite again"
        ) from error


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of `report.json`."""
    text = files(__package__).joinpath("report.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _dumped(document: dict[str, Any]) -> str:
    """Returns JSON with each member and each row on its own line."""
    members = []
    for name, value in document.items():
        if name in _BY_LINE and value:
            text = "[\n" + ",\n".join("  " + written for written in map(_line, value)) + "\n ]"
        else:
            text = json.dumps(value, indent=1, ensure_ascii=False).replace("\n", "\n ")
        members.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}\n"
