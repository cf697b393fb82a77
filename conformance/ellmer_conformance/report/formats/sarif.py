"""The source file of an adapter, for reports that point at files. It must exist below the current folder."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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


# --- SARIF -----------------------------------------------------------------------------------------------


_LEVELS = {"warn": "warning"}  # the others are errors
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(report: Report, *, cassettes: str = "cassettes") -> str:
    """Returns the document; `cassettes` is the folder of the recordings, relative to the repository.

    Expected failures are suppressed results. Harness errors are notifications of the tool.
    """
    told = [row for row in report.rows if row.verdict not in {*FINE, "harness-error"}]
    sources = {adapter: source_of(asked) for adapter, asked in report.named.items()}
    played = {p.place: p for p in report.plays}
    full_ids = {(text["wire"], text["provider"], text["id"]): _full_id(text) for text in report.rules}
    ids = {row.id: full_ids.get((row.wire, row.provider, row.rule), row.rule) for row in told}
    rules = _rules(report.rules, set(ids.values()))
    driver = {"name": report.tool["name"], "version": report.tool["version"], "rules": rules}
    results = [
        _result(row, ids[row.id], _file(row, played.get(row.place), cassettes, sources)) for row in told
    ]
    errors = [
        {"level": "error", "message": {"text": f"{row.id}: {row.message}"}} for row in report.harness_errors
    ]
    return sarif_document(driver, results, errors) + "\n"


def sarif_document(
    driver: Mapping[str, Any], results: Sequence[Mapping[str, Any]], errors: Sequence[Mapping[str, Any]]
) -> str:
    """Returns a document of one run: its findings, and errors of the run as notifications."""
    ended = {"executionSuccessful": not errors, "toolExecutionNotifications": errors}
    run = {"tool": {"driver": driver}, "invocations": [ended], "results": results}
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


def _file(row: Row, play: Play | None, folder: str, sources: Mapping[str, str]) -> str:
    """Returns the recording, or for a run without one the adapter's file. It is empty if neither exists here."""
    if play and play.cassette:
        return f"{folder}/{play.cassette}"
    return sources.get(row.adapter, "")


def _result(row: Row, full_id: str, file: str) -> dict[str, Any]:
    answer = f"\nThe provider would answer ({row.status}): {row.provider_error}" if row.provider_error else ""
    physical = {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": 1}}}
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
