# ruff: noqa: INP001 - beside the script that imports it
"""The page of one library: every failing cell with its exchange, and a script that reproduces it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import findings
from failures import WIRES, Json, varied
from overview import badge, who
from prose import CAUSES, anchor, fenced, folded, linked, prose, sentence

from ellmer_conformance.report.formats.badge import badges
from ellmer_conformance.report.results import Report, Row


def details(result: Json, cells: Mapping[tuple[str, str], Json]) -> str:
    """Returns all failing cells of a library, with the evidence."""
    used = who(result)[2]
    parts = [
        f"# Conformance of {result['peer']}",
        f"Tested on {result['date']} with Python {result['python']}, {used}.",
    ]
    parts += [badge(result, *score.split(" ", 1)) for score in result.get("score", {})]
    parts += findings.of_library(result)
    ordered = sorted(cells.values(), key=lambda c: (WIRES.index(c["wire"]), c["cause"] == "follows"))
    parts += [section(cell) for cell in ordered] or ["Every rule that applies is kept."]
    return "\n\n".join(parts) + "\n"


def badge_files(result: Json) -> Iterator[tuple[str, str]]:
    """Yields the badges of a library as files: the path below docs/ and the SVG."""
    peer, known = (
        result["peer"],
        Report(score=result.get("score", {}), requirements=result.get("requirements", "")),
    )
    known.rows = [
        Row(peer, wire, "", "", "", rule, "", "", verdict, 1)
        for wire, verdicts in result.get("verdicts", {}).items()
        for rule, verdict in verdicts.items()
    ]
    for name, content in badges(known):
        if name.endswith(".svg"):
            yield f"peers/badges/{name}", content


def section(cell: Json) -> str:
    """Returns one failing cell."""
    shown = cell["shown"]
    plays = ", ".join(f"`{play}`" for play in cell["plays"][:8])
    more = f" and {len(cell['plays']) - 8} more" if len(cell["plays"]) > 8 else ""
    parts = [
        f"## {cell['wire']} {cell['rule']} {{ #{anchor(cell)} }}",
        f"{linked(cell['rule'], cell['wire'], '../')}: {sentence(cell['rule'], cell['wire'])}",
        kind(cell),
        f"At `{shown['pointer']}`{unsent(cell)}: {prose(' – '.join(shown['message'].splitlines()))}",
        *([f"The API says ({cell['status']}): {prose(cell['provider_error'])}"] if cell["status"] else []),
        *([f"The SDK below, {cell['sdk']}, fails in the same case."] if cell["sdk"] else []),
        f"In {plays}{more}.",
        *([fenced("text", cell["excerpt"])] if cell["excerpt"] else []),
        *([folded(titled(cell), exchanged(cell["exchange"]))] if cell["exchange"] else []),
        folded("A script that shows it again", fenced("python", cell["script"].rstrip())),
    ]
    return "\n\n".join(parts)


def kind(cell: Json) -> str:
    """Returns the kind of failure with its reason, or with the description of the kind."""
    name, _, meaning = CAUSES[cell["cause"]].partition(": ")
    return f"**{name.capitalize()}.** {cell['why'] or f'{meaning[0].upper()}{meaning[1:]}.'}"


def titled(cell: Json) -> str:
    """Returns the title of the exchange. For a variation, the report has the varied exchange."""
    return "The exchange, as it was before the variation" if varied(cell) else "The exchange"


def unsent(cell: Json) -> str:
    """Returns a note if the pointer leads to a request that was not sent."""
    missing = cell["shown"]["pointer"].startswith("/exchanges/") and not cell["exchange"]
    return ", a request that was never sent" if missing else ""


def exchanged(kept: Json) -> str:
    """Returns the request and the answer as text."""
    body = json.dumps(kept["body"], indent=1, ensure_ascii=False)
    parts = [f"`{kept['method']} /{kept['path']}`", fenced("json", body)]
    if "status" in kept:
        parts += [f"answered with {kept['status']}:", fenced("text", kept["answer"].strip())]
    return "\n\n".join(parts)
