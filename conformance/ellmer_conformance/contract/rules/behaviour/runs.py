"""Whether there is anything to judge."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed_run import Run
from ...rule import Finding
from ._rulebook import LOSS, MUST, book, found


@book.rule("RUN-001", MUST, LOSS, source="a test that cannot fail proves nothing")
def plays_can_be_judged(run: Run) -> Iterator[Finding]:
    """A case is played to its end: the session opens and closes, and its requests are seen on the wire.

    Why: an adapter that opens no socket, or goes past the harness, would break no rule.
    How to fix: send through httpx (or httpx2), to the base URL the session was given; raise from `send`, not
    from `session`, `transcript` or `close`.
    """
    yield found(not run.trouble, "/trouble", run.trouble.text if run.trouble else "")
