"""Answers with transport errors: truncated, reset, stalled, or not the provider's."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from email.utils import formatdate
from http.client import TOO_MANY_REQUESTS
from typing import Any

from .event_rewriting import each, sizes
from .variation import Variation, VariedAnswer

_DISGUISED = {"error": {"message": "Something went wrong upstream.", "type": "server_error", "code": 500}}
_PAGE = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n"


def cut(event: int) -> Variation:
    """Ends the stream normally after a number of events."""
    told = f"the stream ends after event {event}"
    return Variation(
        f"cut:{event}", "STR-007", lambda it: _until(it, event), "broken", first=True, description=told
    )


def reset(event: int) -> Variation:
    """Resets the connection after a number of events."""
    return Variation(
        f"reset:{event}",
        "STR-011",
        lambda it: replace(_until(it, event), ending="reset"),
        "broken",
        first=True,
        description=f"the connection is reset after event {event}",
    )


def stall(event: int) -> Variation:
    """Sends no more data after a number of events, and keeps the connection open."""
    return Variation(
        f"stall:{event}",
        "ERR-008",
        lambda it: replace(_until(it, event), ending="stall"),
        "broken",
        first=True,
        timed=True,
        description=f"nothing more arrives after event {event}",
    )


def _until(it: VariedAnswer, event: int) -> VariedAnswer:
    return replace(it, writes=it.cut(*sizes(it)).writes[:event])


def _failure(
    name: str, rule: str, status: int, kind: str, body: bytes, *, told: str, **headers: str
) -> Variation:
    def change(it: VariedAnswer) -> VariedAnswer:
        named = {"content-type": kind} | headers
        return replace(it, status=status, headers=named, writes=(body,) if body else ())

    return Variation(name, rule, change, "broken", first=True, streamed=None, description=told)


_WAIT = 3  # seconds


def _date_of_retry(it: VariedAnswer) -> VariedAnswer:
    """Says when to come back as a date, if too many requests were sent. RFC 9110 allows it beside seconds."""
    if it.status != TOO_MANY_REQUESTS:
        return it
    now = time.time()
    kept = {name: value for name, value in it.headers.items() if not name.lower().startswith("retry-after")}
    dates = {"date": formatdate(now, usegmt=True), "retry-after": formatdate(now + _WAIT, usegmt=True)}
    return replace(it, headers=kept | dates)


def _failed_whole(it: VariedAnswer) -> VariedAnswer:
    """Says in a whole answer that it failed, which Responses does under status 200."""
    error = {"code": "server_error", "message": "An error occurred while processing your request."}

    def change(data: Any) -> Any:
        return {**data, "status": "failed", "error": error, "output": [], "usage": None}

    return each(it, change)


FAILURES = (
    Variation(
        "date-of-retry",
        "ERR-001",
        _date_of_retry,
        streamed=None,
        description="the time of the next try is a date",
    ),
    Variation(
        "failed-whole",
        "ERR-007",
        _failed_whole,
        "broken",
        first=True,
        wires=frozenset({"openai-responses"}),
        streamed=False,
        description="the answer has failed, under status 200",
    ),
    _failure("html-502", "ERR-006", 502, "text/html", _PAGE, told="a web page under status 502"),
    _failure("empty-500", "ERR-006", 500, "application/json", b"", told="an empty body under status 500"),
    _failure(
        "text-404", "ERR-006", 404, "text/plain", b"404 page not found", told="a plain text under status 404"
    ),
    _failure("array-400", "ERR-006", 400, "application/json", b"[]", told="an empty list under status 400"),
    _failure("page-200", "ERR-006", 200, "text/html", _PAGE, told="a web page under status 200"),
    _failure(
        "error-200",
        "ERR-007",
        200,
        "application/json",
        json.dumps(_DISGUISED).encode(),
        told="an error under status 200",
    ),
    _failure(
        "moved",
        "AUT-004",
        307,
        "text/plain",
        b"",
        told="a redirect to another host",
        location="https://elsewhere.invalid/v1/chat",
    ),
)
