"""Warns of stale recordings: by age, by a policy, or because a request has changed.

Nothing is recorded again here, because that needs a person, and often money.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from ...errors import CassetteError, Stale
from ...exchange.messages import Sent
from ..matching.miss_explanation import changes, command
from ..matching.request_key import RequestKey
from ..tape_state import TapeState
from .older_than_policy import Recording, older_than

__all__ = ["LEVELS", "StaleWarning", "hold_to_date", "reasons"]

LEVELS = ("ignore", "warn", "error")


class StaleWarning(UserWarning):
    """A recording is too old."""


def reasons(tape: TapeState) -> list[str]:
    """Returns the reasons why the recording of this run is stale, as clauses; none if it is not."""
    if tape.index is None or not tape.replays:
        return []
    recording = _recording(tape)
    aged = [] if tape.max_age is None else [older_than(tape.max_age)]
    policies = [*aged, *tape.policies]
    return [*filter(None, (policy(recording) for policy in policies)), *_changed(tape)]


def hold_to_date(tape: TapeState) -> None:
    """Raises `Stale`, or warns, if the recording is stale and the option asks for it."""
    level = tape.stale or os.environ.get("CASSETTE_STALE") or "warn"
    if level not in LEVELS:
        raise CassetteError(f"CASSETTE_STALE is {level!r}; there are {', '.join(LEVELS)}")
    found = [] if level == "ignore" else reasons(tape)
    if not found:
        return
    text = f"cassette {tape.name} is stale: {'; '.join(found)}.\n{command(tape.rerecord)}"
    if level == "error":
        raise Stale(text)
    warnings.warn(text, StaleWarning, stacklevel=4)


def _recording(tape: TapeState) -> Recording:
    index = tape.index
    assert index is not None, "only a tape with an index has a recording"
    made = index.provenance.get("recorded_at")

    def requests() -> Iterator[Sent]:
        for request, _ in index.data[: index.loaded]:
            yield Sent(request.method, request.uri, request.headers, request.body or b"")

    at = datetime.fromisoformat(made) if made else None
    return Recording(tape.path, index.metadata, at, tape.clock.today(), requests)


def _changed(tape: TapeState) -> Iterator[str]:
    """Yields requests that got the answer of a different body. If bodies are not compared, nothing else
    reports this.
    """
    if tape.index is None:
        return
    strict = replace(tape.index.match, body=True)
    for number, request, recorded in tape.loosely_matched:
        now, then = RequestKey(strict, request), RequestKey(strict, recorded)
        if now.digest != then.digest:
            yield f"request {number} is not the one that was recorded: {next(changes(then, now))}"
