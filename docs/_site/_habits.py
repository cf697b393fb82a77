"""The page of the habits of pytest and of its plugins, from the tables that `nox -s habits` runs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

TABLES = Path(__file__).parents[2] / "harness" / "tests" / "habits"
TITLES = {
    "pytest_itself": "pytest itself",
    "vcrpy_users": "pytest itself, as those who used another recorder know it",
    "order_and_repetition": "Plugins that choose, order, repeat or spread tests",
    "other_plugins": "Plugins that run, replace, measure or report",
}

INTRODUCTION = """
---
hide: [toc]
---
# Habits of pytest and its plugins

{count} habits of pytest and of {plugins} plugins work beside the harness's plugin. `./nox -s habits` runs each of them in a
small project of its own, in processes of its own: it records from a real HTTP server, then it replays while that server
refuses and counts every connection.

Of each row must hold: the outcomes are these; nothing reached the server in a replay; no cassette changed; no cassette is
reported as unused; and the number of requests and cassettes is the one in the table. The other plugin is loaded before
the harness when it records, and after it when it replays.

The same session runs 34 more habits of vcrpy's users with vcrpy and with the harness's engine for it. In 32 of them, outcomes, requests and cassettes
are the same. In two, vcrpy sends requests of threads to the server, or writes objects of Python.

Not in the table: pytest-cases 3.10 and pytest-forked 1.7 do not run with pytest 9.2 themselves, and pytest-playwright sends its
requests from a browser, which no recorder of Python sees.
"""


def page() -> str:
    """Returns the page."""
    tables = {title: _rows(name) for name, title in TITLES.items()}
    rows = [row for table in tables.values() for row in table]
    plugins = {row["plugin"] for row in rows} - {"pytest"}
    parts = [INTRODUCTION.strip().format(count=len(rows), plugins=len(plugins))]
    for title, table in tables.items():
        lines = "\n".join(map(_line, table))
        parts += [
            f"## {title}",
            f"| plugin | habit | requests, cassettes | recorded | replayed |\n|---|---|---|---|---|\n{lines}",
        ]
    return "\n\n".join(parts) + "\n"


def _rows(name: str) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = tomllib.loads((TABLES / f"{name}.toml").read_text("utf-8"))["habit"]
    return rows


def _line(row: Mapping[str, Any]) -> str:
    recorded = "<br>".join(_runs(row["record"], row.get("options", "")))
    replayed = "<br>".join(_runs(row.get("replay", _outcome(row["record"])), ""))
    counts = f"{row['requests']}, {row['saved']}"
    return f"| {row['plugin']} | {row['habit']} | {counts} | {recorded} | {replayed} |"


def _outcome(step: str | Mapping[str, Any]) -> str:
    return step if isinstance(step, str) else str(step["outcome"])


def _runs(steps: Any, always: str) -> Iterator[str]:
    """Yields the runs of a row: the options and the variables, and the outcome."""
    for step in steps if isinstance(steps, list) else [steps]:
        more = {} if isinstance(step, str) else step
        variables = [f"{name}={value}" for name, value in more.get("env", {}).items()]
        words = " ".join([*variables, *filter(None, [always, more.get("with", "")])]).replace("|", "\\|")
        outcome = _outcome(step) or "no test runs, or none is printed"
        yield f"`{words}` {outcome}" if words else outcome
