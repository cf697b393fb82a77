"""From a recorded exchange to the request that rules judge, or the reason why there is none to judge."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from . import rules, wires
from .exchange import Request
from .recordings import Recording

__all__ = ["Skip", "request_of"]


@dataclass(frozen=True)
class Skip:
    """Why a recorded request is not judged."""

    reason: str


def request_of(recording: Recording) -> Request | Skip:
    """The request of a recording."""
    if not recording.url:
        return Skip("a line without an exchange")
    found = wires.detect(recording.url, None, recording.headers)
    if found is None:
        return Skip("no chat request")
    if found[0] not in rules.WIRES:
        return Skip(f"there are no rules for {found[0]} yet")
    if not recording.body:
        return Skip("the body was not recorded")
    method, url, headers = recording.method, recording.url, recording.headers
    try:
        return _truly(wires.request(method, url, headers, recording.body, when=recording.when))
    except ValueError:
        return Skip("the body is no JSON object")


def _truly(request: Request) -> Request:
    """The request with the vendor that really answered: a recorder may have written another server's name.

    No model of OpenAI's is named `owner/model`: what answers to that under its host is a server of one's own.
    """
    foreign = request.vendor == "openai" and re.fullmatch(r"[\w.-]+/[\w.-]+", request.model)
    return replace(request, vendor="compatible") if foreign else request
