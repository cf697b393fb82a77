"""A report about a client without an adapter: only its requests are judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from ...contract.observed.exchange import Exchange
from ...contract.observed.run import Run
from ...contract.rules import behaviour
from ...report import Report, finished, judged
from ...runner.judgement import judge
from ...scenarios.case import Case, Mode
from ...scenarios.cases import all_cases
from ...server import Entry

CLIENT = "client"  # its name is not known
_WHY = "a base URL shows only requests, not what the client does with the answers"

RunKey = tuple[str, str, str, Mode]


def observed(entries: Iterable[Entry], source: Literal["server", "observe", "proxy"]) -> Report:
    """Returns the report: one entry for each case, provider and mode. Requests to other endpoints are left
    out.

    Every rule about a whole conversation is listed as not judged.
    """
    talks: dict[RunKey, list[Exchange]] = defaultdict(list)
    for entry in entries:
        request = entry.exchange.request
        if request.wire:
            mode: Mode = "stream" if request.stream else "sync"
            talks[entry.case, request.wire, request.provider, mode].append(entry.exchange)
    return finished(Report.joined(_judged(place, talk, source) for place, talk in talks.items()))


def _judged(
    place: RunKey, exchanges: list[Exchange], source: Literal["server", "observe", "proxy"]
) -> Report:
    name, wire, provider, mode = place
    case = all_cases().get(name) or Case(script=(), steps=(), name=name)
    unseen = dict.fromkeys(behaviour.book.rules, _WHY)
    run = Run(case, wire, provider, mode, exchanges, way=source, unseen=unseen)
    return judged(CLIENT, run, judge(run))
