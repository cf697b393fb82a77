"""The requests of a recording and what the API made of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import date, timedelta
from hashlib import sha256
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from ..contract import readers, rules
from ..contract.error_bodies import ApiError, read_error
from ..contract.exchange import Request
from ..contract.readers.invoke_model_and_cloudflare import hosted
from ..contract.retired_models import shutdown
from .recording_files import Recording
from .refusal_causes import VISIBLE, cause_of

# --- Requests --------------------------------------------------------------------------------------------


#: Other formats at their own paths, and other versions of an API.
HOSTED = ("bedrock-invoke", "cloudflare-run", "cohere-v1", "gemini-interactions")


@dataclass(frozen=True)
class Skip:
    """The reason why a recorded request is not judged."""

    reason: str


def request_of(recording: Recording) -> Request | Skip:
    """Returns the request of a recording."""
    wire = _wire_of(recording)
    if isinstance(wire, Skip):
        return wire
    if not recording.body:
        return Skip("the body was not recorded")
    try:
        found = _hosted(wire, recording) if wire in HOSTED else _truly(_plain(recording))
    except ValueError:
        return Skip("the body is not a JSON object")
    return found if isinstance(found, Skip) or found.when else replace(found, when=_last_day(found))


def _last_day(request: Request) -> date | None:
    """Returns the last day on which the model answered. A recording without a date is judged as of that day."""
    day = shutdown(urlsplit(request.url).hostname or "", request.model)
    return day - timedelta(days=1) if day and day <= date.today() else None  # noqa: DTZ011 - a provider's day


def _wire_of(recording: Recording) -> str | Skip:
    if not recording.url:
        return Skip("a line without an exchange")
    try:
        found = readers.detect(recording.url, None, recording.headers)
    except ValueError:  # urlsplit's, for a host that is none: https://[x]/
        return Skip("the URL is malformed")
    if found is None:
        return Skip("not a chat request")
    wire, provider = found
    known = wire in (*rules.WIRES, *HOSTED) and (wire != "cohere-v1" or provider == "cohere")
    return wire if known else Skip(f"there are no rules for {wire} yet")


def _plain(recording: Recording) -> Request:
    method, url, headers = recording.method, recording.url, recording.headers
    return readers.request(method, url, headers, recording.body or b"", when=recording.when)


def _hosted(wire: str, recording: Recording) -> Request | Skip:
    """Returns the inner request, in the format of the model's maker."""
    body = json.loads(recording.body or b"")
    if not isinstance(body, dict):
        return Skip("the body is not a JSON object")
    found = hosted(wire, recording.url, body)
    if isinstance(found, str):
        return Skip(found)
    stream = "stream" in urlsplit(recording.url).path or body.get("stream") is True
    method, headers, when = recording.method, recording.headers, recording.when
    return Request(found[0], found[1], body, recording.url, method, headers, found[2], stream, when)


def _truly(request: Request) -> Request:
    """Returns the request with the actual provider, because a recorder may have written the name of another server.

    OpenAI has no model named `owner/model`. A server that answers for one under OpenAI's host is another server. So is one
    whose host the recorder left out.
    """
    foreign = not request.provider or (
        request.provider == "openai" and re.fullmatch(r"[\w.-]+/[\w.-]+", request.model)
    )
    return replace(request, provider="compatible") if foreign else request


# --- Refusals behind a 200 -------------------------------------------------------------------------------


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
