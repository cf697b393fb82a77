"""Parses a recorded answer, and tells whether it is complete, truncated or an error."""

from __future__ import annotations

import json

from ...contract.provider_answers.answer import Told, events_of
from ...contract.provider_answers.joined_streams import folded
from ...contract.provider_answers.whole_answers import read
from ...contract.readers.json_access import items_of, object_of, text_of
from .adapter_input import CannotBeGiven
from .conversations import Recorded

__all__ = ["fails", "is_cut", "told_by"]

_FAILURES = {"error", "response.failed"} | {
    f"{name}Exception"
    for name in ("internalServer", "modelStreamError", "validation", "throttling", "serviceUnavailable")
}


def told_by(recorded: Recorded) -> Told:
    """Returns the content of an answer. Raises CannotBeGiven if it cannot be read."""
    request, recording = recorded.request, recorded.recording
    if fails(recorded):
        return Told()
    if request.stream and b"[DONE]" in recording.response and not _says_why(recorded):
        raise CannotBeGiven("a stream ends without a stop reason")
    if b'"tool_search_call"' in recording.response:
        raise CannotBeGiven("the provider searches the tools itself")
    if request.wire == "anthropic" and not request.stream and _unpaired(recording.response):
        raise CannotBeGiven("the recorder replaced the ids of the provider's own calls")
    if request.stream:
        return folded(request.wire, events_of(request.wire, recording.response))
    try:
        return read(request.wire, json.loads(recording.response))
    except ValueError as error:
        raise CannotBeGiven("the answer is not JSON") from error


def is_cut(recorded: Recorded, answer: Told) -> bool:
    """Tells whether the answer has no stop reason, which a stream must have, or no content."""
    return answer.stop is None and (recorded.request.stream or not (answer.text or answer.calls))


def _says_why(recorded: Recorded) -> bool:
    wire = recorded.request.wire
    return folded(wire, events_of(wire, recorded.recording.response)).stop is not None


def fails(recorded: Recorded) -> bool:
    """Tells whether the provider answered with an error, also with status 200 or inside a stream."""
    recording = recorded.recording
    if (recording.status or 0) >= 300:
        return True
    if recorded.request.stream:
        events = events_of(recorded.request.wire, recording.response)
        return any(event.name in _FAILURES or _is_error(event.data) for event in events)
    try:
        return _is_error(json.loads(recording.response))
    except ValueError:
        return False


def _is_error(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    inside = [value, object_of(value.get("delta")), *map(object_of, items_of(value.get("choices")))]
    return any(each.get("error") for each in inside) or text_of(value.get("type")) in _FAILURES


def _unpaired(response: bytes) -> bool:
    """Tells whether a result of a provider's own tool has the id of none of its calls."""
    try:
        blocks = [*map(object_of, items_of(object_of(json.loads(response)).get("content")))]
    except ValueError:
        return False
    made = {block.get("id") for block in blocks}
    return any("tool_use_id" in block and block["tool_use_id"] not in made for block in blocks)
