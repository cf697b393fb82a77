"""`python -m sweep` prints the whole sweep as a table, and exits with 1 for a refusal. `--sample 3000` draws that
many cells.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from .grid import Cell, combinations, sample, singles
from .judge import Count, swept

__all__ = ["table"]

PAGE = Path(__file__).parents[2] / "docs" / "tested" / "sweep.md"
HEAD = """# The sweep

For every provider, every model that is known, and everything a user can ask for (a parameter, a setting of thinking, a kind
of content, a result, a schema, a history, by itself and several together), `nox -s sweep` builds the request that the
library would send, through its own conversation loop, and judges it with the suite's rules. *Declined* are the library's own
errors before anything is sent; *refused* is what the provider would have answered with an error. {which}

| provider | asked | sent | declined | refused |
|---|---:|---:|---|---:|
"""


def table(found: dict[str, Count], which: str) -> str:
    """Returns the outcome by provider, in Markdown."""
    lines = []
    for name, count in sorted(found.items()):
        declined = sum(count.declined.values())
        kinds = ", ".join(f"{number} {kind}" for kind, number in count.declined.most_common())
        cell = f"{declined} ({kinds})" if declined else "0"
        lines.append(
            f"| `{name}` | {count.asked} | {count.asked - declined} | {cell} | {len(count.refused)} |"
        )
    return HEAD.format(which=which) + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Runs the sweep. `--page` writes the page of the documentation."""
    if "--sample" in arguments:
        count = int(arguments[arguments.index("--sample") + 1])
        cells: Iterable[Cell] = sample(count, seed=1)
        which = f"This table is of a sample: {count} cells, drawn with the seed 1."
    else:
        cells, which = chain(singles(), combinations(20, seed=1)), "This table is of all of it."
    found = swept(cells)
    page = table(found, which)
    print(page)  # noqa: T201 - it is a command
    for count in found.values():
        for (rule, _), number in Counter(
            (o.refused.partition(":")[0], o.cell.model) for o in count.refused
        ).most_common(5):
            first = next(o for o in count.refused if o.refused.startswith(rule))
            print(f"{number} x {first.refused} {first.cell}")  # noqa: T201
    if "--page" in arguments:
        PAGE.write_text(page, encoding="utf-8")
    return 1 if any(count.refused for count in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
