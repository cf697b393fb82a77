"""What a run did with its cassette, in one word and a few numbers; and the table of many such verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

__all__ = ["State", "Verdict", "stale", "table"]

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


def stale(ours: Mapping[str, Any], max_age: float | None) -> str:
    """Why a recording counts as stale, from its own note of when it was made; `""` if it does not."""
    made = ours.get("recorded_at")
    if max_age is None or not made:
        return ""
    age = datetime.now(UTC) - datetime.fromisoformat(str(made))
    return f"recorded {age.days} days ago" if age.days > max_age else ""


def table(verdicts: Iterable[tuple[str, Verdict]], orphans: Iterable[str] = ()) -> Iterator[str]:
    """Lines for the terminal: the sums, then one line for whatever a person may want to look at."""
    found = list(verdicts)
    sums = Counter(verdict.state for _, verdict in found)
    yield ", ".join(f"{count} {state}" for state, count in sorted(sums.items()))
    for name, verdict in found:
        for state in [verdict.state] * (verdict.state in _WORTH_A_LINE) + ["stale"] * bool(verdict.stale):
            why = f" ({verdict.stale})" if state == "stale" else ""
            yield f"{state.upper():9}{name}  {verdict.path}{why}"
    for path in orphans:
        yield f"{'ORPHAN':9}{path}: no test of this run used it"
