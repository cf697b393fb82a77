"""HAR files (http://www.softwareishard.com/blog/har-12-spec/), as browsers and proxies write them.

Bodies have no content-encoding there, but the headers still name it. An entry without an answer has the
status 0, and Chrome's `_error` gives the reason.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ...exchange.messages import Headers
from ..interaction import Interaction, beside, encoded, value_of
from ..untrusted_files import bounded_json
from .vcr import moment

Json = dict[str, Any]
_CHARSET = re.compile(r"charset=\"?([\w-]+)")
_FAILURES = {
    "NAME_NOT_RESOLVED": "ConnectError",
    "CONNECTION_TIMED_OUT": "ConnectTimeout",
    "TIMED_OUT": "ReadTimeout",
}


def is_http(value: Json) -> bool:
    """Tells whether an entry is an exchange over HTTP. Browsers log web sockets, extensions and inlined data,
    too.
    """
    url = str((value.get("request") or {}).get("url"))
    return url.startswith(("http://", "https://")) and value.get("_resourceType") != "websocket"


def har_entry(value: Json, place: str, folder: Path) -> Interaction:
    """Returns the exchange. `folder` is that of the file, because Playwright puts bodies into separate files."""
    request, response = value.get("request") or {}, value.get("response") or {}
    headers, content = _headers(response), response.get("content") or {}
    status = response.get("status") or None
    error = str(response.get("_error") or value.get("_error") or "")
    return Interaction(
        place=place,
        method=str(request.get("method") or "POST").upper(),
        url=str(request.get("url") or "").partition("#")[0],
        sent=_headers(request),
        body=_posted(request, folder),
        status=0 if status is None and error else status,
        reason=str(response.get("statusText") or ""),
        headers=headers,
        content=_text(content, value_of(headers, "content-type") or str(content.get("mimeType")), folder),
        when=moment(value.get("startedDateTime")),
        error=None if status or not error else {"error": _failure(error), "message": error},
    )


def _headers(message: Json) -> Headers:
    pairs = [(str(each.get("name")).lower(), str(each.get("value"))) for each in message.get("headers") or []]
    return [
        (name, value) for name, value in pairs if not name.startswith(":")
    ]  # HTTP/2 has method and path there


def _posted(request: Json, folder: Path) -> bytes | None:
    posted = request.get("postData")
    if not posted:
        return None if request.get("bodySize", 0) > 0 else b""
    fields, urlencoded = posted.get("params") or [], "urlencoded" in str(posted.get("mimeType"))
    if not posted.get("text") and fields and urlencoded:
        return urlencode([(each.get("name", ""), each.get("value", "")) for each in fields]).encode()
    return _text(posted, str(posted.get("mimeType")), folder)


def _text(content: Json, content_type: str, folder: Path) -> bytes | None:
    """Returns the body. Text is encoded with the charset of the content type."""
    text = content.get("text")
    if isinstance(content.get("_file"), str):
        return beside(folder, content["_file"])
    if not isinstance(text, str):
        return None
    if content.get("encoding") != "base64":
        charset = _CHARSET.search(content_type)
        return encoded(text, charset[1] if charset else "utf-8")
    # Polly.JS writes chunk by chunk.
    pieces = json.loads(bounded_json(text)) if text.startswith("[") else [text]
    return b"".join(map(b64decode, pieces))


def _failure(error: str) -> str:
    """Returns the client exception that is closest to a browser's error."""
    return next((ours for theirs, ours in _FAILURES.items() if theirs in error), "ConnectError")
