"""Converts a recorded exchange to the request that rules judge, or gives the reason why it cannot be judged."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from ..contract import readers, rules
from ..contract.exchange import Request
from ..contract.readers.invoke_model_and_cloudflare import hosted
from .recording_files import Recording

__all__ = ["Skip", "request_of"]

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
        return _hosted(wire, recording) if wire in HOSTED else _truly(_plain(recording))
    except ValueError:
        return Skip("the body is not a JSON object")


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
