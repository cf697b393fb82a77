"""Derives malformed requests from accepted ones with the official types, and counts those that the strict server
refuses.

    python conformance/shapes/mutants.py [--schemas DIR] [--seed N] [--most N] [--markdown] REQUESTS …

REQUESTS are cassettes or recorded traffic. At each place of a request, one thing is made wrong: a field nobody knows, a
required field left out, another type, a value that is not listed, a variant that is none, a number out of its bounds.
`agreed` are those that every official source of the wire format refuses, and no recording contradicts. `undecided` are
those of them whose refusal nothing on record shows: they are previews, and not counted as refused or missed.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from build_shapes import READERS
from mutations import Mutant, mutants
from nodes import Joiner, Json, Source
from sources import SOURCES

from ellmer_conformance.contract import rules, shapes
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules._shape_faults import UNRECORDED
from ellmer_conformance.contract.shapes import Fault, FaultKind
from ellmer_conformance.contract.shapes.checker import Checker
from ellmer_conformance.contract.shapes.facts import Fact, deciding
from ellmer_conformance.recordings.recorded_requests import Skip, read, refusal, request_of, status_of
from ellmer_harness.recordings import Unreadable, find


@dataclass
class Count:
    """The mutants of one wire format by result."""

    derived: int = 0
    agreed: int = 0
    undecided: int = 0  # of the agreed ones
    refused: int = 0  # of the agreed ones
    worded: int = 0  # of the refused ones, in the provider's own words
    missed: list[Mutant] = field(default_factory=list)


class Official:
    """The official sources of a shape, together and each alone."""

    def __init__(self, name: str, folder: Path | None) -> None:
        sources = [each for each in SOURCES[name](folder) if each is not None]
        names = {source.name.partition(" ")[0] for source in sources}
        self.root = Joiner().node((source, source.schema) for source in sources)
        reader = {"reader": READERS.get(name, "")}
        alone = [_alone(sources, package) for package in sorted(names)]
        self.checkers = [Checker({"root": root, **reader}) for root in alone]
        self.name = name

    def agree(self, body: Json) -> bool:
        """Tells whether every source refuses a request."""
        return all(checker.faults(body) for checker in self.checkers)

    def objections(self, body: Json, provider: str) -> list[tuple[Fault, Fact | None]]:
        """Returns the faults of a request that no accepted request contradicts, each with the fact that decides it."""
        found = [
            (fault, deciding(self.name, fault, provider)) for fault in shapes.checker(self.name).faults(body)
        ]
        return [(fault, fact) for fault, fact in found if fact is None or fact.refused]


def _alone(sources: Iterable[Source], package: str) -> Json:
    """Returns the types of one package, with streams or not, beta or not."""
    own = [source for source in sources if source.name.startswith(package)]
    return Joiner().node((source, source.schema) for source in own)


def judged(requests: Sequence[Request], official: Official, most: int, seed: int) -> Count:
    """Returns the mutants of some requests, one for each kind and place, and the rules' verdicts."""
    found: dict[tuple[FaultKind, str], tuple[Request, Mutant]] = {}
    for request in requests:
        for mutant in mutants(request.body, official.root):
            found.setdefault((mutant.kind, mutant.place), (request, mutant))
    chosen = list(found.values())
    random.Random(seed).shuffle(chosen)
    count = Count()
    for request, mutant in chosen[:most]:
        count.derived += 1
        objections = official.objections(_body(request, mutant), request.provider)
        if official.agree(mutant.body) and objections:
            count.agreed += 1
            count.undecided += all(fact is None for _, fact in objections)
            if any(fact for _, fact in objections):
                _count(count, request, mutant)
    return count


def _body(request: Request, mutant: Mutant) -> Json:
    """Returns the body as a shape has it: Bedrock's model is in the URL."""
    return {key: value for key, value in mutant.body.items() if key != "model" or request.wire != "bedrock"}


def _count(count: Count, request: Request, mutant: Mutant) -> None:
    body = mutant.body
    named = body.get("model", "" if "model" in request.body else request.model)
    sent = replace(request, body=body, model=named if isinstance(named, str) else request.model)
    violation = objection(rules.book(request.wire, request.provider).judge(sent))
    if violation is None or violation.refusal is None:
        count.missed.append(mutant)
        return
    count.refused += 1
    count.worded += UNRECORDED not in violation.refusal.message


def shape_of(request: Request) -> str:
    """Returns the shape for a request, or `""` if it has none."""
    own = {
        "openai-chat": "openai",
        "openai-responses": "openai",
        "anthropic": "anthropic",
        "gemini": "google",
    }
    if request.provider in {"groq", "cerebras", "vertex"}:
        return request.provider if request.wire in {"openai-chat", "gemini"} else ""
    return request.wire if own.get(request.wire, request.provider) == request.provider else ""


def accepted(paths: Iterable[Path]) -> Iterator[Request]:
    """Yields the requests that were answered with 200 and are valid today."""
    for path in find(paths):
        try:
            recordings = list(read(path) or ())
        except Unreadable:
            continue
        for recording in recordings:
            request = request_of(recording)
            if not isinstance(request, Skip) and status_of(recording) == 200 and not refusal(recording):
                yield replace(request, when=None)


def picked(requests: Iterable[Request], each: int, seed: int) -> dict[str, list[Request]]:
    """Returns some requests of each shape, the most complete of a random sample first."""
    found: dict[str, list[Request]] = {}
    for request in requests:
        found.setdefault(shape_of(request), []).append(request)
    lot = random.Random(seed)
    sampled = {name: lot.sample(many, min(len(many), 12 * each)) for name, many in found.items() if name}
    return {
        name: sorted(many, key=lambda r: -len(Counter(_keys(r.body))))[:each]
        for name, many in sorted(sampled.items())
    }


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _keys(each)
    elif isinstance(value, list):
        for each in value:
            yield from _keys(each)


def table(counts: dict[str, Count]) -> str:
    """Returns the counts in Markdown."""
    lines = [
        "| shape | derived | all sources agree | undecided | refused | | in the provider's words |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, count in counts.items():
        decided = count.agreed - count.undecided
        share = f"{100 * count.refused / decided:.1f} %" if decided else ""
        lines.append(
            f"| {name} | {count.derived} | {count.agreed} | {count.undecided} | {count.refused} | {share} | {count.worded} |"
        )
    return "\n".join(lines)


def parser_of(page: str | None, derived: str) -> argparse.ArgumentParser:
    """Returns the options of a program that derives requests from accepted ones."""
    parser = argparse.ArgumentParser(description=(page or "").partition("\n")[0])
    parser.add_argument("requests", nargs="+", type=Path)
    parser.add_argument("--schemas", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=5, help="requests of each shape")
    parser.add_argument("--most", type=int, default=1_000_000, help=f"{derived} of each shape")
    return parser


def main() -> None:
    parser = parser_of(__doc__, "mutants")
    parser.add_argument("--missed", action="store_true", help="name what passes")
    options = parser.parse_args()
    counts = {}
    for name, requests in picked(accepted(options.requests), options.each, options.seed).items():
        counts[name] = judged(requests, Official(name, options.schemas), options.most, options.seed)
        for mutant in counts[name].missed if options.missed else ():
            print(f"{name}: {mutant.kind} at {mutant.place}")  # noqa: T201  # its report
    print(table(counts))  # noqa: T201


if __name__ == "__main__":
    main()
