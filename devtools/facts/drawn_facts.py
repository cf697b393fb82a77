"""Draws cells of the facts at random and opens their evidence: `python -m devtools.facts.drawn_facts [--seed 42] [--count 100] [--inferred]`.

It reads the recordings as `devtools.facts.recorded_facts` does. A recording is opened: the request at the link has the model, uses
the feature, and was answered or refused as the cell says. The example of a rule is judged again, its page must be in
`facts/pages.toml`, where what was read is kept, and show this very thing; if the page is a recording of this machine, it is opened, too.
A document must be quoted. `--inferred` draws the inferred cells instead, whose evidence is about another model or another field.
Exit code 1 tells that the evidence of a cell does not support it, or could not be opened.
"""

# ruff: noqa: T201 - it prints

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator

from ellmer_conformance import facts
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.contract.rule import verdict
from ellmer_conformance.contract.rules import book
from ellmer_conformance.facts import Cell, Evidence
from ellmer_conformance.facts.examples import example, foreign
from ellmer_conformance.facts.features import FEATURES, found
from ellmer_conformance.facts.pages import pages
from ellmer_conformance.recordings.recorded_requests import Recording, Skip, refusal, request_of

from . import answer_facts
from .recorded_facts import recordings

_FEATURE = {feature.id: feature for feature in FEATURES}


def main() -> None:
    """Draws the cells, opens each, and prints what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--inferred", action="store_true")
    asked = parser.parse_args()
    drawn = draw(asked.seed, asked.count, inferred=asked.inferred)
    opened = _opened({cell.evidence[0].link for cell in drawn})
    results = [(cell, _supports(cell, opened)) for cell in drawn]
    for cell, result in sorted(results, key=lambda each: (each[1], each[0].place)):
        print(f"{result:8} {' '.join(cell.place)}: {cell.answer} | {_shown(cell.evidence[0])}")
    counts = Counter(result for _, result in results)
    print(f"{len(results)} cells: " + ", ".join(f"{count} {name}" for name, count in counts.most_common()))
    sys.exit(any(result in {"wrong", "absent"} for _, result in results))


def draw(seed: int, count: int, *, inferred: bool = False) -> list[Cell]:
    """Returns cells with evidence, drawn at random. The same seed draws the same cells of the same facts.

    Args:
        seed: The seed.
        count: How many.
        inferred: Whether to draw inferred cells instead of the known ones.
    """
    known = [
        cell
        for cell in facts.cells()
        if cell.evidence and cell.answer != "unknown" and cell.inferred is inferred
    ]
    return random.Random(seed).sample(known, count)  # noqa: S311 - it is no secret


def _shown(proof: Evidence) -> str:
    return f"{proof.kind} {proof.place} {proof.day} {proof.words[:160]!r} {proof.link}"


_RECORDED = {"accepted", "refused", "elsewhere"}


def _opened(links: set[str]) -> dict[str, list[Recording]]:
    """Returns the exchanges of the files at some links."""
    opened: dict[str, list[Recording]] = defaultdict(list)
    for link, recording in recordings(links):
        opened[link].append(recording)
    return opened


def _supports(cell: Cell, opened: dict[str, list[Recording]]) -> str:
    """Returns "right" or "wrong" for a cell whose evidence was opened here, "page" for a page that was read, "document" for a quoted
    one, and "absent" for a recording that is not on this machine.
    """
    proof = cell.evidence[0]
    if proof.kind == "rule":
        if not _still_refused(cell, proof) or not _read(cell, proof):
            return "wrong"
        return _on_record(proof, opened[proof.link]) if proof.link in opened else "page"
    if proof.kind in _RECORDED:
        if proof.link not in opened:
            return "absent"
        shown = any(_proves(cell, proof, each) for each in opened[proof.link])
        return "right" if shown else "wrong"
    return "document" if proof.words else "wrong"


def _read(cell: Cell, proof: Evidence) -> bool:
    """Tells whether the page of a rule was read, and shows what the cell says; or shows something else, if the cell is inferred."""
    page = pages().get(proof.link)
    return page is not None and (cell.inferred or page.shows(proof.words))


def _on_record(proof: Evidence, recordings: list[Recording]) -> str:
    """Tells whether the words that were read on the page are in its recording."""
    words = pages()[proof.link].words
    said = [" ".join(error.message.split()) for each in recordings if (error := refusal(each))]
    return "right" if any(words[:200] in each for each in said) else "wrong"


def _still_refused(cell: Cell, proof: Evidence) -> bool:
    """Tells whether the rule finds the example of the feature wrong, at the model of the cell."""
    feature = _FEATURE[cell.feature]
    body = example(feature, cell.wire, cell.model) or foreign(feature, cell.wire, cell.model)
    if body is None:  # a field of another format, which the shape of this one refuses
        return proof.place == "REQ-101" and bool(proof.words)
    rule = book(cell.wire, cell.provider).rules[proof.place]
    return bool(
        verdict(rule, Request(cell.wire, cell.provider, body, model=cell.model)).violations and proof.link
    )


def _proves(cell: Cell, proof: Evidence, recording: Recording) -> bool:
    request = request_of(recording)
    if isinstance(request, Skip) or (request.wire, request.provider) != (cell.wire, cell.provider):
        return False
    if proof.kind != "elsewhere" and request.model != cell.model:
        return False
    used = {*_used(request), *answer_facts.shown(request.wire, recording.response)}
    error = refusal(recording)
    if cell.feature not in used:
        return False
    if proof.words:
        return error is not None and " ".join(error.message.split())[:300] == proof.words
    return error is None and 200 <= (recording.status or 0) < 300


def _used(request: Request) -> Iterator[str]:
    try:
        yield from found(request)
    except (AttributeError, TypeError, KeyError, ValueError):
        return


if __name__ == "__main__":
    main()
