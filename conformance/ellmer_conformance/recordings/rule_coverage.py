"""Which rules recorded requests reach: a rule that looks at nothing in any of them is not tested by these recordings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ellmer_core.base.budget import RECORDING
from ellmer_harness.bulk.engines import Engine, Work
from ellmer_harness.bulk.journal import Journal, worked
from ellmer_harness.bulk.sources import Source
from ellmer_harness.recordings.untrusted_files import CRASHED, is_unfinished

from ..contract import rules
from ..contract.rule import Rule
from .recorded_requests import Recording, Skip, each_recording, request_of

WireAndProvider = tuple[str, str]  # a wire format and a provider


@dataclass
class FileCoverage:
    """The rules that the requests of a file reach: for each wire format and provider, the number of requests by rule."""

    path: str
    requests: Counter[WireAndProvider] = field(default_factory=Counter)
    reached: dict[WireAndProvider, Counter[str]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    problem: str | None = None


@dataclass
class Coverage:
    """The rules that the requests of all files reach."""

    count: int = 0
    requests: Counter[WireAndProvider] = field(default_factory=Counter)
    reached: dict[WireAndProvider, Counter[str]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)

    violations = 0  # reaching a rule is no verdict

    def add(self, file: FileCoverage) -> None:
        """Adds a file."""
        self.count += 1
        self.requests.update(file.requests)
        self.skipped.update(file.skipped)
        self.unreadable += [file.problem] if file.problem else []
        for place, counts in file.reached.items():
            self.reached.setdefault(place, Counter()).update(counts)

    @property
    def judged(self) -> int:
        """The number of requests."""
        return self.requests.total()

    def rules(self, place: WireAndProvider) -> Iterator[tuple[Rule, int]]:
        """Yields the rules that hold at a provider, each with the number of requests that reach it."""
        counts = self.reached.get(place, Counter())
        for id, rule in rules.book(*place).rules.items():
            yield rule, counts[id]


def cover(
    files: Iterable[Source],
    found: Coverage,
    *,
    jobs: int = 1,
    engine: Engine = "processes",
    journal: Journal | None = None,
    most: int = RECORDING.unpacked,
    on_file: Callable[[Coverage], None] = lambda _: None,
) -> None:
    """Reads the files, as `lint_each()` does, and adds the rules that they reach. `on_file` is called after each file."""
    work = Work(partial(file_coverage, most=most), _died, unfinished=lambda each: is_unfinished(each.problem))
    for file in worked(work, files, (_as_json, _from_json), jobs=jobs, engine=engine, journal=journal):
        found.add(file)
        on_file(found)


def _died(source: Source) -> FileCoverage:
    return FileCoverage(str(source), problem=f"{source}: {CRASHED}")


def file_coverage(source: Source, most: int = RECORDING.unpacked) -> FileCoverage:
    """Returns the rules that one file of at most so many bytes reaches."""
    found = FileCoverage(str(source))
    problem = each_recording(source, most, partial(_reach, found))
    return replace(found, problem=problem and f"{source}: {problem}")


def _reach(found: FileCoverage, recording: Recording) -> None:
    request = request_of(recording)
    if isinstance(request, Skip):
        found.skipped[request.reason] += 1
        return
    place = request.wire, request.provider
    verdicts = rules.book(*place).judge(request)
    found.requests[place] += 1
    found.reached.setdefault(place, Counter()).update(each.rule.id for each in verdicts if each.checked)


def _as_json(file: FileCoverage) -> dict[str, Any]:
    reached = [[*place, counts] for place, counts in file.reached.items()]
    return {**vars(file), "requests": [[*place, n] for place, n in file.requests.items()], "reached": reached}


def _from_json(value: Mapping[str, Any]) -> FileCoverage:
    requests = Counter({(wire, provider): count for wire, provider, count in value["requests"]})
    reached = {(wire, provider): Counter(counts) for wire, provider, counts in value["reached"]}
    return FileCoverage(value["path"], requests, reached, Counter(value["skipped"]), value["problem"])
