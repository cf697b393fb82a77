"""Calls of gRPC and conversations over WebSockets, between cassetter's form and that of this package's recordings."""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from json import dumps, loads
from typing import Any, Literal
from urllib.parse import urlsplit

from cassetter import Body, GrpcResponse, WsFrame, WsInteraction
from cassetter.cassette import Cassette, NoMatchError
from cassetter.compare import body_to_bytes
from cassetter.intercept._grpc import _STATUS_BY_CODE, decode_chunks, encode_chunks

from ..exchange.reply import Reply
from ..interception.grpc_conversations import compact, form, message
from ..interception.open_tapes import RequestInFlight

Line = dict[str, Any]
_LINES = {"content-type": ["application/x-ndjson"]}


def _reply(status: int, lines: list[Line], **headers: list[str]) -> Reply:
    body = b"".join(compact(line) + b"\n" for line in lines)
    answer = {
        "status": {"code": status, "message": ""},
        "headers": _LINES | headers,
        "body": {"string": body},
    }
    return Reply.recorded(answer)


def _lines_of(take: RequestInFlight) -> list[Line]:
    return [loads(line) for line in take.exchange.body.splitlines()]


# --- gRPC ------------------------------------------------------------------------------------------------


_CODES = {status.name: code for code, status in _STATUS_BY_CODE.items()}


@dataclass(frozen=True)
class Call:
    """A call of gRPC. `kind` is one such as `unary_stream`."""

    method: str
    kind: str
    metadata: dict[str, list[str]]
    body: Body

    @classmethod
    def of(cls, request: Any, body: bytes) -> Call:
        """Makes a call of an intercepted request."""
        kind = request.extensions["kind"]
        metadata: dict[str, list[str]] = {}
        for name, value in request.headers.raw:
            if name != b"content-type":
                metadata.setdefault(name.decode(), []).append(value.decode())
        data = message(loads(body)) if body else b""
        return cls(urlsplit(str(request.url)).path, kind, metadata, Body("binary", data))

    def look_up(self, cassette: Cassette) -> tuple[GrpcResponse, list[bytes]]:
        """Returns the recorded answer, and the requests to compare while they are sent: those of a stream are not known
        before, and compared only if cassetter compares bodies. Raises `NoMatchError`.
        """
        if not self.kind.startswith("stream") or "body" not in cassette.match_config.match_on:
            return cassette.play_grpc(self.method, self.body), []
        found = cassette._inner and cassette._inner.take_grpc_match(self.method)  # noqa: SLF001  # cassetter tells it nowhere else
        if not found:
            raise NoMatchError(f"no matching gRPC interaction for {self.method}")
        return found[1].response, decode_chunks(body_to_bytes(found[1].request.body))

    def reply(self, recorded: GrpcResponse, sent: list[bytes]) -> Reply:
        """Returns the recorded answer, after the requests to compare."""
        data = body_to_bytes(recorded.body)
        chunks = decode_chunks(data) or [data] if self.kind.endswith("stream") else [data]
        end: Line = {"status": _STATUS_BY_CODE[recorded.status_code].name}
        if recorded.status_code:
            chunks, end = [], end | {"details": recorded.status_message}
        heard: list[Line] = [{"sent": form(chunk)} for chunk in sent]
        heard += [{"half_closed": True}] if sent else []
        return _reply(200, [*heard, *({"received": form(chunk)} for chunk in chunks), end])

    def record(self, cassette: Cassette, expected: Any, take: RequestInFlight) -> None:
        """Records the call, or compares it with what is expected in the mode `verify`. cassetter records no failed call."""
        lines = _lines_of(take)
        end = lines[-1] if lines and "status" in lines[-1] else {"status": "CANCELLED"}
        if end["status"] != "OK" and expected is None:
            return
        sent, received = (
            [message(line[key]) for line in lines if key in line] for key in ("sent", "received")
        )
        cassette.record_grpc(
            self.method,
            self.metadata,
            Body("binary", encode_chunks(sent)) if self.kind.startswith("stream") else self.body,
            Body("binary", encode_chunks(received) if self.kind.endswith("stream") else b"".join(received)),
            _CODES[end["status"]],
            end.get("details", "OK"),
            expected=expected,
        )


# --- WebSockets ------------------------------------------------------------------------------------------


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
        return _reply(101, lines, **({"sec-websocket-protocol": chosen} if chosen else {}))

    def record(self, cassette: Cassette, expected: Any, take: RequestInFlight) -> None:
        """Records the conversation, or compares it with what is expected in the mode `verify`."""
        headers = dict(self.headers)
        if protocol := take.exchange.header("sec-websocket-protocol"):
            headers["sec-websocket-protocol"] = [protocol]
        frames = [
            _frame(line, at)
            for line, at in zip(_lines_of(take), _offsets(take), strict=True)
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
    from ..interception.websocket_bridge import message_of  # noqa: PLC0415  # it needs the package websockets

    return str(message_of(line, key))
