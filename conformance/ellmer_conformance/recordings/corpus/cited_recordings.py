"""Checks the recordings that rules cite as evidence: whether they exist, and whether they show the refusal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ...contract import rules
from ..calibrate import agrees
from ..recorded_requests import Skip, refusal, request_of
from ..recording_files import Recording, Unreadable, read
from .cache import folder_of, present
from .evidence import Citation, citations
from .pins import Pin

__all__ = ["checked", "exchange", "recorded"]

_LONG = 4000  # characters of a body that are shown


def checked(pins: Iterable[Pin]) -> tuple[int, list[str]]:
    """Returns the number of cited recordings in the cache, and those that do not show the cited refusal."""
    here = {pin.name: pin for pin in pins if present(pin)}
    found = [each for each in citations() if each[3].pin in here]
    wrong = [problem for each in found if (problem := _problem(here, *each))]
    return len(found), wrong


def _problem(pins: Mapping[str, Pin], wire: str, provider: str, rule: str, cited: Citation) -> str:
    where = f"{cited.pin} {cited.member} {cited.place}, which {rule} of {wire} at {provider} cites,"
    recording = recorded(pins[cited.pin], cited)
    if recording is None:
        return f"{where} is not there."
    request, error = request_of(recording), refusal(recording)
    if isinstance(request, Skip) or error is None:
        return f"{where} is not a refused request."
    book = rules.book(request.wire, request.provider)
    if (request.wire, book.provider) != (wire, provider):
        return f"{where} went to {request.wire} at {book.provider}."
    violations = [v for verdict in book.judge(request) for v in verdict.violations if verdict.rule.id == rule]
    return "" if agrees(violations, request, error) else f"{where} is not flagged by it with the same words."


def recorded(pin: Pin, cited: Citation) -> Recording | None:
    """Returns the cited recording from the cache, or `None` if it is missing."""
    path = folder_of(pin) / cited.member
    try:
        return next((each for each in read(path) or () if each.place == cited.place), None)
    except Unreadable:
        return None


def exchange(recording: Recording) -> str:
    """Returns the exchange in readable form."""
    lines = [f"{recording.method} {recording.url}", _text(recording.body or b""), ""]
    return "\n".join([*lines, f"{recording.status}", _text(recording.response)])


def _text(body: bytes) -> str:
    try:
        text = json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except ValueError:
        text = body.decode("utf-8", "replace")
    return text if len(text) <= _LONG else f"{text[:_LONG]}… ({len(text)} characters)"
