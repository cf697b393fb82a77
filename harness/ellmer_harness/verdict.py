"""What a run did with its cassette, in one word and a few numbers; and the table of many such verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from .errors import NotIntercepted, Unused

if TYPE_CHECKING:
    from .tape import Tape

__all__ = ["Verdict", "hold_to_account", "table", "verdict"]

State = Literal["played", "recorded", "unused", "missed", "idle", "failed", "live"]
_WORTH_A_LINE = ("recorded", "unused", "missed", "idle", "failed")


@dataclass(frozen=True)
class Verdict:
    """`state` is the worst that happened; `stale` says why the recording is too old, or `""`."""

    path: str
    mode: str
    state: State
    recorded_from: str
    played: int = 0
    recorded: int = 0
    unused: int = 0
    missed: int = 0
    stale: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values, to travel between processes."""
        return asdict(self)


def verdict(tape: Tape) -> Verdict:
    """The verdict on a tape, as things stand."""
    played = sum(exchange.played for exchange in tape.exchanges)
    unused = len(tape.unused())
    return Verdict(
        path=str(tape.path),
        mode=tape.mode,
        state=_state(tape, unused),
        recorded_from=tape.recorded_from,
        played=played,
        recorded=len(tape.exchanges) - played if tape.records else 0,
        unused=unused,
        missed=len(tape.misses),
        stale="; ".join(_stale(tape)),
    )


def hold_to_account(tape: Tape) -> None:
    """Raises `NotIntercepted` or `Unused` if a run that went well did not do what its cassette says."""
    if not tape.sent and not tape.allow_idle:
        raise NotIntercepted(
            f"the run ended without one request to cassette {tape.path}: its client is not httpx or httpx2, has a "
            "transport of its own, or nothing was asked. (allow_idle=True permits that.)"
        )
    left = [] if tape.allow_unused or tape.mode == "append" else tape.unused()
    if left:
        raise Unused(
            f"{len(left)} recorded interactions of {tape.path} were not asked for:\n  "
            + "\n  ".join(left[:10])
            + "\nRecord again if the code asks less than it did; allow_unused=True permits it."
        )


def _state(tape: Tape, unused: int) -> State:
    if tape.misses:
        return "missed"
    if tape.mode == "live":
        return "live"
    if not tape.sent:
        return "idle"
    if tape.records and not all(exchange.played for exchange in tape.exchanges):
        return "failed" if tape.failed else "recorded"
    return "unused" if unused and not tape.allow_unused else "played"


def _stale(tape: Tape) -> Iterator[str]:
    """Why the recording is too old, by its own note of when it was made and by the tape's policies."""
    if tape.deck is None or not tape.replays:
        return
    made = tape.deck.provenance.get("recorded_at")
    if tape.max_age is not None and made:
        age = datetime.now(UTC) - datetime.fromisoformat(made)
        if age.days > tape.max_age:
            yield f"recorded {age.days} days ago"
    yield from filter(None, (policy(tape.deck.metadata) for policy in tape.policies))


def table(verdicts: Iterable[tuple[str, Verdict]], orphans: Iterable[str] = ()) -> Iterator[str]:
    """Lines for the terminal: the sums, then one line for whatever a person may want to look at."""
    found = list(verdicts)
    sums = Counter(one.state for _, one in found)
    yield ", ".join(f"{count} {state}" for state, count in sorted(sums.items()))
    for name, one in found:
        for state in [one.state] * (one.state in _WORTH_A_LINE) + ["stale"] * bool(one.stale):
            why = f" ({one.stale})" if state == "stale" else ""
            yield f"{state.upper():9}{name}  {one.path}{why}"
    for path in orphans:
        yield f"{'ORPHAN':9}{path}: no test of this run used it"
