"""Summarizes the recorded conversations of a run: counts for each wire format, and reasons why some were not played."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ...contract.live_key_redaction import redacted
from .conversation_player import Outcome

__all__ = ["Summary"]

_COLUMNS = ("recorded", "not driven", "played", "real", "same words", "requests")
_REASONS = 12  # that are printed; the file has all
_DIFFERENCES = 5


@dataclass
class Summary:
    """The outcomes of one adapter. A conversation counts as `real` if every rule is kept, and as `same` if each
    request also equals the accepted one in its place.
    """

    adapter: str
    outcomes: list[Outcome] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def counts(self) -> dict[str, dict[str, int]]:
        """Returns counts by `adapter wire`: conversations that were recorded, played, kept and the same, and judged
        requests.
        """
        found: dict[str, dict[str, int]] = {}
        for outcome in self.outcomes:
            name = f"{self.adapter} {outcome.wire}"
            counts = found.setdefault(
                name, dict.fromkeys(("recorded", "played", "kept", "same", "requests"), 0)
            )
            counts["recorded"] += 1
            if outcome.run:
                counts["played"] += 1
                counts["kept"] += outcome.kept
                counts["same"] += outcome.kept and not any(outcome.differences)
                counts["requests"] += len(outcome.run.exchanges)
        return dict(sorted(found.items()))

    def print(self, to: Console) -> None:
        """Prints the table, the reasons, and the first differences."""
        table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
        table.add_column("wire format", no_wrap=True)
        for column in _COLUMNS:
            table.add_column(column, justify="right", no_wrap=True)
        for name, counts in self.counts().items():
            table.add_row(name.partition(" ")[2], *_cells(counts))
        to.print(
            f"{self.adapter}, played with the recorded answers of providers", style="italic", soft_wrap=True
        )
        to.print(table)
        for line in self._lines():
            to.print(line, style="dim", highlight=False, markup=False, soft_wrap=True)

    def _lines(self) -> Iterator[str]:
        reasons = Counter(outcome.not_driven for outcome in self.outcomes if outcome.not_driven)
        for reason, count in reasons.most_common(_REASONS):
            yield f"not driven {count:5}  {redacted(reason)[:200]}"
        if len(reasons) > _REASONS:
            rest = sum(count for _, count in reasons.most_common()[_REASONS:])
            yield f"not driven {rest:5}  for {len(reasons) - _REASONS} other reasons, in real.json of the report"
        for reason, count in self.left_out.most_common(_REASONS):
            yield f"not read   {count:5}  {redacted(reason)[:200]}"
        differing = [outcome for outcome in self.outcomes if any(outcome.differences)]
        for outcome in differing[:_DIFFERENCES]:
            first = next(filter(None, outcome.differences))
            yield f"other words in {outcome.conversation.name} [{outcome.wire}]: {redacted(first)}"
        if len(differing) > _DIFFERENCES:
            yield f"other words in {len(differing) - _DIFFERENCES} conversations more, in real.json of the report"

    def write(self, folder: Path) -> Path:
        """Writes `real.json`: every conversation with its outcome."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "real.json"
        value = {
            "version": 1,
            "adapter": self.adapter,
            "counts": self.counts(),
            "left_out": dict(self.left_out.most_common()),
            "conversations": [_outcome(each) for each in self.outcomes],
        }
        path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", "utf-8", "backslashreplace")
        return path


def _cells(counts: dict[str, int]) -> Sequence[str]:
    played = counts["played"]
    kept, same = f"{counts['kept']}/{played}", f"{counts['same']}/{played}"
    not_driven = counts["recorded"] - played
    return [str(counts["recorded"]), str(not_driven), str(played), kept, same, str(counts["requests"])]


def _outcome(outcome: Outcome) -> dict[str, object]:
    found: dict[str, object] = {
        "name": outcome.conversation.name,
        "wire": outcome.wire,
        "provider": outcome.provider,
    }
    if outcome.not_driven:
        return {**found, "not_driven": redacted(outcome.not_driven)}
    broken = [
        f"{v.rule.id} at {v.violations[0].pointer}: {redacted(v.violations[0].message)}"
        for v in outcome.broken
    ]
    return {**found, "broken": broken, "differences": [redacted(each) for each in outcome.differences]}
