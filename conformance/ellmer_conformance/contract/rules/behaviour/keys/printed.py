"""API keys on the console and in logs."""

from __future__ import annotations

from collections.abc import Iterator

from ....observed_run import Run
from ....rule import Finding
from .._rulebook import LOSS, MUST, book, found


@book.rule("AUT-010", MUST, LOSS, source="https://cwe.mitre.org/data/definitions/532.html")
def keys_are_not_printed(run: Run) -> Iterator[Finding]:
    """No API key is printed, and no API key is logged at any level.

    Why: logs are copied to many places. Fix: leave the key out of every repr, and leave headers out of log lines.
    """
    if run.leaks is not None:
        yield found(not run.leaks, "/leaks", f"a key was written to {', '.join(run.leaks)}")
