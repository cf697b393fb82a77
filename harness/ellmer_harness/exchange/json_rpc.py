"""JSON-RPC 2.0: a client numbers its requests, and the answer has the number of its request.

The number depends on what was sent before, so requests are compared without it (`cassette/request_key.py`). An answer that is
replayed gets the number of the request that it answers. MCP's progress tokens are such numbers, too.

https://www.jsonrpc.org/specification#request_object
https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .reply import Reply, cut, event_sizes

_LINES = re.compile(
    r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$"
)  # `splitlines()` also cuts at letters that JSON may contain


def message_of(body: bytes) -> dict[str, Any] | None:
    """Returns the JSON-RPC message in a body, or None if there is none."""
    if b'"jsonrpc"' not in body:
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and value.get("jsonrpc") == "2.0" else None


def renumbered(reply: Reply, recorded: bytes, asked: bytes) -> Reply:
    """Returns a recorded answer with the number of the request that is asked now.

    Args:
        reply: The recorded answer.
        recorded: The body of the recorded request.
        asked: The body of the request of this run.
    """
    new = message_of(asked)
    old = message_of(recorded) if new and "id" in new else None
    if new is None or old is None or old.get("id") == new["id"]:
        return reply

    def change(text: str) -> str:
        return _readdressed(text, old["id"], new["id"])

    body = _each(reply.body.decode("utf-8", "surrogateescape"), reply.content_type, change)
    data = body.encode("utf-8", "surrogateescape")
    headers = [(name, str(len(data)) if name == "content-length" else value) for name, value in reply.headers]
    return replace(reply, headers=headers, pieces=cut(data, event_sizes(data, reply.content_type)))


def _each(body: str, content_type: str, change: Callable[[str], str]) -> str:
    """Changes each message of a body: of an event stream its data, of lines of JSON each line, else the body."""
    if "event-stream" not in content_type and "ndjson" not in content_type:
        return change(body)
    return "".join(_line(line, change) for line in _LINES.findall(body))


def _line(line: str, change: Callable[[str], str]) -> str:
    text = line.rstrip("\r\n")
    start = len(text) - len(text.removeprefix("data:").lstrip())
    return text[:start] + change(text[start:]) + line[len(text) :]


def _readdressed(text: str, old: Any, new: Any) -> str:
    value = message_of(text.encode())
    if value is None:
        return text
    params = value.get("params")
    if "method" not in value and value.get("id") == old:
        value["id"] = new
    elif isinstance(params, dict) and params.get("progressToken") == old:
        params["progressToken"] = new
    else:
        return text
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
