"""One exchange, in the many ways it is written down, as one value."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ..exchange import Json

__all__ = ["Recording", "entry", "har_entry", "is_entry"]


@dataclass(frozen=True)
class Recording:
    """One exchange of a file. `place` is its JSON pointer there, or its line.

    `body` is None where the recorder did not keep it, `status` None where there is no answer. `response` is the
    answer's bytes, content-decoded, `answered` its headers. `when` is the day of the recording, where the file tells.
    """

    place: str
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    status: int | None = None
    response: bytes = b""
    answered: Mapping[str, str] = field(default_factory=dict)
    when: date | None = None


def is_entry(value: Any) -> bool:
    """Whether a value looks like one exchange: a request with a URL."""
    request = value.get("request", value) if isinstance(value, dict) else None
    return isinstance(request, dict) and isinstance(request.get("uri") or request.get("url"), str)


def entry(value: Json, place: str) -> Recording:
    """The exchange that a recorder, any but HAR's, wrote down."""
    request = value.get("request", value)
    response = value.get("response") or {}
    headers = _headers(response.get("headers"))
    return Recording(
        place=place,
        method=str(request.get("method") or "POST").upper(),
        url=str(request.get("uri") or request.get("url")),
        headers=_headers(request.get("headers")),
        body=_body(request),
        status=_status(response),
        response=_plain(_body(response) or b"", headers),
        answered=headers,
        when=_day(value.get("recorded_at") or value.get("captured_at") or headers.get("date")),
    )


def har_entry(value: Json, place: str) -> Recording:
    """The exchange of a HAR file."""
    request, response = value.get("request") or {}, value.get("response") or {}
    posted, content = request.get("postData") or {}, response.get("content") or {}
    return Recording(
        place=place,
        method=str(request.get("method") or "POST").upper(),
        url=str(request.get("url") or ""),
        headers=_har_headers(request),
        body=_har_text(posted),
        status=response.get("status") or None,
        response=_har_text(content) or b"",
        answered=_har_headers(response),
        when=_day(value.get("startedDateTime")),
    )


def _har_headers(message: Json) -> dict[str, str]:
    return {str(pair.get("name")).lower(): str(pair.get("value")) for pair in message.get("headers") or []}


def _headers(value: Any) -> dict[str, str]:
    """Header names in lower case; of several values, all, joined."""
    pairs = value.items() if isinstance(value, dict) else ()
    return {
        str(name).lower(): ", ".join(map(str, given)) if isinstance(given, list) else str(given)
        for name, given in pairs
    }


def _status(response: Json) -> int | None:
    value = response.get("status")
    if isinstance(value, dict):
        value = value.get("code") or value.get("status_code")
    code = value if isinstance(value, int) else response.get("code") or response.get("status_code")
    return code if isinstance(code, int) and code else None


def _body(message: Json) -> bytes | None:
    """The body of a request or an answer, under whatever key: parsed, text, bytes or base64."""
    if message.get("parsed_body") is not None:
        return _json(message["parsed_body"])
    for key in ("body", "text", "body_text"):
        if message.get(key) is not None:
            return _bytes(message[key])
    return b64decode(message["body_base64"]) if message.get("body_base64") else None


def _bytes(value: Any) -> bytes | None:
    match value:
        case bytes() | None:
            return value
        case str():
            return value.encode(errors="surrogatepass")
        case {"base64_string": str(text)} | {"base64": str(text)} | {"b64": str(text)}:
            return b64decode(text)
        case {"string": inner, **more} if more.keys() <= {"encoding"}:
            return _bytes(inner)
        case {"json": inner, **more} if more.keys() <= {"b64", "canonical_json"}:
            return _json(inner)
        case _:
            return _json(value)


def _json(value: Any) -> bytes:
    return json.dumps(value, default=str).encode()


def _har_text(content: Json) -> bytes | None:
    text = content.get("text")
    if not isinstance(text, str):
        return None
    return b64decode(text) if content.get("encoding") == "base64" else text.encode(errors="surrogatepass")


def _plain(body: bytes, headers: Mapping[str, str]) -> bytes:
    """Without the gzip that some recorders keep."""
    zipped = body.startswith(b"\x1f\x8b") and "gzip" in headers.get("content-encoding", "gzip")
    try:
        return gzip.decompress(body) if zipped else body
    except (OSError, EOFError):
        return body


def _day(value: Any) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    text = str(value or "")
    try:
        if re.match(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text[:10])
        return parsedate_to_datetime(text).date() if text else None
    except ValueError:
        return None
