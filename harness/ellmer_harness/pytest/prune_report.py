"""A report of what a pytest run did not use, for `ellmer-harness prune`.

The report is `{"unused": {path: ["#3 POST https://…"]}, "orphans": [path]}`. It lists a cassette only if
every test that opened it passed, or failed only because of unused interactions.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path

from ..format.files import replace_file
from ..tape.run_verdict import Verdict

__all__ = ["left_over", "write_report"]


def left_over(verdicts: Iterable[tuple[str, Verdict]], failed: Collection[str]) -> dict[str, list[str]]:
    """Returns the cassettes with the interactions that none of their tests requested. `failed` names the
    tests that stopped early.
    """
    together: dict[str, list[tuple[str, Verdict]]] = {}
    for name, one in verdicts:
        together.setdefault(one.path, []).append((name, one))
    sure = {
        path: set[str].intersection(*(set(one.left) for _, one in shared))
        for path, shared in together.items()
        if all(one.state in ("played", "unused") and name not in failed for name, one in shared)
    }
    return {path: sorted(left) for path, left in sure.items() if left}


def write_report(path: Path, unused: dict[str, list[str]], orphans: Iterable[Path]) -> None:
    """Writes the report."""
    found = {"unused": unused, "orphans": sorted(map(str, orphans))}
    replace_file(path, json.dumps(found, indent=2, ensure_ascii=False) + "\n")
