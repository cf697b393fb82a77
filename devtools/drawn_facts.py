"""Draws cells of the facts at random and opens their evidence: `python -m devtools.drawn_facts [--seed 42] [--count 100]`.

It reads the recordings as `devtools.recorded_facts` does. A recording is opened: the request at the link has the model, uses
the feature, and was answered or refused as the cell says. The example of a rule is judged again, and `facts/pages.toml` tells what was
read on its page: the refusal of the same thing ("right"), or of something else by the same check ("indirect"). For what nobody has read
yet, it prints the words and the link. Exit code 1 tells that a recording or a rule does not support its cell.
"""

# ruff: noqa: T201 - it prints

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator

from ellmer_conformance import facts
from ellmer_conformance.contract.exchange import Request
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
    asked = parser.parse_args()
    drawn = draw(asked.seed, asked.count)
    opened = _opened({cell.evidence[0].link for cell in drawn if cell.evidence[0].kind in _RECORDED})
    results = [(cell, _supports(cell, opened)) for cell in drawn]
    for cell, result in sorted(results, key=lambda each: (each[1], each[0].place)):
        print(f"{result:8} {' '.join(cell.place)}: {cell.answer} | {_shown(cell.evidence[0])}")
    wrong = sum(result == "wrong" for _, result in results)
    counts = Counter(result for _, result in results)
    print(f"{len(results)} cells: " + ", ".join(f"{count} {name}" for name, count in counts.most_common()))
    sys.exit(bool(wrong))


def draw(seed: int, count: int) -> list[Cell]:
    """Returns cells with evidence, drawn at random. The same seed draws the same cells of the same facts.

    Args:
        seed: The seed.
        count: How many.
    """
    known = [cell for cell in facts.cells() if cell.evidence]
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
    """Returns "right", "indirect" or "wrong" for a cell whose evidence was opened, "document" for a quoted one, "read it" for one that
    somebody has to read, and "absent" for a recording that is not on this machine.
    """
    proof = cell.evidence[0]
    if proof.kind == "rule":
        if not _still_refused(cell, proof):
            return "wrong"
        return "indirect" if proof.quote else "right" if proof.link in pages() else "read it"
    if proof.kind in _RECORDED:
        if proof.link not in opened:
            return "absent"
        shown = any(_proves(cell, proof, each) for each in opened[proof.link])
        return "right" if shown else "wrong"
    return "document" if proof.words else "read it"


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
