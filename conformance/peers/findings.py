# ruff: noqa: INP001 - beside the script that imports it
"""The causes of the libraries' failures, with the lines of code that `findings.toml` has for them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence

from failures import HERE, Json
from prose import linked, table

from ellmer_conformance.contract import rules

#: What `state` may say of a cause.
STATES = ("defect", "below", "arguable", "caller")


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


def overview(results: Mapping[str, Json]) -> str:
    """Returns the part of the results page about causes: their numbers, with links to the pages of the libraries."""
    entries = findings()
    lines = {name: by_line(read(result, entries)) for name, result in results.items()}
    rows = [
        [f"[{name}](peers/{name}.md#{ANCHOR})", *numbers(found)] for name, found in lines.items() if found
    ]
    parts = ["## Causes, and their lines of code", INTRO.strip(), table(["library", *STATES], rows)]
    return "\n\n".join([*parts, *unread(results, entries)])


def of_library(result: Json) -> list[str]:
    """Returns the part of a library's page about causes, with a line of code for each; nothing if they were not read."""
    lines = by_line(read(result, findings()))
    return (
        ["## Causes, and their lines of code", table(HEAD, [row(*each) for each in lines])] if lines else []
    )


def unread(results: Mapping[str, Json], entries: Sequence[Json]) -> list[str]:
    """Returns the sentence about the libraries whose causes nobody has read in the source code, with the headline's number."""
    known = {entry["peer"] for entry in entries}
    left = [f"{name} ({len(each['causes'])})" for name, each in results.items() if each.get("causes")]
    told = [each for each in left if each.partition(" (")[0] not in known]
    return [f"Not read yet, with the causes that the suite tells apart: {', '.join(told)}."] if told else []


HEAD = ("rule", "wire formats", "runs", "what, and where", "state")
#: Where a library's page has its causes.
ANCHOR = "causes-and-their-lines-of-code"


def numbers(lines: Sequence[tuple[list[Json], list[Json]]]) -> list[str]:
    """Returns the number of a library's causes in each state."""
    states = [entries[0]["state"] for entries, _ in lines]
    return [str(states.count(state)) for state in STATES]


def by_line(pairs: Sequence[tuple[Json, Json | None]]) -> list[tuple[list[Json], list[Json]]]:
    """Returns the entries about each line of code, and their causes."""
    found: dict[str, tuple[list[Json], list[Json]]] = {}
    for cause, entry in pairs:
        if entry is not None:
            entries, causes = found.setdefault(entry["line"], ([], []))
            entries.append(entry)
            causes.append(cause)
    return list(found.values())


INTRO = """\
A cause is the line of code that makes the first mistake of a run. Mistakes that follow from it are not counted. For these
libraries, each cause was read in the source code of the version below. The page of the library shows the lines, and links to
the report of a cause that others have reported.

- **defect**: a line of the library
- **below**: a line of a package that the library sends through
- **arguable**: something that the library does on purpose
- **caller**: a line of our bridge

The suite does not read the source code. In a run's headline, a line that shows itself in two ways counts twice.
"""


def row(entries: Sequence[Json], causes: Sequence[Json]) -> list[str]:
    """Returns the row of a line of code."""
    broken = ", ".join(linked(cause["rule"], _wire_of(cause), "../") for cause in causes)
    where = ", ".join(sorted({wire for cause in causes for wire in cause["wires"]}))
    runs = str(sum(cause["runs"] for cause in causes))
    what = " ".join(dict.fromkeys(entry["what"] for entry in entries))
    reported = [f"[reported]({entry['issue']})" for entry in entries if "issue" in entry]
    seen = f"{what}<br>`{entries[0]['line']}`"
    return [broken, where, runs, seen, ", ".join([entries[0]["state"], *reported])]


def _wire_of(cause: Json) -> str:
    """Returns the first wire format of a cause that has its rule: other formats may have it under another number."""
    rule, wires = cause["rule"], cause["wires"]
    return next((wire for wire in wires if rule in rules.book(wire).rules), wires[0])
