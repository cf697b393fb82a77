"""Writes the figures of the README: `nox -s figures`. They are brought up to date for a release, not for each rule.

`--check` compares instead. It fails if a figure is larger than what there is, because that is a false claim; with
`--exact`, as for a release, also if it is smaller.
"""

# ruff: noqa: T201 - it prints
from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from .test_selection.reach import ROOT

COMMAND = "nox -s figures"
#: The pages, and the words around each figure. `(?P<name>…)` is the figure of that name.
PAGES = {
    "README.md": (
        r"that the rules are checked against; no accepted request is refused \| (?P<exchanges>[\d,]+) \|",
        r"in (?P<archives>[\d,]+) archives of (?P<packages>[\d,]+) published packages",
        r"\| rules, over eight wire formats \| (?P<rules>[\d,]+) \|",
    ),
    "docs/index.md": (r"checked against \[(?P<exchanges>[\d,]+) exchanges\]",),
    "docs/tested/index.md": (r"None refuses one of the \[(?P<exchanges>[\d,]+) recorded exchanges\]",),
}


def figures() -> dict[str, int]:
    """Returns the figures as they are now, by name."""
    from ellmer_conformance.cli.rules.list import all_rules  # noqa: PLC0415 - it takes seconds
    from ellmer_conformance.recordings.corpus import pins  # noqa: PLC0415 - only this figure needs it

    archives = list(pins.load(pins.shipped()))
    return {
        "exchanges": sum(pin.distinct for pin in archives),
        "archives": len(archives),
        "packages": len({pin.package for pin in archives}),
        "rules": len(all_rules()),
    }


def written(text: str, patterns: tuple[str, ...], now: dict[str, int]) -> str:
    """Returns a page with the figures of now. Raises LookupError if the words around a figure are not there."""
    for pattern in patterns:
        if not (match := re.search(pattern, text)):
            raise LookupError(
                f"no figure is found by {pattern}: change it in {Path(__file__).name}, or the page"
            )
        for name in sorted(match.groupdict(), key=match.start, reverse=True):
            text = f"{text[: match.start(name)]}{now[name]:,}{text[match.end(name) :]}"
    return text


def printed(text: str, patterns: tuple[str, ...]) -> dict[str, int]:
    """Returns the figures that a page has, by name."""
    found: dict[str, str] = {}
    for pattern in patterns:
        if match := re.search(pattern, text):
            found |= match.groupdict()
    return {name: int(figure.replace(",", "")) for name, figure in found.items()}


def differences(now: dict[str, int], *, exact: bool) -> list[str]:
    """Returns the figures of all pages that claim more than there is; with `exact` also those that claim less."""
    found = []
    for page, patterns in PAGES.items():
        text = (ROOT / page).read_text("utf-8")
        written(text, patterns, now)  # each figure is found
        for name, figure in printed(text, patterns).items():
            if figure > now[name] or (exact and figure != now[name]):
                found.append(f"{page} says {figure:,} {name}, and there are {now[name]:,}. Run `{COMMAND}`.")
    return found


def main(arguments: list[str]) -> int:
    """Writes the pages, or compares them."""
    parser = argparse.ArgumentParser(prog=f"{COMMAND} --", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and change nothing")
    parser.add_argument("--exact", action="store_true", help="with --check: smaller figures fail, too")
    options = parser.parse_args(arguments)
    now = figures()
    if options.check:
        stale = differences(now, exact=options.exact)
        print(*stale, sep="\n")
        return int(bool(stale))
    for page, patterns in PAGES.items():
        file = ROOT / page
        file.write_text(written(file.read_text("utf-8"), patterns, now), "utf-8")
    print(", ".join(f"{figure:,} {name}" for name, figure in now.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
