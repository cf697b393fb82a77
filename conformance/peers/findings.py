# ruff: noqa: INP001 - beside the script that imports it
"""The causes of the libraries' failures, with the lines of code that `findings.toml` has for them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence

from failures import HERE, Json
from prose import linked, table

#: What `state` may say of a cause.
STATES = ("defect", "below", "arguable")


def findings() -> list[Json]:
    """Returns the entries of the file."""
    entries: list[Json] = tomllib.loads((HERE / "findings.toml").read_text("utf-8"))["finding"]
    return entries


def read(result: Json, entries: Sequence[Json]) -> list[tuple[Json, Json | None]]:
    """Returns the causes of a result, each with its entry. An entry is about one cause."""
    left = [entry for entry in entries if entry["peer"] == result["peer"]]
    found: list[tuple[Json, Json | None]] = []
    for cause in result.get("causes", ()):
        entry = next((each for each in left if is_about(each, cause)), None)
        if entry is not None:
            left.remove(entry)
        found.append((cause, entry))
    return found


def is_about(entry: Json, cause: Json) -> bool:
    """Tells whether an entry's rule, wire format and words are those of a cause."""
    wire, words = entry.get("wire", ""), entry.get("message", "")
    here = not wire or wire in cause["wires"]
    return here and entry["rule"] == cause["rule"] and any(words in each for each in cause["messages"])


def section(results: Mapping[str, Json]) -> str:
    """Returns the part of the page about causes: the libraries whose causes were all read, with a line of code for each."""
    entries = findings()
    parts = ["## Causes, and their lines of code", INTRO.strip()]
    for result in results.values():
        rows = [row(cause, entry) for cause, entry in read(result, entries) if entry]
        if rows:
            head = f"### {result['peer']}: {len(result['causes'])} causes"
            parts += [head, table(["rule", "wire formats", "runs", "what", "line", "state"], rows)]
    return "\n\n".join(parts)


INTRO = """\
A cause is the first wrong thing in some runs. What follows from it is not counted. For these libraries, each cause was read in the
source code of the version below: *defect* is a line of the library, *below* is a line of a package that it sends through, and
*arguable* is something that the library does on purpose.
"""


def row(cause: Json, entry: Json) -> list[str]:
    """Returns the row of a cause."""
    rule = linked(cause["rule"], cause["wires"][0])
    where = ", ".join(cause["wires"])
    return [rule, where, str(cause["runs"]), entry["what"], f"`{entry['line']}`", entry["state"]]
