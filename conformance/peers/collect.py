# ruff: noqa: INP001 - a script, not a package
"""Makes `results/<peer>.json` from a report. A failing cell is reproduced by its script, or left out.

    python conformance/peers/collect.py chatlas build/peers/chatlas
    python conformance/peers/collect.py chatlas --not-installed "no version for this Python"

It runs in the peer's own environment, because the scripts need the library and this package.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ellmer_conformance.report import Report, Row, read
from ellmer_conformance.report.causes import causes
from ellmer_conformance.report.repro_scripts import as_python
from ellmer_conformance.report.results import worst
from ellmer_conformance.runner.selection import find_adapter
from ellmer_conformance.scenarios.cases import scripts
from ellmer_conformance.server import StrictServer

RESULTS = Path(__file__).parent / "results"
FAILS = {"fail", "expected-fail", "not-testable"}
PACKAGES = (
    *(
        "agno",
        "any-llm-sdk",
        "anthropic",
        "chatlas",
        "google-genai",
        "httpx",
        "httpx2",
        "instructor",
        "langchain",
    ),
    *("langchain-anthropic", "langchain-core", "langchain-google-genai", "langchain-openai", "litellm"),
    *("haystack-ai", "anthropic-haystack", "google-genai-haystack", "google-adk", "dspy", "semantic-kernel"),
    *(
        "llama-index-core",
        "llama-index-llms-anthropic",
        "llama-index-llms-google-genai",
        "llama-index-llms-openai",
    ),
    *("llm", "llm-anthropic", "openai", "openai-agents", "pydantic-ai-slim", "smolagents", "strands-agents"),
)
#: The lock files of libraries that are played as a command.
LOCKS = {
    "ai-sdk": Path("examples/driver-ai-sdk/package-lock.json"),
    "langchain-js": Path("examples/driver-langchain-js/package-lock.json"),
}
_LONGEST = 160  # characters of a string in an exchange
_SECONDS = 120  # for a script


def main(peer: str, *arguments: str) -> None:
    """Writes the result."""
    result: dict[str, Any] = {"peer": peer, "date": datetime.now(UTC).date().isoformat()}
    result |= {"python": platform.python_version(), "versions": versions(peer)}
    if arguments[0] == "--not-installed":
        result |= {"not_installed": arguments[1], "verdicts": {}, "cells": [], "not_reproduced": []}
    else:
        if peer not in LOCKS:
            find_adapter(peer), StrictServer(scripts())  # imported once, for all scripts
        result |= judged(read(Path(arguments[0]) / "report.json"))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{peer}.json").write_text(dumped(result), "utf-8", errors="backslashreplace")


def dumped(result: dict[str, Any]) -> str:
    """Returns JSON with a line for each member, and one for each cell. Paths begin in the repository."""
    lines = []
    for name, value in result.items():
        text = json.dumps(value, ensure_ascii=False)
        if name in {"cells", "causes"} and value:
            text = "[\n" + ",\n".join(json.dumps(cell, ensure_ascii=False) for cell in value) + "\n]"
        lines.append(f"{json.dumps(name)}: {text}")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    return text.replace(f"{Path.cwd().as_uri()}/", "").replace(f"{Path.cwd()}/", "")


def versions(peer: str) -> dict[str, str]:
    """Returns the versions of the relevant installed packages."""
    if peer in LOCKS:
        locked = json.loads(LOCKS[peer].read_text("utf-8"))["packages"]
        names = sorted(locked[""]["dependencies"])
        return {name: locked[f"node_modules/{name}"]["version"] for name in names}
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def judged(report: Report) -> dict[str, Any]:
    """Returns the verdicts of all rules, and the failing cells that their scripts reproduce."""
    rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in report.rows:
        rows[row.wire, row.rule].append(row)
    verdicts: dict[str, dict[str, str]] = defaultdict(dict)
    cells, lost = [], []
    refused = refusals(report.rows)
    for (wire, rule), each in rows.items():
        failing = [row for row in each if row.verdict in FAILS]
        kept = [replace(row, verdict="pass") if row.verdict == "unexpected-pass" else row for row in each]
        verdicts[wire][rule] = "fail" if failing else worst(kept)
        if failing and (row := reproduced(report, failing)):
            cells.append(cell(report, row, failing, refused))
        elif failing:
            verdicts[wire][rule] = "not-reproduced"
            lost += [row.id for row in failing]
    return {
        "score": report.score,
        "requirements": report.requirements,
        "verdicts": verdicts,
        "causes": grouped(replace(report, rows=[row for row in report.rows if row.id not in lost])),
        "cells": cells,
        "not_reproduced": lost,
    }


def grouped(report: Report) -> list[dict[str, Any]]:
    """Returns the causes of the failures, those that the baseline expects included. A stale entry of it is none."""
    rows = [replace(row, verdict="fail") if row.verdict == "expected-fail" else row for row in report.rows]
    return [
        {
            "rule": cause.rows[0].rule,
            "wires": sorted({row.wire for row in cause.rows}),
            "runs": len({row.place for row in cause.rows}),
            "messages": [f"{row.pointer}: {row.message[:300]}" for row in cause.symptoms],
        }
        for cause in causes(replace(report, rows=rows))
    ]


def refusals(rows: Iterable[Row]) -> dict[str, str]:
    """Returns the runs in which the API would have refused a request, with the first broken rule."""
    found: dict[str, str] = {}
    for row in rows:
        if row.verdict in FAILS and row.kind == "reject" and not row.preview:
            found.setdefault(row.place, row.rule)
    return found


def reproduced(report: Report, failing: Sequence[Row]) -> Row | None:
    """Returns the first row whose script reproduces the failure. At most three are run."""
    for row in failing[:3]:
        done = run(as_python(report, row, with_command=True))
        shown = any(line.startswith(f"{row.rule} ") for line in done.splitlines())
        print(f"{'shown again' if shown else 'NOT shown'}: {row.id}", flush=True)  # noqa: T201 - progress
        if shown:
            return row
    return None


def run(script: str) -> str:
    """Returns the output of a script. Each runs in a forked process, so that nothing is imported again."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(_SECONDS)
        os.dup2(writing, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            exec(compile(script, "repro.py", "exec"), {"__name__": "__main__"})  # noqa: S102 - the point of it
            sys.stdout.flush()
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as output:
        printed = output.read()
    os.waitpid(child, 0)
    return printed.decode("utf-8", "replace")


def cell(report: Report, row: Row, failing: Sequence[Row], refused: Mapping[str, str]) -> dict[str, Any]:
    """Returns one rule with one wire format: the failing cases and the evidence."""
    after = [refused[each.place] for each in failing if each.place in refused and each.kind != "reject"]
    follows = Counter(after).most_common(1)[0][0] if len(after) == len(failing) else ""
    return {
        "wire": row.wire,
        "provider": row.provider,
        "rule": row.rule,
        "level": row.level,
        "kind": row.kind,
        "plays": [f"{each.case}[{each.mode}]" for each in failing],
        "follows": follows,
        "shown": {"case": row.case, "mode": row.mode, "pointer": row.pointer, "message": row.message[:1000]},
        "provider_error": row.provider_error,
        "status": row.status,
        "excerpt": row.excerpt,
        "exchange": exchange(report.exchanges.get(row.exchange)),
        "script": as_python(report, row, with_command=True),
    }


def exchange(kept: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the exchange with long values shortened."""
    if kept is None:
        return {}
    short = {"method": kept["method"], "path": kept["url"].split("/", 6)[-1], "body": shortened(kept["body"])}
    if "status" in kept:
        short |= {"status": kept["status"], "answer": kept["answer"][:1500]}
    return short


def shortened(value: Any) -> Any:
    """Returns the JSON value with long strings shortened."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shortened(each) for each in value]
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:60]}… ({len(value)} characters)"
    return value


if __name__ == "__main__":
    main(*sys.argv[1:])
