"""Derives legal variations of accepted requests from the official types, and lists those that the strict server
refuses.

    python conformance/shapes/legal.py [--schemas DIR] [--seed N] [--each N] [--most N] [--refused] REQUESTS …

REQUESTS are cassettes or recorded traffic. Each optional field that a request does not have is set to a legal value,
and each listed value is replaced by each other one of its list. The types know nothing of models and of fields that
exclude each other: what a rule about those refuses is listed with `--refused`, for a person to judge. A rule about shapes
(`REQ-101` to `REQ-106`) that refuses a legal value is wrong.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from mutants import Official, accepted, parser_of, picked
from mutations import Path_
from nodes import Json

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.contract.rule import Violation, objection
from ellmer_conformance.contract.rules._shape_faults import IDS


class Variation(NamedTuple):
    """A legal request, and the place in the shape at which it differs from an accepted one."""

    place: str
    body: Json


@dataclass
class Count:
    """The variations of one shape by result. `refused` are the places for each rule."""

    derived: int = 0
    refused: dict[str, list[str]] = field(default_factory=dict)

    @property
    def by_shape(self) -> int:
        """The number of variations that a rule about shapes refuses."""
        return sum(len(self.refused.get(id, ())) for id in IDS)


def variations(body: Json, node: Json) -> Iterator[Variation]:
    """Yields each legal change of one part."""
    for place, path, value in _changes(body, node, "", ()):
        changed = copy.deepcopy(body)
        holder: Any = changed
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
        yield Variation(place, changed)


def _changes(value: Any, node: Json, place: str, path: Path_) -> Iterator[tuple[str, Path_, Any]]:
    match value:
        case dict() if "object" in node:
            yield from _of_object(value, node["object"], place, path)
        case list() if "array" in node:
            for index, each in enumerate(value):
                yield from _changes(each, node["array"]["items"], f"{place}[]", (*path, index))
        case str():
            for other in node.get("string", {}).get("values", ()):
                if other != value:
                    yield f"{place}={other}", path, other


def _of_object(value: Json, spec: Json, place: str, path: Path_) -> Iterator[tuple[str, Path_, Any]]:
    if "tag" in spec:
        tag = value.get(spec["tag"])
        inner = spec["variants"].get(tag) if isinstance(tag, str) else spec.get("untagged")
        if inner:  # another tag is another object
            fields = {key: each for key, each in inner["fields"].items() if key != spec["tag"]}
            yield from _of_object(value, {**inner, "fields": fields}, f"{place}<{tag or ''}>", path)
        return
    for key, inner in spec["fields"].items():
        if key in value:
            yield from _changes(value[key], inner, f"{place}.{key}", (*path, key))
        elif key not in spec.get("required", ()) and (least := _least(inner)) is not None:
            yield f"{place}.{key}", (*path, key), least


def _least(node: Json) -> Any:
    """Returns the smallest legal value of a node, or `None` if it has only null."""
    if "object" in node:
        spec = node["object"]
        inner = next(iter(spec["variants"].values())) if "tag" in spec else spec
        found = {key: _least(inner["fields"].get(key, {})) for key in inner.get("required", ())}
        return None if None in found.values() else found
    if "array" in node:
        spec = node["array"]
        return [_least(spec["items"])] * max(1, spec.get("minItems", 1))
    if "number" in node:
        spec = node["number"]
        middle = 1 if spec.get("integer") else 0.5
        return max(min(middle, spec.get("maximum", middle)), spec.get("minimum", middle))
    if "string" in node and "pattern" not in node["string"]:
        spec = node["string"]
        return spec["values"][0] if spec.get("values") else "a" * max(4, spec.get("minLength", 0))
    return True if "boolean" in node else None


def judged(requests: Sequence[Request], root: Json, most: int, seed: int) -> Count:
    """Returns the variations of some requests, one for each place, and the rules' verdicts."""
    found: dict[str, tuple[Request, Json]] = {}
    for request in requests:
        for variation in variations(request.body, root):
            found.setdefault(variation.place, (request, variation.body))
    chosen = list(found.items())
    random.Random(seed).shuffle(chosen)
    count = Count()
    for place, (request, body) in chosen[:most]:
        count.derived += 1
        if violation := _refused(request, body):
            count.refused.setdefault(violation.rule.id, []).append(f"{place}: {violation.message}")
    return count


def _refused(request: Request, body: Json) -> Violation | None:
    book = rules.book(request.wire, request.provider)
    before = {v.rule.id for verdict in book.judge(request) for v in verdict.violations}
    found = objection(book.judge(replace(request, body=body, stream=bool(body.get("stream")))))
    return found if found and found.rule.id not in before else None


def table(counts: dict[str, Count]) -> str:
    """Returns the counts in Markdown."""
    lines = ["| shape | legal variations | refused by the shape | by other rules |", "|---|--:|--:|--:|"]
    for name, count in counts.items():
        others = sum(map(len, count.refused.values())) - count.by_shape
        lines.append(f"| {name} | {count.derived} | {count.by_shape} | {others} |")
    return "\n".join(lines)


def main() -> None:
    parser = parser_of(__doc__, "variations")
    parser.add_argument("--refused", action="store_true", help="list what other rules refuse, too")
    options = parser.parse_args()
    counts = {}
    for name, requests in picked(accepted(options.requests), options.each, options.seed).items():
        root = Official(name, options.schemas).root
        counts[name] = judged(requests, root, options.most, options.seed)
        for id, places in sorted(counts[name].refused.items()):
            if id in IDS or options.refused:
                print(f"{name} {id}:", *Counter(places), sep="\n  ")  # noqa: T201  # its report
    print(table(counts))  # noqa: T201


if __name__ == "__main__":
    main()
