"""From a recorded exchange to the request that rules judge, or the reason why there is none to judge."""

from __future__ import annotations

from dataclasses import dataclass

from ..contract import readers, rules
from ..contract.exchange import Request
from .reading import Recording

__all__ = ["Skip", "request_of"]


@dataclass(frozen=True)
class Skip:
    """Why a recorded request is not judged."""

    reason: str


def request_of(recording: Recording) -> Request | Skip:
    """The request of a recording."""
    if not recording.url:
        return Skip("a line without an exchange")
    found = readers.detect(recording.url, None, recording.headers)
    if found is None:
        return Skip("no chat request")
    if found[0] not in rules.WIRES:
        return Skip(f"there are no rules for {found[0]} yet")
    if not recording.body:
        return Skip("the body was not recorded")
    method, url, headers = recording.method, recording.url, recording.headers
    try:
        return readers.request(method, url, headers, recording.body, when=recording.when)
    except ValueError:
        return Skip("the body is no JSON object")
