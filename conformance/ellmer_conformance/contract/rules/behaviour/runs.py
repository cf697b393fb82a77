"""Whether a case produced a result that can be judged."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed_run import Run
from ...rule import Finding
from ._rulebook import LOSS, MUST, book, found


@book.rule("RUN-001", MUST, LOSS, source="This project decided it.")
def plays_can_be_judged(run: Run) -> Iterator[Finding]:
    """The case runs to its end: the session opens and closes, and its requests pass through the recorder.

    Why: an adapter whose requests are not seen would pass every rule. Fix: send requests through httpx (or
    httpx2) to the base URL of the session. Raise errors from `send`, not from `session`, `transcript` or
    `close`.
    """
    yield found(not run.trouble, "/trouble", run.trouble.text if run.trouble else "")
