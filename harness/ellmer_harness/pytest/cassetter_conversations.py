"""Conversations over WebSockets, between cassetter's form and that of this package's recordings."""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from json import dumps, loads
from typing import Any, Literal

from cassetter import Body, WsFrame, WsInteraction
from cassetter.cassette import Cassette

from ..exchange.reply import Reply
from ..interception.open_cassettes import RequestInFlight

Line = dict[str, Any]
_LINES = {"content-type": ["application/x-ndjson"]}


def played(status: int, lines: list[Line], **headers: list[str]) -> Reply:
    """Returns a reply whose body has these lines."""
    body = b"".join(dumps(line).encode() + b"\n" for line in lines)
    answer = {
        "status": {"code": status, "message": ""},
        "headers": _LINES | headers,
        "body": {"string": body},
    }
    return Reply.recorded(answer)


def lines_of(take: RequestInFlight) -> list[Line]:
    """Returns the lines of the recorded body."""
    return [loads(line) for line in take.exchange.body.splitlines()]


@dataclass(frozen=True)
class Conversation:
    """A conversation over WebSockets."""

    url: str
    headers: dict[str, list[str]] = field(default_factory=dict)

    @staticmethod
    def reply(recorded: WsInteraction) -> Reply:
        """Returns the recorded conversation."""
        chosen = recorded.headers.get("sec-websocket-protocol")
        lines = [_line(frame) for frame in recorded.frames]
        return played(101, lines, **({"sec-websocket-protocol": chosen} if chosen else {}))

    def record(self, cassette: Cassette, expected: Any, take: RequestInFlight) -> None:
        """Records the conversation, or compares it with what is expected in the mode `verify`."""
        headers = dict(self.headers)
        if protocol := take.exchange.header("sec-websocket-protocol"):
            headers["sec-websocket-protocol"] = [protocol]
        frames = [
            _frame(line, at)
            for line, at in zip(lines_of(take), _offsets(take), strict=True)
            if _is_kept(line)
        ]
        cassette.record_ws(self.url, headers, frames, expected)


def _offsets(take: RequestInFlight) -> list[int]:
    """Returns the milliseconds from the beginning to each message."""
    return [int(sum(take.waits[: at + 1]) * 1000) for at in range(len(take.waits))]


def _is_kept(line: Line) -> bool:
    return "closed" not in line or line.get("by") != "client"


def _line(frame: WsFrame) -> Line:
    data = frame.body.content
    if frame.frame_type == "close":
        code, reason = struct.unpack(">H", data[:2])[0], data[2:].decode()
        return {"closed": code} | ({"reason": reason} if reason else {})
    direction = "sent" if frame.direction == "send" else "received"
    if frame.body.body_type == "binary":
        return {f"{direction}_base64": b64encode(data).decode()}
    if frame.body.body_type == "json":
        data = dumps(data, separators=(",", ":"), ensure_ascii=False)
    return {direction: data or ""}


def _frame(line: Line, at: int) -> WsFrame:
    if "closed" in line:
        content = struct.pack(">H", line["closed"]) + line.get("reason", "").encode()
        return WsFrame("recv", "close", Body("binary", content), at)
    key = "sent" if any(key.startswith("sent") for key in line) else "received"
    direction: Literal["send", "recv"] = "send" if key == "sent" else "recv"
    if f"{key}_base64" in line:
        return WsFrame(direction, "binary", Body("binary", b64decode(line[f"{key}_base64"])), at)
    return WsFrame(direction, "text", Body("text", _text(line, key)), at)


def _text(line: Line, key: str) -> str:
    from ..interception.clients.websocket_bridge import message_of  # noqa: PLC0415  # it needs the package websockets

    return str(message_of(line, key))
