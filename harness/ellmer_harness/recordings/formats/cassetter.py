"""Reads what only cassetter writes: TOML, conversations over WebSockets, and calls of gRPC (https://github.com/Kludex/cassetter).

A conversation is a GET with the status 101, and a call a POST, as in our own cassettes. cassetter keeps no server of a call, so that
its address is `grpc://unknown`.
"""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from ...format.binary_messages import compact, form
from ..interaction import Interaction, body_of
from .vcr import entry, moment

Json = dict[str, Any]
_LINES = ("content-type", "application/x-ndjson")
_CODES = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
]


def of_cassetter(value: Json, folder: Any) -> Iterator[Interaction]:
    """Yields the interactions of a cassette: HTTP, WebSockets and gRPC."""
    for at, item in enumerate(value.get("interactions", [])):
        yield entry(
            {**item, **{side: _typed(item[side]) for side in ("request", "response")}},
            f"/interactions/{at}",
            folder,
        )
    for at, item in enumerate(value.get("ws_interactions") or []):
        yield _conversation(item, f"/ws_interactions/{at}", folder)
    for at, item in enumerate(value.get("grpc_interactions") or []):
        yield _call(item, f"/grpc_interactions/{at}", folder)


def _typed(message: Json) -> Json:
    """Returns a message of TOML in the form of YAML. Its JSON is text."""
    if "body_type" not in message:
        return message
    kind, content = message["body_type"], message.get("body_content")
    return {**message, "body": {"type": "text" if kind == "json" else kind, "content": content}}


def _pairs(headers: Any) -> list[tuple[str, str]]:
    return [(name.lower(), str(value)) for name, values in (headers or {}).items() for value in values]


def _lines(lines: list[Json]) -> bytes:
    return b"".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines
    )


def _conversation(item: Json, place: str, folder: Any) -> Interaction:
    sent = _pairs(item.get("headers"))
    chosen = [pair for pair in sent if pair[0] == "sec-websocket-protocol"]
    return Interaction(
        place,
        "GET",
        item["uri"],
        sent=[pair for pair in sent if pair not in chosen],
        body=b"",
        status=101,
        reason="Switching Protocols",
        headers=[_LINES, *chosen],
        content=_lines([_frame(frame, folder) for frame in item.get("frames") or []]),
        when=moment(item.get("recorded_at")),
    )


def _frame(frame: Json, folder: Any) -> Json:
    data = body_of(frame, folder) or b""
    if frame["frame_type"] == "close":
        reason = data[2:].decode()
        return {"closed": struct.unpack(">H", data[:2])[0]} | ({"reason": reason} if reason else {})
    direction = "sent" if frame["direction"] == "send" else "received"
    if frame["frame_type"] == "binary":
        return {f"{direction}_base64": b64encode(data).decode()}
    return {direction: data.decode()}


def _call(item: Json, place: str, folder: Any) -> Interaction:
    asked, answer = item["request"], item["response"]
    sent, received = (body_of(message, folder) or b"" for message in (asked, answer))
    requests = _messages(sent)
    heard = [{"sent": form(each)} for each in requests or ()] + [{"half_closed": True}] * (
        requests is not None
    )
    end: Json = {"status": _CODES[answer["status_code"]]}
    end |= {"details": answer["status_message"]} if answer["status_code"] else {}
    answers = [] if answer["status_code"] else _messages(received) or [received]
    return Interaction(
        place,
        "POST",
        f"grpc://unknown{asked['method']}",
        sent=[("content-type", "application/grpc"), *_pairs(asked.get("metadata"))],
        body=b"" if requests is not None else compact(form(sent)),
        status=200,
        reason="OK",
        headers=[_LINES],
        content=_lines([*heard, *({"received": form(each)} for each in answers), end]),
        when=moment(item.get("recorded_at")),
    )


def _messages(data: bytes) -> list[bytes] | None:
    """Returns the messages of a stream, which have their lengths before them; `None` for a single message."""
    found: list[bytes] = []
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4])
        if at + 4 + size > len(data):
            return None
        found.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    return found or None
