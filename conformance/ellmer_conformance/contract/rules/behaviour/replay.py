"""Rules that a replay can check: the client sends exactly the recorded requests."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.run import Run
from ...rule import Finding, broken, met
from ._rulebook import LOSS, MUST, book


@book.rule("CAS-01", MUST, LOSS, source="https://github.com/pydantic/pydantic-ai/issues/6993")
def requests_match_the_recording(run: Run) -> Iterator[Finding]:
    """In replay, every request matches a recorded one in method, URL and canonical JSON body.

    Why: a recording that is replayed for any request proves nothing about the request that is sent now. Fix: find the
    first value that differs, and record again if the change is meant.
    """
    for index, miss in enumerate(run.misses):
        yield broken(f"/exchanges/{len(run.exchanges) - len(run.misses) + index}/request", miss)
    if run.replayed and not run.misses:
        yield met("/exchanges")


@book.rule("CAS-02", MUST, LOSS, source="https://vcrpy.readthedocs.io/en/latest/advanced.html")
def recordings_are_played_whole(run: Run) -> Iterator[Finding]:
    """In replay, every recorded interaction is used.

    Why: an answer that was not replayed belongs to a request that the client no longer sends. Fix: record the case
    again, because the client sends fewer requests than it did.
    """
    for unplayed in run.unplayed:
        yield broken("/exchanges", unplayed)
    if run.replayed and not run.unplayed:
        yield met("/exchanges")
