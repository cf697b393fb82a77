"""The verdict on a run, in one word and a few numbers; the table of several verdicts; and stale recordings: by age, by a
policy, or because a request has changed.

Nothing is recorded again here, because that needs a person, and often money.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal

from ..errors import CassetteError, NotIntercepted, Stale, Unused
from ..exchange.messages import Sent
from .cassette_state import CassetteState, Recording, older_than
from .miss_explanation import changes, command
from .request_key import RequestKey

# --- The verdict -----------------------------------------------------------------------------------------


State = Literal["replayed", "recorded", "unused", "missed", "idle", "failed", "live"]
_NOT_RECORDED = ("pycurl", "geventhttpclient", "pyhttpx", "primp", "rnet", "tls_client")
_WORTH_A_LINE = ("recorded", "unused", "missed", "idle", "failed")


@dataclass(frozen=True)
class Verdict:
    """A verdict. `state` is the worst result; `stale` says why the recording is too old, or is `""`.

    `left` are the recorded requests that were not sent, allowed or not; `store` is where the cassette is
    shared. `diverged` is where the results of tools left the recording, and whether its answers still fit. `lacking` are the
    clients of the program that are not recorded.
    """

    path: str
    mode: str
    state: State
    recorded_from: str
    played: int = 0
    recorded: int = 0
    unused: int = 0
    missed: int = 0
    stale: str = ""
    left: tuple[str, ...] = ()
    store: str = ""
    diverged: str = ""
    lacking: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values that can be sent between processes."""
        return asdict(self)


def verdict(cassette: CassetteState) -> Verdict:
    """Returns the current verdict on a cassette."""
    played = sum(exchange.played for exchange in cassette.exchanges)
    unused = len(cassette.unused())
    return Verdict(
        path=str(cassette.path),
        mode=cassette.mode,
        state=_state(cassette, unused),
        recorded_from=cassette.recorded_from,
        played=played,
        recorded=len(cassette.exchanges) - played if cassette.records else 0,
        unused=unused,
        missed=len(cassette.misses),
        stale="; ".join(reasons(cassette)),
        left=_left(cassette),
        store=cassette.shared.store.url if cassette.shared else "",
        diverged=cassette.partial.told() if cassette.partial and cassette.diverged != "ignore" else "",
        lacking=_not_recorded(),
    )


def hold_to_account(cassette: CassetteState) -> None:
    """Raises `NotIntercepted` or `Unused` if a successful run did not use its cassette as recorded."""
    if not cassette.sent and not cassette.allow_idle and not (cassette.absent and cassette.only_plays):
        raise NotIntercepted(
            f"the run ended without any request to cassette {cassette.name}. {_advice()}\n"
            + command(cassette.rerecord)
        )
    left = [] if cassette.allow_unused or cassette.mode in ("append", "update") else cassette.unused()
    if left:
        raise Unused(
            f"{len(left)} recorded interactions of {cassette.name} were not requested:\n  "
            + "\n  ".join(left[:10])
            + "\nRecord again if the code now sends fewer requests, or pass allow_unused=True.\n"
            + command(cassette.rerecord, "update")
        )
    hold_to_date(cassette)
    if cassette.partial is not None:
        cassette.partial.hold(cassette)


def _not_recorded() -> str:
    """Returns the names of the imported clients that are not recorded."""
    return ", ".join(name for name in _NOT_RECORDED if name in sys.modules)


def _advice() -> str:
    """Returns advice why no request passed through the recorder, from the clients that this program has imported."""
    there = _not_recorded()
    own = "What a MockTransport of httpx answers is not recorded."
    idle = "Pass allow_idle=True if no request is expected."
    if not there:
        return f"{own} {idle}"
    return (
        f"This program has imported {there}, which is not recorded; docs/tested/recorder-problems.md#clients lists what is. "
        f"`ellmer-harness serve` replays a cassette for any program. {idle}"
    )


def _left(cassette: CassetteState) -> tuple[str, ...]:
    """Returns `cassette.unused()` with the numbers of the interactions."""
    if cassette.index is None or not cassette.replays:
        return ()
    unplayed = {id(request) for request in cassette.unused_requests()}
    recorded = enumerate(cassette.index.data, 1)
    return tuple(
        f"#{n} {request.method} {request.uri}" for n, (request, _) in recorded if id(request) in unplayed
    )


def _state(cassette: CassetteState, unused: int) -> State:
    if cassette.misses:
        return "missed"
    if cassette.mode == "live":
        return "live"
    if not cassette.sent:
        return "idle"
    if cassette.records and not all(exchange.played for exchange in cassette.exchanges):
        return "failed" if cassette.failed else "recorded"
    return "unused" if unused and not cassette.allow_unused else "replayed"


def table(verdicts: Iterable[tuple[str, Verdict]]) -> Iterator[str]:
    """Yields lines for the terminal: the sums, then one line for each problem."""
    found = list(verdicts)
    sums = Counter(verdict.state for _, verdict in found)
    yield ", ".join(f"{count} {state}" for state, count in sorted(sums.items()))
    for name, verdict in found:
        for state in [verdict.state] * (verdict.state in _WORTH_A_LINE) + ["stale"] * bool(verdict.stale):
            yield f"{state.upper():9}{name}  {verdict.path}{_why(state, verdict)}"
        if verdict.diverged:
            yield f"{'DIVERGED':9}{name}  {verdict.path}\n{verdict.diverged}"


def _why(state: str, verdict: Verdict) -> str:
    """Returns the explanation of a line in the table."""
    if state == "stale":
        return f" ({verdict.stale})"
    if state == "recorded" and verdict.lacking:
        return f" (without the requests of {verdict.lacking}, if there were any: they are not recorded)"
    return ""


def nobody_asked(verdicts: Iterable[Verdict]) -> Iterator[tuple[str, list[str]]]:
    """Yields cassettes that tests share, and the interactions that none of these tests requested."""
    together: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        together.setdefault(verdict.path, []).append(verdict)
    for path, shared in together.items():
        left = set[str].intersection(*(set(verdict.left) for verdict in shared))
        if left and all(verdict.state in ("replayed", "idle") for verdict in shared):
            yield path, sorted(left)


# --- Stale recordings ------------------------------------------------------------------------------------


LEVELS = ("ignore", "warn", "error")


class StaleWarning(UserWarning):
    """A recording is too old."""


def reasons(cassette: CassetteState) -> list[str]:
    """Returns the reasons why the recording of this run is stale, as clauses; none if it is not."""
    if cassette.index is None or not cassette.replays:
        return []
    recording = _recording(cassette)
    aged = [] if cassette.max_age is None else [older_than(cassette.max_age)]
    policies = [*aged, *cassette.policies]
    return [*filter(None, (policy(recording) for policy in policies)), *_changed(cassette)]


def hold_to_date(cassette: CassetteState) -> None:
    """Raises `Stale`, or warns, if the recording is stale and the option asks for it."""
    level = cassette.stale or os.environ.get("CASSETTE_STALE") or "warn"
    if level not in LEVELS:
        raise CassetteError(f"CASSETTE_STALE is {level!r}; it must be one of {', '.join(LEVELS)}")
    found = [] if level == "ignore" else reasons(cassette)
    if not found:
        return
    text = f"cassette {cassette.name} is stale: {'; '.join(found)}.\n{command(cassette.rerecord)}"
    if level == "error":
        raise Stale(text)
    warnings.warn(text, StaleWarning, stacklevel=4)


def _recording(cassette: CassetteState) -> Recording:
    index = cassette.index
    assert index is not None, "only a cassette with an index has a recording"
    recorded_at = index.provenance.get("recorded_at")

    def requests() -> Iterator[Sent]:
        for request, _ in index.data[: index.loaded]:
            yield Sent(request.method, request.uri, request.headers, request.body or b"")

    at = datetime.fromisoformat(recorded_at) if recorded_at else None
    return Recording(cassette.path, index.metadata, at, cassette.clock.today(), requests)


def _changed(cassette: CassetteState) -> Iterator[str]:
    """Yields requests that got the answer of a different body. If bodies are not compared, nothing else
    reports this.
    """
    if cassette.index is None:
        return
    strict = replace(cassette.index.match, body=True)
    for number, request, recorded in cassette.loosely_matched:
        now, then = RequestKey(strict, request), RequestKey(strict, recorded)
        if now.digest != then.digest:
            yield f"request {number} is not the one that was recorded: {next(changes(then, now))}"
