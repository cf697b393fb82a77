"""Tells whether an API accepted or refused a recorded request, whatever the status says.

Some send a status of 200 before they look at the request, and say in the stream, or in the body, that they refuse it.
"""

from __future__ import annotations

import json
from hashlib import sha256
from io import BytesIO
from typing import Any

from ..contract.error_bodies import ApiError, read_error
from .recording_files import Recording
from .refusal_causes import VISIBLE, cause_of

__all__ = ["identity", "refusal", "status_of"]


def status_of(recording: Recording) -> int | None:
    """Returns the status that the answer should have had: 400 where a request was refused behind one of 200."""
    found = refusal(recording)
    return found.status if found else recording.status


def refusal(recording: Recording) -> ApiError | None:
    """Returns the error that a request was refused with; None where it was taken, and where there is no
    answer.
    """
    status, body = recording.status, recording.response
    if status is None:
        return None
    if status >= 300:
        return read_error(status, body, recording.answered)
    begins = _beginning(body)
    if not isinstance(begins, dict) or not begins.get("error"):
        return None
    error = read_error(400, json.dumps(begins).encode())
    return error if cause_of(error) in VISIBLE else None


def identity(recording: Recording) -> str:
    """Returns the same for the same request that was taken, or refused in the same words, whatever the file."""
    error = refusal(recording)
    words = error.stable if error else ""
    return sha256(f"{recording.url}\n{words}\n".encode() + (recording.body or b"")).hexdigest()


def _beginning(body: bytes) -> Any:
    """Returns what an answer begins with, if that may be an error: a whole JSON body, the first event or line of a stream."""
    line = next((line for line in BytesIO(body) if line.startswith((b"data:", b"{"))), b"")
    for text in (line.removeprefix(b"data:"), body):
        if b'"error"' in text[:2000]:
            try:
                return json.loads(text)
            except ValueError:
                continue
    return None
