"""A report as SARIF, which points at the adapter's file and line. The file must exist below the current folder."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...contract.rule import page_of
from ..results import FINE, Play, Report, Row

# --- The source file of an adapter -----------------------------------------------------------------------


def source_of(asked: str) -> str:
    """Returns the relative path of the `--adapter` or `--command`, or `""` if there is none."""
    here = Path.cwd().resolve()
    for path in _files(asked):
        if path.is_file() and path.resolve().is_relative_to(here):
            return path.resolve().relative_to(here).as_posix()
    return ""


def _files(asked: str) -> Iterator[Path]:
    if asked.startswith("command:"):
        yield from map(Path, shlex.split(asked.removeprefix("command:")))
        return
    module, _, attribute = asked.partition(":")
    try:
        found = find_spec(module) if attribute else None
    except (ImportError, ValueError):
        return
    if found and found.origin:
        yield Path(found.origin)


#: Where a crash says that the adapter was: the end of a file's path, and the line.
_AT = re.compile(r"^  the adapter at (.+?):(\d+): ", re.MULTILINE)


def crashed_at(message: str) -> tuple[str, int]:
    """Returns the relative path and the line of the adapter that a crash names, or `("", 1)`."""
    found = _AT.search(message)
    if found is None:
        return "", 1
    here = Path.cwd().resolve()
    for folder in (here, here.parent):
        path = (folder / found[1]).resolve()
        if path.is_file() and path.is_relative_to(here):
            return path.relative_to(here).as_posix(), int(found[2])
    return "", 1


def line_of(file: str, asked: str) -> int:
    """Returns the line where the file defines what `--adapter` names, or 1."""
    name = asked.partition(":")[2].partition(".")[0]
    try:
        tree = ast.parse(Path(file).read_text("utf-8")) if file and name else None
    except (OSError, ValueError, SyntaxError):
        return 1
    return next((each.lineno for each in tree.body if _defines(each, name)), 1) if tree else 1


def _defines(each: ast.stmt, name: str) -> bool:
    if isinstance(each, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == name for target in each.targets)
    return getattr(each, "name", "") == name


# --- SARIF -----------------------------------------------------------------------------------------------


_LEVELS = {"warn": "warning"}  # the others are errors
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(report: Report, *, cassettes: str = "cassettes") -> str:
    """Returns the document; `cassettes` is the folder of the recordings, relative to the repository.

    Expected failures are suppressed results. Harness errors are notifications of the tool.
    """
    told = [row for row in report.rows if row.verdict not in {*FINE, "harness-error"}]
    sources = {adapter: _source(asked) for adapter, asked in report.named.items()}
    played = {p.place: p for p in report.plays}
    full_ids = {(text["wire"], text["provider"], text["id"]): _full_id(text) for text in report.rules}
    ids = {row.id: full_ids.get((row.wire, row.provider, row.rule), row.rule) for row in told}
    rules = _rules(report.rules, set(ids.values()))
    driver = {"name": report.tool["name"], "version": report.tool["version"], "rules": rules}
    results = [
        _result(row, ids[row.id], *_file(row, played.get(row.place), cassettes, sources)) for row in told
    ]
    errors = [
        {"level": "error", "message": {"text": f"{row.id}: {row.message}"}} for row in report.harness_errors
    ]
    return sarif_document(driver, results, errors, requirements=report.requirements) + "\n"


def sarif_document(
    driver: Mapping[str, Any],
    results: Sequence[Mapping[str, Any]],
    errors: Sequence[Mapping[str, Any]],
    *,
    requirements: str,
) -> str:
    """Returns a document of one run.

    Args:
        driver: The tool.
        results: Its findings.
        errors: Errors of the run. They become notifications.
        requirements: The requirement set, such as `2026-11`.
    """
    ended = {"executionSuccessful": not errors, "toolExecutionNotifications": errors}
    run = {
        "tool": {"driver": driver},
        "invocations": [ended],
        "results": results,
        "properties": {"requirements": requirements},
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False)


def _rules(texts: Iterable[Mapping[str, Any]], used: set[str]) -> list[dict[str, Any]]:
    """Returns a descriptor for each full id that is used."""
    by_id = {_full_id(text): text for text in texts}
    return [
        {
            "id": id,
            "shortDescription": {"text": text["sentence"]},
            "fullDescription": {"text": text["sentence"]},
            "help": {"text": text["explain"] or text["sentence"]},
            "helpUri": page_of(id),
            "properties": {
                "level": text["level"],
                "kind": text["kind"],
                "tags": ["conformance", text["level"]],
            },
        }
        for id, text in sorted(by_id.items())
        if id in used
    ]


def _full_id(text: Mapping[str, Any]) -> str:
    """Returns the id that only this sentence has. Older reports do not name it."""
    return str(text.get("full_id") or f"{text['wire']}/{text['id']}")


def _source(asked: str) -> tuple[str, int]:
    file = source_of(asked)
    return file, line_of(file, asked)


def _file(
    row: Row, play: Play | None, folder: str, sources: Mapping[str, tuple[str, int]]
) -> tuple[str, int]:
    """Returns the file and the line: those of a crash, else the recording, else where the adapter is defined. The file is empty if none
    of them exists here.
    """
    file, line = crashed_at(row.message)
    if file:
        return file, line
    return (f"{folder}/{play.cassette}", 1) if play and play.cassette else sources.get(row.adapter, ("", 1))


def _result(row: Row, full_id: str, file: str, line: int) -> dict[str, Any]:
    answer = f"\nThe provider would answer ({row.status}): {row.provider_error}" if row.provider_error else ""
    physical = {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line}}}
    result: dict[str, Any] = {
        "ruleId": full_id,
        "level": _LEVELS.get(row.verdict, "error"),
        "message": {"text": f"{row.message or row.verdict} (at {row.pointer or 'the top'}){answer}"},
        "locations": [{**(physical if file else {}), "logicalLocations": [{"fullyQualifiedName": row.id}]}],
        "partialFingerprints": {"conformance/v1": f"{row.place} {row.fingerprint or row.rule}"},
    }
    if row.verdict == "expected-fail":
        result["suppressions"] = [{"kind": "external", "justification": f"{row.reason} ({row.issue})"}]
    return result
