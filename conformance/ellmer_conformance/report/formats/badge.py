"""A badge for each adapter and wire format: SVG, and the JSON for shields.io."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from html import escape

from ..report_json import dated
from ..results import Report

_HEIGHT = 20
_COLOURS = {"brightgreen": "#2f7d32", "orange": "#a85f00", "red": "#b3261e", "lightgrey": "#6b7280"}


def badges(report: Report) -> Iterator[tuple[str, str]]:
    """Yields the badges' file names and contents: `<adapter>-<wire>.svg` and `.json`."""
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in report.rows:
        seen[row.adapter, row.wire].add(row.verdict)
    for name, counts in report.score.items():
        adapter, _, wire = name.partition(" ")
        label, message, colour = (
            f"{adapter} · {wire}",
            dated(report, counts),
            _colour(seen[adapter, wire], counts),
        )
        stem = f"{adapter}-{wire}".replace("/", "-").replace(":", "-")
        yield f"{stem}.svg", _svg(label, message, _COLOURS[colour])
        shield = {"schemaVersion": 1, "label": label, "message": message, "color": colour}
        yield f"{stem}.json", json.dumps(shield, ensure_ascii=False) + "\n"


def _colour(verdicts: Collection[str], counts: Mapping[str, int]) -> str:
    """Returns the colour. Green needs every MUST and no harness errors. Expected failures make it orange."""
    if "harness-error" in verdicts or not counts["must_applicable"]:
        return "lightgrey"
    if "fail" in verdicts or "not-testable" in verdicts:
        return "red"
    return "brightgreen" if counts["must_passed"] == counts["must_applicable"] else "orange"


def _svg(label: str, message: str, colour: str) -> str:
    left, right = _width(label), _width(message)
    text = escape(f"{label}: {message}", quote=True)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img" aria-label="{text}">
<title>{text}</title>
<clipPath id="r"><rect width="{left + right}" height="{_HEIGHT}" rx="3"/></clipPath>
<g clip-path="url(#r)">
<rect width="{left}" height="{_HEIGHT}" fill="#444c56"/>
<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{colour}"/>
</g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{left / 2}" y="14" textLength="{left - 12}">{escape(label)}</text>
<text x="{left + right / 2}" y="14" textLength="{right - 12}">{escape(message)}</text>
</g>
</svg>
"""


def _width(text: str) -> int:
    """Returns the approximate width in Verdana at 11 pixels; `textLength` adjusts it."""
    return 12 + round(sum(3.9 if c in "il.:·,/|- " else 8.2 if c.isupper() else 6.7 for c in text))
