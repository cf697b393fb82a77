"""Writes the page with what other projects' tables say of models, and evidence contradicts:

    python -m devtools.comparisons.tables_compared "LiteLLM 1.110.2=FILE" "models.dev of 16 August 2026=FILE" "LangChain=FOLDER"

The files come from the projects' packages. None of their content is kept but the claims that are contradicted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from ellmer_conformance.facts import comparison
from ellmer_conformance.facts.comparison import Difference

PAGE = Path(__file__).parents[2] / "docs/conformance/tables-compared.md"
HEAD = """---
hide: [toc]
---

# Other tables, compared with the evidence

`conformance facts --check FILE` compares a table of models with the recordings, rules and documents that are known here. This page
lists {count} entries that were wrong in November 2026, and can be sent to the projects. Each is contradicted by a recorded request to the very
model, by the provider's own document, or by the refusal of an output format at every model of the provider. Entries that only a
rule or a profile about some models contradicts are left out. So are requests that a host accepted although it does not pass all of them on to the model.
`python -m devtools.comparisons.tables_compared` writes this page.
"""
ROW = "| table says | of | but | proof |\n|---|---|---|---|"
_KINDS = {
    "accepted": "the API accepted it",
    "refused": "the API refused it",
    "document": "the provider says",
    "rule": "the API refuses it",
}


def main() -> None:
    """Compares the tables and writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="+", metavar="NAME=FILE")
    found = {}
    for each in parser.parse_args().tables:
        name, _, path = each.partition("=")
        found[name] = _entries(Path(path))
    count = sum(map(len, found.values()))
    sections = "".join(f"\n## {name}\n\n{ROW}\n" + "\n".join(rows) + "\n" for name, rows in found.items())
    PAGE.write_text(HEAD.format(count=count) + sections, "utf-8")
    print(f"{count} entries are in {PAGE}.")  # noqa: T201 - it is a program


def _entries(path: Path) -> list[str]:
    differences = comparison.contradictions(comparison.claims(path))
    return list(dict.fromkeys(_rows(comparison.proved(differences))))


def _rows(differences: list[Difference]) -> Iterator[str]:
    for each in differences:
        if each.cell is None:
            continue
        proof = each.cell.evidence[0]
        words = f': "{proof.words[:140]}"' if proof.words else ""
        day = f" ({proof.day})" if proof.day else ""
        dated = f" from {each.cell.since or each.cell.until}" if each.cell.feature == "available" else ""
        told = (
            f"{each.cell.answer}{dated}, over {each.cell.wire}"
            if each.cell.wire != "*"
            else f"{each.cell.answer}{dated}"
        )
        shown = f"{_KINDS[proof.kind]}{words}{day}".replace("|", "\\|").replace("<", "&lt;")
        yield (
            f"| `{each.claim.said}` | `{each.claim.model}` at {each.claim.provider} | {each.cell.feature}: {told} "
            f"| [{shown}]({proof.link}) |"
        )


if __name__ == "__main__":
    main()
