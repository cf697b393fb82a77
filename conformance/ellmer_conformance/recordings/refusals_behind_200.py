"""Tells whether an API accepted or refused a recorded request, for any status.

Some APIs send status 200 before they check the request, and report the refusal in the stream or in the body.
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
    """Returns the correct status of the answer: 400 if a request was refused with status 200."""
    found = refusal(recording)
    return found.status if found else recording.status


def refusal(recording: Recording) -> ApiError | None:
    """Returns the error of a refused request. Returns `None` if it was accepted, or if there is no answer."""
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
    """Returns a key that is equal for equal requests that were accepted, or refused with the same text, in any file."""
    error = refusal(recording)
    words = error.stable if error else ""
    return sha256(f"{recording.url}\n{words}\n".encode() + (recording.body or b"")).hexdigest()


def _beginning(body: bytes) -> Any:
    """Returns the beginning of an answer if it may be an error: a whole JSON body, or the first event or line of a
    stream.
    """
    line = next((line for line in BytesIO(body) if line.startswith((b"data:", b"{"))), b"")
    for text in (line.removeprefix(b"data:"), body):
        if b'"error"' in text[:2000]:
            try:
                return json.loads(text)
            except ValueError:
                continue
    return None
